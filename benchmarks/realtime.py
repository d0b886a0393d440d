"""Wake-up latency and computing time in real time, against a bare loop in C.

usage: python benchmarks/realtime.py [--seconds S] [--json FILE] [--plot FILE.png]

EPOS and the docking rig with six axes (examples), steps of 1 ms of simulation at 250 Hz, 1 kHz and
4 kHz on the wall, SCHED_FIFO 80 and locked memory where they are granted; idle, and with a busy
process for every processor. The loop in C does nothing but wake. Units do not end
steps early: else all states would be saved before each. All take turns within a cell of
the table, so that a neighbour of the machine meets all of them. The last column compares

    99.9 % of the wake-up latency + median of the computing time   of the system in real time with
    99.9 % of the wake-up latency of the loop in C + cost of a step of the system that is not paced.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from runner import Benchmark, c_program

from orchestrator import Execution, RealTime, System, read_system
from orchestrator.core.realtime import Durations
from orchestrator.engine import LatencyHistogram
from orchestrator.study.run.pace import exceedance

ROOT = Path(__file__).resolve().parents[1]
#: System, and how its delays are realised, both as in its experiment.
SYSTEMS = {
    "EPOS": (ROOT / "examples" / "epos" / "ideal.ssd", "mean"),
    "FAMDC, six axes": (ROOT / "examples" / "famdc" / "SystemStructure.ssd", "plain"),
}
RATES = (250, 1000, 4000)
STEP_S = 1e-3
PRIORITY = 80
TURNS = 3
UNPACED = 2000  # steps


@contextmanager
def load(*, busy: bool) -> Iterator[None]:
    """Keep every processor busy, or none."""
    count = len(os.sched_getaffinity(0)) if busy else 0
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def bare(program: Path, rate: int, steps: int, histogram: LatencyHistogram) -> None:
    """Let the loop in C run, and count how late it woke."""
    period = str(round(1e9 / rate))
    command = [str(program), period, str(steps), str(PRIORITY)]
    late = np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, np.int64)
    for ns in late.tolist():
        histogram.add(ns)


def durations_of(histogram: LatencyHistogram) -> Durations:
    """Return what was counted."""
    whole = histogram.count, histogram.minimum, histogram.maximum, histogram.total
    return Durations(*whole, tuple(histogram.buckets))


def unpaced_us(system: System, delay: str) -> float:
    """Return the cost of a step without real time, the least of the turns, in microseconds."""
    costs = []
    with Execution(system, step=STEP_S, delay=delay, early_return=False, threads=1) as run:
        for _ in range(TURNS):
            began = time.perf_counter()
            run.step(UNPACED)
            costs.append((time.perf_counter() - began) / UNPACED * 1e6)
    return min(costs)


def cell(program: Path, rate: int, seconds: float, costs: dict[str, float]) -> dict[str, Any]:
    """Let all take turns at one rate under the present load."""
    steps = max(10, round(seconds * rate / TURNS))
    floor = LatencyHistogram()
    factor = rate * STEP_S
    wanted = RealTime(factor=factor, priority=PRIORITY)
    runs = {
        name: Execution(
            read_system(path), step=STEP_S, delay=delay, early_return=False, realtime=wanted
        )
        for name, (path, delay) in SYSTEMS.items()
    }
    try:
        for _ in range(TURNS):
            bare(program, rate, steps, floor)
            for run in runs.values():
                run.step(steps)
        timings = {name: run.timing for name, run in runs.items()}
    finally:
        for run in runs.values():
            run.close()
    found: dict[str, Any] = {"C loop": {"wake": durations_of(floor)}}
    least = _us(found["C loop"]["wake"], 99.9)
    for name, timing in timings.items():
        assert timing is not None  # noqa: S101
        reached = _us(timing.wake, 99.9) + _us(timing.computing, 50.0)
        found[name] = {
            "wake": timing.wake,
            "computing": timing.computing,
            "overruns": timing.overruns,
            "granted": timing.granted,
            "unpaced_us": costs[name],
            "ratio": reached / (least + costs[name]),
        }
    return found


def _us(durations: Durations, percent: float) -> float:
    return (durations.percentile_ns(percent) or 0) / 1e3


def table(cells: dict[tuple[str, int], dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table."""
    for (state, rate), found in cells.items():
        for name, row in found.items():
            texts = [_text(row.get(key)) for key in ("wake", "computing")]
            ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
            yield state, f"{rate} Hz", name, *texts, row.get("overruns", ""), ratio


def _text(durations: Durations | None) -> str:
    if durations is None:
        return ""
    shares = [_us(durations, percent) for percent in (50.0, 99.0, 99.9)]
    return " / ".join(f"{us:.3g}" for us in (*shares, durations.maximum_ns / 1e3))


def plot(cells: dict[tuple[str, int], dict[str, Any]], path: Path) -> None:
    """Draw which share of steps was later, or computed longer, than a time."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    states = list(dict.fromkeys(state for state, _ in cells))
    figure, grid = plt.subplots(
        len(states), len(RATES), figsize=(13, 4 * len(states)), sharex=True, sharey=True
    )
    for (state, rate), found in cells.items():
        axes = grid[states.index(state)][RATES.index(rate)]
        for number, (name, row) in enumerate(found.items()):
            for key, style in (("wake", "-"), ("computing", ":")):
                if key in row:
                    curve = exceedance(f"{name}, {key}", row[key])
                    axes.loglog(*curve.points(), style, color=f"C{number}", label=curve.label)
        axes.set_title(f"{rate} Hz, {state}")
        axes.grid(visible=True, alpha=0.3)
        axes.set_xlabel("time [us]")
    grid[0][0].set_ylabel("share of steps beyond")
    grid[0][-1].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def plain_rows(cells: dict[tuple[str, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all figures as plain data."""

    def plain(value: object) -> object:
        return value.as_json() if isinstance(value, Durations) else value

    return [
        {"load": state, "rate_hz": rate, "who": name, **{k: plain(v) for k, v in row.items()}}
        for (state, rate), found in cells.items()
        for name, row in found.items()
    ]


def main() -> None:
    """Measure all cells, and print the table."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--seconds", type=float, default=9.0, help="of each contestant in a cell")
    benchmark.argument("--plot", type=Path, help="draw them")
    options = benchmark.options()
    seconds = 0.3 if options.quick else options.seconds
    cells = {}
    costs = {n: unpaced_us(read_system(path), delay) for n, (path, delay) in SYSTEMS.items()}
    with tempfile.TemporaryDirectory() as folder:
        program = c_program("paced_loop", Path(folder))
        for state in ("idle", "loaded"):
            for rate in RATES:
                with load(busy=state == "loaded"):
                    cells[state, rate] = cell(program, rate, seconds, costs)
    columns = ["load", "rate", "", "wake-up latency", "computing time", "late", "x C loop"]
    title = "microseconds: median / 99 % / 99.9 % / longest"
    benchmark.table(title, columns, table(cells), texts=3)
    if options.plot:
        plot(cells, options.plot)
    benchmark.finish(turns=TURNS, rows=plain_rows(cells))


if __name__ == "__main__":
    main()
