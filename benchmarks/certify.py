"""Whether the rules of FMPy, libcosim and ecos are what 'softdock certify' takes them for.

python benchmarks/certify.py [--system NAME] [--step MS ..] [--no-sine] [--json]

Three systems of FMUs run in each tool itself (``pip install '.[peers]'``): FMPy's ``simulate_ssp``,
libcosim's and ecos' executions of a fixed step. What is measured is the growth rate of the closed
loop (a fit to its decay), the delay that this growth and frequency mean for the exact loop, and
the delay of the same units as a chain behind a sine. Beside them stands what the certificate says
before any run.
"""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
from fmpy.ssp.simulation import simulate_ssp
from other_masters import Lines, Units, as_fmus, in_libcosim
from runner import Benchmark
from waveform import BUILT, joined_bodies

from orchestrator import System, fmu
from orchestrator.core.ssp import write_ssp
from orchestrator.export import build_model
from orchestrator.loops import LinearSystem, linear_system, linearise, open_loop
from orchestrator.loops.rule_map import MASTERS, RuledSystem
from orchestrator.study.measure import fit_growth

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
from peer_ecos import EcosLib, EcosSimulation, EcosSimulationStructure  # noqa: E402

STEPS_MS = (2.0, 4.0, 8.0)
STOP = 6.0
#: Angular frequency of the sine in rad/s, and how long it runs in s.
SINE, LONG = 20.0, 3.0
Watched = tuple[str, str]


def contact() -> System:
    """The body and the sheet of examples/epos, in touch, without the robot between them."""
    return (
        System("contact")
        .add("body", fmu(BUILT / "Chaser.fmu"), m=7.5, v0=0.1)
        .add("sheet", fmu(BUILT / "SpringDashpot.fmu"), k=2510.0, d=6.0, latched=True)
        .connect("body.position", "sheet.position_a")
        .connect("body.velocity", "sheet.velocity_a")
        .connect("sheet.force_a", "body.force")
    )


def ring() -> System:
    """Three units in a ring: a body, an axis that follows it, and the contact that pushes back."""
    return (
        System("ring")
        .add("body", fmu(BUILT / "Chaser.fmu"), m=20.0, v0=0.1)
        .add("axis", fmu(BUILT / "PositionAxis.fmu"), bandwidth=30.0)
        .add("wall", fmu(BUILT / "SpringDashpot.fmu"), k=2000.0, d=80.0, latched=True)
        .connect("body.position", "axis.position_command")
        .connect("axis.position", "wall.position_a")
        .connect("axis.velocity", "wall.velocity_a")
        .connect("wall.force_a", "body.force")
    )


#: By name: the loop, what decays, the input that the sine takes over, what is watched behind it.
SYSTEMS: dict[str, tuple[Callable[[], System], Watched, str, Watched]] = {
    "contact": (contact, ("body", "position"), "sheet.position_a", ("body", "position")),
    "joined bodies": (joined_bodies, ("joint", "force_a"), "joint.position_a", ("one", "position")),
    "ring": (ring, ("body", "position"), "axis.position_command", ("body", "position")),
}


def connected_only(system: System, watched: Watched) -> System:
    """Declare no connector that nothing is connected to, but the one that is watched.

    FMPy's get_connections gives an input without a connection the source of the input before it.
    """
    ends = {end for line in system.connections for end in (str(line.source), str(line.target))}
    ends.add(".".join(watched))
    parts = {
        name: replace(
            part,
            connectors={k: c for k, c in part.connectors.items() if f"{name}.{k}" in ends},
            values={},
        )
        for name, part in system.components.items()
    }
    return replace(system, components=parts)


def in_fmpy(system: System, h: float, stop: float, watched: Watched) -> np.ndarray:
    """Let simulate_ssp run the system as an archive; the watched output after each step."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "system.ssp"
        write_ssp(connected_only(system, watched), path)
        given = [
            SimpleNamespace(name=f"{name}.{key}", value=value)
            for name, part in system.components.items()
            for key, value in part.values.items()
        ]
        rows = simulate_ssp(
            str(path),
            stop_time=stop - 0.5 * h,  # its loop adds up the time
            step_size=h,
            parameter_set=SimpleNamespace(parameters=given),
        )
    return np.array(rows[".".join(watched)])


def in_ecos(units: Units, lines: Lines, h: float, stop: float, watched: Watched) -> np.ndarray:
    """Step an execution of ecos; the watched output after each step."""
    EcosLib.set_log_level("warn")
    structure = EcosSimulationStructure()
    for name, file in units.files.items():
        structure.add_model(name, str(file))
    for a, out, b, into in lines:
        structure.make_real_connection(f"{a}::{out}", f"{b}::{into}")
    given = {
        f"{name}::{key}": value if isinstance(value, bool) else float(value)
        for name, values in units.values.items()
        for key, value in values.items()
    }
    structure.add_parameter_set("start", given)
    simulation = EcosSimulation(structure=structure, step_size=h)
    if not simulation.init(parameter_set="start"):
        raise RuntimeError(EcosLib.get_last_error())
    seen = []
    for _ in range(round(stop / h)):
        simulation.step(1)
        seen.append(simulation.get_real("::".join(watched)))
    return np.array(seen)


def runs(system: System, h: float, stop: float, watched: Watched) -> Iterator[tuple[str, Any]]:
    """Yield what each tool makes of a system: name, and the watched output after each step."""
    yield "fmpy", in_fmpy(system, h, stop, watched)
    with TemporaryDirectory() as folder:
        files, lines = as_fmus(system, round(h * 1e9), Path(folder))
        yield "libcosim", in_libcosim(Units(system, files), lines, h, watched, stop)
        yield "ecos", in_ecos(Units(system, files), lines, h, stop, watched)


def delay_of(linear: LinearSystem, line: str, root: complex) -> float:
    """Delay with which the exact loop would have a root, s: 1 + L(s) exp(-s tau) = 0."""
    opened = open_loop(linear.system, linear.models, line)
    at = complex(opened.at(np.array([root / 1j]))[0])
    near = cmath.log(-at) / root
    turn = 2j * math.pi / root
    return min((near + k * turn for k in (-1, 0, 1)), key=lambda one: abs(one.imag)).real


def decays(name: str, ms: float) -> Iterator[dict[str, Any]]:
    """Yield the growth and the delay of the closed loop in each tool, beside the certificate's."""
    make, watched, cut, _ = SYSTEMS[name]
    system, h = make(), ms * 1e-3
    linear = linear_system(system, step=f"{ms} ms")
    for tool, seen in runs(system, h, STOP, watched):
        mode = RuledSystem.of(linear, MASTERS[tool]).loop_accounts(1)[0].modes[0]
        fit = fit_growth(h * np.arange(1, len(seen) + 1), seen, start=1.0)
        measured, said = complex(fit.sigma, fit.omega), mode.sampled
        yield {
            "system": name,
            "step_ms": ms,
            "tool": tool,
            "exact_1_s": mode.exact.real,
            "predicted_1_s": said.real,
            "measured_1_s": measured.real,
            "predicted_delay_ms": 1e3 * delay_of(linear, cut, said),
            "measured_delay_ms": 1e3 * delay_of(linear, cut, measured),
        }


def behind_sine(linear: LinearSystem, tool: str, watched: str, exact: complex) -> float:
    """Return the delay of an output behind a sine as the rule of a tool has it, s."""
    stepped = RuledSystem.of(linear, MASTERS[tool]).period_map()
    whole, labels = stepped.matrix().copy(), stepped.labels
    column = labels.index("sine.y")
    into = whole[:, column].copy()
    whole[:, column] = 0.0
    turned = cmath.exp(1j * SINE * stepped.period)
    seen = np.linalg.solve(turned * np.eye(len(whole)) - whole, into)[labels.index(watched)]
    return math.remainder(cmath.phase(exact) - cmath.phase(complex(seen)), 2.0 * math.pi) / SINE


def sines(name: str, ms: float, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the delay of the loop's units as a chain behind a sine, beside the rule's."""
    make, _, cut, watched = SYSTEMS[name]
    loop, h = make(), ms * 1e-3
    taken = [line for line in loop.connections if line.target.component == cut.partition(".")[0]]
    chain = loop
    for line in taken:
        chain = chain.disconnect(str(line.source), str(line.target))
        chain = chain.set(str(line.target), 0.0)
    chain = chain.add("sine", fmu(folder / "Sine.fmu"), omega=SINE)
    chain = chain.connect("sine.y", cut)
    exact = linearise(chain, inputs=[cut], outputs=[".".join(watched)], step=f"{ms} ms")
    response = complex(exact.response(np.array([SINE / (2.0 * math.pi)]))[0, 0, 0])
    linear = linear_system(chain, step=f"{ms} ms", record=(".".join(watched),))
    for tool, seen in runs(chain, h, LONG, watched):
        times = h * np.arange(1, len(seen) + 1)
        late = times > 0.5 * LONG
        t = times[late]
        parts = np.column_stack([np.sin(SINE * t), np.cos(SINE * t), np.ones_like(t), t])
        a, b, *_ = np.linalg.lstsq(parts, seen[late], rcond=None)[0]
        lag = cmath.phase(response) - math.atan2(b, a)
        yield {
            "system": name,
            "step_ms": ms,
            "tool": tool,
            "predicted_delay_ms": 1e3 * behind_sine(linear, tool, ".".join(watched), response),
            "measured_delay_ms": 1e3 * math.remainder(lag, 2.0 * math.pi) / SINE,
        }


def main() -> None:
    """Measure, and print tables or JSON."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--system", choices=SYSTEMS, action="append")
    benchmark.argument("--step", type=float, nargs="+", default=STEPS_MS, help="in ms")
    benchmark.argument("--no-sine", action="store_true")
    options = benchmark.options()
    names = options.system or list(SYSTEMS)[: 1 if options.quick else None]
    steps = options.step[-1:] if options.quick else options.step
    rows = [row for name in names for ms in steps for row in decays(name, ms)]
    waves: list[dict[str, Any]] = []
    if not options.no_sine:
        with TemporaryDirectory() as folder:
            build_model(None, HERE / "Sine.mo", Path(folder))
            waves = [row for name in names for ms in steps for row in sines(name, ms, Path(folder))]
    first = ["system", "step, ms", "tool"]
    growth = ["exact", "predicted", "measured, 1/s", "off by"]
    delay = ["delay predicted", "measured, ms", "off by"]
    benchmark.table(
        "Growth of the closed loop, and the delay that it means",
        [*first, *growth, *delay],
        [
            (
                *(row["system"], f"{row['step_ms']:g}", row["tool"]),
                *(f"{row[key]:+.6f}" for key in ("exact_1_s", "predicted_1_s", "measured_1_s")),
                f"{abs(row['measured_1_s'] / row['predicted_1_s'] - 1.0):.1e}",
                *delays(row),
            )
            for row in rows
        ],
    )
    if waves:
        shown = [(w["system"], f"{w['step_ms']:g}", w["tool"], *delays(w)) for w in waves]
        benchmark.table("Delay behind a sine", [*first, *delay], shown)
    benchmark.finish(decays=rows, sines=waves)


def delays(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the delays of a row, predicted and measured, and their difference by the first."""
    predicted, measured = row["predicted_delay_ms"], row["measured_delay_ms"]
    return f"{predicted:.4f}", f"{measured:.4f}", f"{abs(measured / predicted - 1.0):.1e}"


if __name__ == "__main__":
    main()
