"""What recording costs: all outputs in memory, every tenth step, and a journal, against nothing.

usage: python benchmarks/recording.py [--json FILE]

Every chain is fmus/build/PositionAxis.fmu (2 outputs), H = 1 ms, Jacobi, the first input held at
1 m. The ways take turns; the table shows medians of microseconds per communication step and FMU,
and of the ratio to recording nothing in the same turn. "With journal" writes a Parquet part every
0.1 s of wall time, ten times as often as by default; its time is that of the whole run.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from runner import Benchmark, ratio, take_turns

import orchestrator
from orchestrator.core.recording import Journal
from orchestrator.core.simunits import fmu
from orchestrator.study import simulate

ROOT = Path(__file__).resolve().parents[1]
FMU = ROOT / "fmus" / "build" / "PositionAxis.fmu"
INPUT, OUTPUT = "position_command", "position"
TURNS = 5
FLUSH = 0.1
STEPS = {10: 500_000, 50: 100_000}  # long enough for some parts of a journal


def chain(n: int) -> orchestrator.System:
    """Axes that follow one another."""
    system = orchestrator.System("chain")
    for i in range(n):
        values = {INPUT: 1.0} if i == 0 else {}
        system = system.add(f"axis{i}", fmu(FMU), **values)
        if i:
            system = system.connect(f"axis{i - 1}.{OUTPUT}", f"axis{i}.{INPUT}")
    return system


def in_memory(
    system: orchestrator.System, steps: int, record: list[str] | None, every: int
) -> float:
    """Seconds of stepping."""
    with orchestrator.Execution(
        system, step="1 ms", algorithm="jacobi", record=record, every=every
    ) as execution:
        began = time.perf_counter()
        execution.advance(f"{steps} ms")
        return time.perf_counter() - began


def whole_run(system: orchestrator.System, steps: int, journal: Journal | None) -> float:
    """Seconds of a run from description to result, all outputs recorded."""
    began = time.perf_counter()
    simulate(system, step="1 ms", stop=f"{steps} ms", algorithm="jacobi", journal=journal)
    return time.perf_counter() - began


def measure(n: int, steps: int, folder: Path, turns: int) -> dict[str, float]:
    """Let the ways take turns."""
    system = chain(n)
    ways: dict[str, Callable[[], float]] = {
        "nothing": lambda: in_memory(system, steps, [], 1),
        "all": lambda: in_memory(system, steps, None, 1),
        "tenth": lambda: in_memory(system, steps, None, 10),
        "run": lambda: whole_run(system, steps, None),
        "journal": lambda: whole_run(system, steps, Journal(folder / f"{n}", FLUSH)),
    }
    for way in ways.values():  # loads what is loaded once
        way()
    found = take_turns(ways, turns)
    parts = len(list((folder / f"{n}").glob("*.parquet")))
    if parts == 0:
        raise SystemExit(f"N = {n}: the run was over before the journal was due: take more steps")
    row: dict[str, float] = {"n": n, "steps": steps, "parts": parts}
    for name in ways:
        base = "run" if name in {"run", "journal"} else "nothing"
        row[f"{name}_us"] = 1e6 / (n * steps) * statistics.median(found[name])
        row[f"{name}_ratio"] = ratio(found[name], found[base])
    return row


def main() -> None:
    """Run the turns and print the table."""
    benchmark = Benchmark(__doc__)
    turns = 1 if benchmark.options().quick else TURNS
    with tempfile.TemporaryDirectory() as name:
        rows = [measure(n, steps, Path(name), turns) for n, steps in STEPS.items()]
    ways = ("nothing", "all", "tenth", "run", "journal")
    benchmark.table(
        "us per communication step and FMU (x of the same turn)",
        ["N", "nothing", "all", "every 10th", "whole run", "with journal"],
        [
            (row["n"], *(f"{row[k + '_us']:.3f} ({row[k + '_ratio']:.2f}x)" for k in ways))
            for row in rows
        ],
    )
    benchmark.finish(turns=turns, rows=rows)


if __name__ == "__main__":
    main()
