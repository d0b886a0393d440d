"""What it costs to run a unit in a process of its own.

usage: python benchmarks/isolation.py [--json FILE]

Each system is run in two executions at once, with and without isolation, which take turns in short
pieces: what else the machine does meets both. The table shows quartiles of microseconds per
communication step over all pieces, and the quartiles of the ratio of two pieces that follow each
other. H = 1 ms, nothing recorded. Both must reach the same outputs, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

import orchestrator
from orchestrator.simunits import block, fmu

ROOT = Path(__file__).resolve().parents[1]
PLANTS = ROOT / "fmus" / "build"
TURNS, STEPS = 200, 200


def axes(count: int) -> orchestrator.System:
    """Position axes in a row, each the command of the next: exported FMUs."""
    system = orchestrator.System("axes")
    for i in range(count):
        values = {} if i else {"position_command": 1.0}
        system = system.add(f"axis{i}", fmu(PLANTS / "PositionAxis.fmu"), **values)
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


def isolated(system: orchestrator.System) -> orchestrator.System:
    """Every component in a process of its own."""
    for name in system.components:
        system = system.with_options(name, isolation="process")
    return system


def measure(make: Callable[[], orchestrator.System]) -> dict[str, list[float]]:
    """Quartiles of both steps in microseconds, and of their ratio; the start in seconds."""
    began = time.perf_counter()
    with orchestrator.Execution(isolated(make()), step="1 ms") as apart:
        started = time.perf_counter() - began
        with orchestrator.Execution(make(), step="1 ms") as here:
            pieces: list[tuple[float, float]] = []
            for _ in range(TURNS):
                pair = []
                for execution in (here, apart):
                    before = execution.wall_seconds
                    execution.step(STEPS)
                    pair.append((execution.wall_seconds - before) / STEPS * 1e6)
                pieces.append((pair[0], pair[1]))
            one, other = here.recording(), apart.recording()
            if one.values.tobytes() != other.values.tobytes():
                raise SystemExit("the results differ: isolation must change nothing")
    return {
        "plain": statistics.quantiles([p for p, _ in pieces]),
        "isolated": statistics.quantiles([i for _, i in pieces]),
        "ratio": statistics.quantiles([i / p for p, i in pieces]),
        "least": [min(p for p, _ in pieces), min(i for _, i in pieces)],
        "start": [started],
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {name: measure(make) for name, make in SYSTEMS.items()}
    columns = ["system", "step [us]", "isolated [us]", "ratio", "least [us]", "start [s]"]
    table = Table(*columns, title="A process of its own: quartiles 25, 50, 75 %")
    for name, row in found.items():
        cells = [" ".join(f"{value:.2f}" for value in row[key]) for key in row]
        table.add_row(name, *cells)
    Console(width=130).print(table)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
