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

import argparse
import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

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


def measure(
    make: Callable[[], orchestrator.System], *, wine: bool = False
) -> dict[str, dict[str, list[float]]]:
    """Measure each way: quartiles of its step and of its ratio, the least, and the start."""
    systems = {"in process": make(), "own processes": isolated(make())}
    if wine:
        systems["under Wine"] = under_wine(make())
    if len(make().components) > 1:
        systems["one process"] = isolated(make(), "all")
    pieces: dict[str, list[float]] = {way: [] for way in systems}
    started = {}
    with contextlib.ExitStack() as stack:
        runs = {}
        for way, system in systems.items():
            began = time.perf_counter()
            execution = orchestrator.Execution(system, step="1 ms", algorithm="jacobi")
            runs[way] = stack.enter_context(execution)
            started[way] = time.perf_counter() - began
        for _ in range(TURNS):
            for way, execution in runs.items():
                before = execution.wall_seconds
                execution.step(STEPS)
                pieces[way].append((execution.wall_seconds - before) / STEPS * 1e6)
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
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--wine", action="store_true")
    options = parser.parse_args()
    found = {name: measure(make) for name, make in SYSTEMS.items()}
    if options.wine:
        with tempfile.TemporaryDirectory() as folder:
            path = on_both_platforms(folder)
            found["one FMU of two platforms"] = measure(lambda: axes(1, path), wine=True)
    columns = ["system", "runs", "step [us]", "to in process", "to own processes"]
    table = Table(*columns, "least [us]", "start [s]", title="Isolation: quartiles 25, 50, 75 %")
    for name, ways in found.items():
        for way, row in ways.items():
            cells = [" ".join(f"{value:.2f}" for value in row[key]) for key in row]
            table.add_row(name, way, *cells)
    Console(width=130).print(table)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
