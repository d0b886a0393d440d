"""Plants of the project, exported with every solver: speed, error, build time.

usage: python benchmarks/exporter.py [--json FILE]

Each FMU's own sources are compiled with the exporter's options and measured in C: one right-hand
side, and communication steps of 1 ms over one second with constant inputs. The error is the largest
difference of a state to SciPy's DOP853 at rtol = 1e-12, relative to the larger of 1 and the state.
SciPy's time is that of DOP853 at rtol = 1e-8, over the whole second at once and with the same
compiled right-hand side. Times are the best of the turns: other work on the machine only adds.
"""

from __future__ import annotations

import ctypes
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from runner import Benchmark
from scipy.integrate import solve_ivp

from orchestrator.core.diagnostics import FmuError
from orchestrator.export.build import build_model
from orchestrator.export.codegen import c_code
from orchestrator.export.codegen.compiler import (
    FLAGS,
    compiler_path,
    compiler_version,
    library_command,
    run_compiler,
    sundials_libraries,
)
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten
from orchestrator.export.recipe import Solver

ROOT = Path(__file__).resolve().parents[1] / "modelica"
H, STEPS, TURNS = 1e-3, 1000, 5
_Doubles = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")


@dataclass(frozen=True)
class Plant:
    """What is exported, its inputs by number, and RK4's longest step.

    ``prototype_ns`` is the right-hand side of the code generator that went before, measured on
    2 cores, gcc -O2. A plant that is not ``simulated``, as a second of it takes minutes, has its
    right-hand side measured only.
    """

    model: str
    inputs: dict[int, float]
    rk4_step: float
    prototype_ns: float | None = None
    simulated: bool = True


METHODS = ("rk4", "dopri5", "cvode")
PLANTS = (
    Plant("SpaceDocking.Bodies.Chaser", {0: 10.0}, 1e-3),
    Plant("SpaceDocking.Robots.PositionAxis", {0: 1.0}, 1e-3),
    Plant("SpaceDocking.Robots.TwoLinkArm", {0: 5.0, 1: -2.0}, 2e-4, 27.0),
    Plant("SpaceDocking.Bodies.RigidBody", {0: 1.0, 3: 0.5, 4: -0.3, 5: 0.2}, 1e-3, 30.0),
    Plant("SpaceDocking.Ropes.WireRope", {1: 0.5, 5: -0.5}, 5e-5, 457.0),
    Plant("SpaceDocking.Ropes.PlanarRope", {2: 0.26, 8: 1.0, 10: 1.0}, 4e-6, simulated=False),
)


class Unit:
    """The library of one FMU with its measuring functions."""

    def __init__(self, library: Path, plant: Plant) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.bench_create.restype = ctypes.c_void_p
        self._library.bench_create.argtypes = [_Doubles]
        self._library.bench_get.argtypes = [ctypes.c_void_p, _Doubles]
        self._library.bench_rhs.argtypes = [ctypes.c_void_p, ctypes.c_double, _Doubles, _Doubles]
        self._library.bench_rhs.restype = None
        for name in ("bench_rhs_seconds", "bench_step_seconds"):
            getattr(self._library, name).restype = ctypes.c_double
        self._library.bench_rhs_seconds.argtypes = [ctypes.c_void_p, ctypes.c_long]
        self._library.bench_step_seconds.argtypes = [
            ctypes.c_void_p,
            ctypes.c_long,
            ctypes.c_double,
        ]
        self.count = int(self._library.bench_states())
        self._inputs = np.zeros(int(self._library.bench_inputs()))
        for index, value in plant.inputs.items():
            self._inputs[index] = value

    def create(self) -> int:
        """An initialised instance; it lives as long as the process."""
        instance = self._library.bench_create(self._inputs)
        if not instance:
            raise SystemExit("the FMU does not initialise")
        return int(instance)

    def states(self, instance: int) -> np.ndarray:
        """Present continuous states."""
        x = np.empty(self.count)
        self._library.bench_get(instance, x)
        return x

    def right(self, instance: int) -> Callable[[float, np.ndarray], np.ndarray]:
        """The compiled right-hand side as SciPy calls it."""

        def derivatives(t: float, x: np.ndarray) -> np.ndarray:
            dx = np.empty(self.count)
            self._library.bench_rhs(instance, t, np.ascontiguousarray(x), dx)
            return dx

        return derivatives

    def rhs_ns(self) -> float:
        """Nanoseconds of one right-hand side: best of the turns, each about 0.1 s long."""
        instance, count = self.create(), 1000
        once = self._library.bench_rhs_seconds(instance, count) / count
        count = max(1000, int(0.1 / once))
        runs = [self._library.bench_rhs_seconds(instance, count) for _ in range(TURNS)]
        return 1e9 * min(runs) / count

    def simulate(self) -> tuple[float, np.ndarray]:
        """Microseconds of one communication step (best of the turns), and the last states."""
        seconds = []
        for _ in range(TURNS):
            instance = self.create()
            seconds.append(self._library.bench_step_seconds(instance, STEPS, H))
            if seconds[-1] < 0:
                raise SystemExit("a communication step failed")
        return 1e6 * min(seconds) / STEPS, self.states(instance)


def library(plant: Plant, solver: Solver, folder: Path, root: Path = ROOT) -> Path:
    """Build the FMU and, from its sources, the measuring library."""
    built = build_model(plant.model, root, folder, solver=solver)
    with zipfile.ZipFile(built.path) as archive:
        archive.extractall(folder)
    sources = folder / "sources"
    (sources / "exporter.c").write_bytes(Path(__file__).with_suffix(".c").read_bytes())
    linked = sundials_libraries() if solver.is_implicit else ()
    run_compiler(library_command("exporter.c", folder / "bench.so", libraries=linked), sources)
    return folder / "bench.so"


def build_seconds(plant: Plant, folder: Path) -> dict[str, float]:
    """Seconds of the front end, of the symbolic part, and of the C compiler, with RK4."""
    from orchestrator.export.codegen.layout import Layout

    moments = [time.perf_counter()]
    flat = flatten(plant.model, ROOT)
    moments.append(time.perf_counter())
    layout = Layout(make_explicit(read(flat)))
    c_code.functions(layout.ode, Solver("rk4"), "2.0")
    moments.append(time.perf_counter())
    run_compiler(library_command("fmu.c", folder / "again.so"), folder / "sources")
    moments.append(time.perf_counter())
    names = ("front_end_s", "symbolic_s", "compiler_s")
    return {name: b - a for name, a, b in zip(names, moments, moments[1:], strict=False)}


def scipy_seconds(right: Any, span: tuple[float, float], start: np.ndarray) -> float:
    """SciPy's time for the same simulation."""
    began = time.perf_counter()
    solve_ivp(right, span, start, method="DOP853", rtol=1e-8, atol=1e-10)
    return time.perf_counter() - began


def available() -> tuple[str, ...]:
    """Solvers that can be built here; says what is left out."""
    try:
        sundials_libraries()
    except FmuError as error:
        print(f"without cvode: {error}")
        return METHODS[:2]
    return METHODS


def measure(plant: Plant, folder: Path, methods: tuple[str, ...]) -> dict[str, Any]:
    """All figures of one plant."""
    row: dict[str, Any] = {"model": plant.model, "prototype_rhs_ns": plant.prototype_ns}
    exact = None
    if not plant.simulated:
        folder.mkdir()
        unit = Unit(library(plant, Solver("rk4", plant.rk4_step), folder), plant)
        return row | {"states": unit.count, "rhs_ns": unit.rhs_ns(), **build_seconds(plant, folder)}
    for method in methods:
        own = folder / f"{plant.model}-{method}"
        own.mkdir(parents=True)
        solver = Solver(method, plant.rk4_step if method == "rk4" else None)
        unit = Unit(library(plant, solver, own), plant)
        if exact is None:
            instance = unit.create()
            right, start = unit.right(instance), unit.states(instance)
            span = (0.0, H * STEPS)
            run = solve_ivp(right, span, start, method="DOP853", rtol=1e-12, atol=1e-13)
            exact = run.y[:, -1]
            row["scipy_s"] = min(scipy_seconds(right, span, start) for _ in range(TURNS))
            row |= {"states": unit.count, "rhs_ns": unit.rhs_ns(), **build_seconds(plant, own)}
        microseconds, last = unit.simulate()
        error = float((np.abs(last - exact) / np.maximum(1.0, np.abs(exact))).max())
        row |= {f"{method}_us": microseconds, f"{method}_error": error}
        row[f"{method}_scipy_ratio"] = row["scipy_s"] / (1e-6 * STEPS * microseconds)
    return row


def main() -> None:
    """Measure the plants and print the table."""
    benchmark = Benchmark(__doc__)
    plants = PLANTS[:1] if benchmark.options().quick else PLANTS
    methods = available()
    with tempfile.TemporaryDirectory() as name:
        rows = [measure(plant, Path(name) / plant.model, methods) for plant in plants]
    shown = []
    for row in rows:
        solvers = (
            f"{row[f'{m}_us']:.3g} ({row[f'{m}_error']:.0e}; {row[f'{m}_scipy_ratio']:.2g}x)"
            if "scipy_s" in row
            else "-"
            for m in methods
        )
        prototype = row["prototype_rhs_ns"]
        parts = ("front_end_s", "symbolic_s", "compiler_s")
        shown.append(
            (
                row["model"].rpartition(".")[2],
                row["states"],
                f"{row['rhs_ns']:.1f}",
                f"{prototype:.0f}" if prototype else "-",
                *solvers,
                f"{row['scipy_s']:.3g}" if "scipy_s" in row else "-",
                " + ".join(f"{row[k]:.2f}" for k in parts),
            )
        )
    heads = ["plant", "states", "RHS ns", "prototype", *methods, "SciPy s"]
    benchmark.table(
        "1 s in steps of 1 ms: us per step (error; x faster than SciPy)",
        [*heads, "front end + symbolic + compiler, s"],
        shown,
    )
    compiler = {"compiler": compiler_version(compiler_path()), "options": " ".join(FLAGS)}
    benchmark.finish(**compiler, turns=TURNS, rows=rows)


if __name__ == "__main__":
    main()
