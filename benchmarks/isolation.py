"""What it costs to run units in processes of their own, or in one that they share.

usage: python benchmarks/isolation.py [--json FILE] [--wine]

With `--wine` the single FMU also runs by its library for Windows, under Wine.

Each system is run at once in the process of the benchmark, with a process for each unit and, if
it has several, with one process for all; these take turns in short pieces: what else the machine
does meets all of them. The table shows quartiles of microseconds per communication step over all
pieces, and the quartiles of the ratio of two pieces that follow each other. Jacobi, H = 1 ms,
nothing recorded. All must reach the same outputs, bit for bit.
"""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from runner import Benchmark, take_turns

import orchestrator
from orchestrator.core.simunits import block, fmu
from orchestrator.core.structs import replace
from orchestrator.export import Recipe, build_recipe

ROOT = Path(__file__).resolve().parents[1]
PLANTS = ROOT / "fmus" / "build"
TURNS, STEPS = 200, 200
BOTH = ("linux64", "win64")


def axes(count: int, path: Path | None = None) -> orchestrator.System:
    """Position axes in a row, each the command of the next: exported FMUs."""
    system = orchestrator.System("axes")
    for i in range(count):
        values = {} if i else {"position_command": 1.0}
        axis = fmu(path or PLANTS / "PositionAxis.fmu")
        system = system.add(f"axis{i}", axis, **values)
        if i:
            system = system.connect(f"axis{i - 1}.position", f"axis{i}.position_command")
    return system


def control() -> orchestrator.System:
    """A Python block."""
    return orchestrator.System("control").add("damper", block("virtual_damper"), velocity=0.1)


SYSTEMS: dict[str, Callable[[], orchestrator.System]] = {
    "one FMU": lambda: axes(1),
    "four FMUs": lambda: axes(4),
    "one Python block": control,
}


def isolated(system: orchestrator.System, process: str | None = None) -> orchestrator.System:
    """Every component in a process of its own, or all of them in the one of a name."""
    for name in system.components:
        system = system.with_options(name, isolation="process", process=process)
    return system


def on_both_platforms(folder: str) -> Path:
    """Build the axis for Linux and for Windows."""
    recipe = replace(Recipe.read(PLANTS.parent / "PositionAxis.toml"), platforms=BOTH)
    return build_recipe(recipe, folder, fmi=("2.0",)).path


def under_wine(system: orchestrator.System) -> orchestrator.System:
    """Every component by its library for Windows."""
    for name in system.components:
        system = system.with_options(name, platform="win64")
    return system


def piece(run: orchestrator.Execution) -> float:
    """Step some more; return the wall time of a step, us."""
    before = run.wall_seconds
    run.step(STEPS)
    return (run.wall_seconds - before) / STEPS * 1e6


def measure(
    make: Callable[[], orchestrator.System], turns: int, *, wine: bool = False
) -> dict[str, dict[str, list[float]]]:
    """Measure each way: quartiles of its step and of its ratio, the least, and the start."""
    systems = {"in process": make(), "own processes": isolated(make())}
    if wine:
        systems["under Wine"] = under_wine(make())
    if len(make().components) > 1:
        systems["one process"] = isolated(make(), "all")
    started = {}
    with contextlib.ExitStack() as stack:
        runs = {}
        for way, system in systems.items():
            began = time.perf_counter()
            execution = orchestrator.Execution(system, step="1 ms", algorithm="jacobi")
            runs[way] = stack.enter_context(execution)
            started[way] = time.perf_counter() - began
        pieces = take_turns({way: partial(piece, run) for way, run in runs.items()}, turns)
        if len({execution.recording().values.tobytes() for execution in runs.values()}) > 1:
            raise SystemExit("the results differ: isolation must change nothing")
    here, apart = pieces["in process"], pieces["own processes"]
    return {
        way: {
            "step": statistics.quantiles(taken),
            "ratio": statistics.quantiles([t / h for t, h in zip(taken, here, strict=True)]),
            "to own": statistics.quantiles([t / a for t, a in zip(taken, apart, strict=True)]),
            "least": [min(taken)],
            "start": [started[way]],
        }
        for way, taken in pieces.items()
    }


def main() -> None:
    """Measure, print, write."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--wine", action="store_true", help="also by the library for Windows")
    options = benchmark.options()
    turns = 5 if options.quick else TURNS
    found = {name: measure(make, turns) for name, make in SYSTEMS.items()}
    if options.wine:
        with tempfile.TemporaryDirectory() as folder:
            path = on_both_platforms(folder)
            found["one FMU of two platforms"] = measure(lambda: axes(1, path), turns, wine=True)
    columns = ["system", "runs", "step [us]", "to in process", "to own processes"]
    benchmark.table(
        "Isolation: quartiles 25, 50, 75 %",
        [*columns, "least [us]", "start [s]"],
        [
            (name, way, *(" ".join(f"{value:.2f}" for value in row[key]) for key in row))
            for name, ways in found.items()
            for way, row in ways.items()
        ],
        texts=2,
    )
    benchmark.finish(turns=turns, systems=found)


if __name__ == "__main__":
    main()
