"""What a step of a lossy delayed line costs that is held, by the samples that are on their way.

python benchmarks/lossy_lines.py [--require RATIO]

An engine without units reads one line at each step and puts a sample into it. Delays are drawn
within a tenth of the nominal one, a tenth of the samples is lost. The receiver takes the newest
sample that was sent, or what arrived last. Printed are nanoseconds a step for each number of steps
that the nominal delay takes, and the ratio of the longest line to the shortest.
"""

from __future__ import annotations

import time
from dataclasses import astuple

from runner import Benchmark

from orchestrator.core.coupling import Channel
from orchestrator.core.master.schedule.rows import (
    Extrapolation,
    HistoryRow,
    Interpolation,
    OperationCode,
    OperationRow,
    ReadRow,
)
from orchestrator.engine import Engine

STEP_NS = 1_000_000
ON_THEIR_WAY = (10, 100, 1_000, 10_000)
STEPS, REPEATS = 2_000, 3


def cost_ns(samples: int, *, by_arrival: bool) -> float:
    """Return the time of one step, in ns, on a line whose nominal delay is ``samples`` steps."""
    nominal = samples * STEP_NS
    channel = Channel(
        1, nominal, loss=0.1, quantiles_ns=(0.9 * nominal, 1.1 * nominal), by_arrival=by_arrival
    )
    history = HistoryRow(0, 2 * samples + 2, Interpolation.HOLD, Extrapolation.HOLD, 0)
    engine = Engine(
        2,
        [],
        [history],
        [astuple(channel)],
        [],
        [ReadRow(0, 1, -nominal, 0, 1.0, 0.0, 0.0, 0, 0)],
        [],
        [],
        [OperationRow(code, 0, 1, 1, 0) for code in (OperationCode.READ, OperationCode.PUSH)],
        (0, 0.0, 1.0, 1, STEP_NS, STEP_NS, STEP_NS, (), ()),
    )
    engine.start(0, STEP_NS)
    engine.run(3 * samples, 0)  # until the line is full
    least = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter_ns()
        engine.run(STEPS, 0)
        least = min(least, (time.perf_counter_ns() - began) / STEPS)
    return least


def main() -> None:
    """Print the table, and fail where the ratio is larger than is asked for."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--require", type=float, default=float("inf"), help="the largest ratio")
    options = benchmark.options()
    counts = ON_THEIR_WAY[:2] if options.quick else ON_THEIR_WAY
    costs = {
        name: [cost_ns(samples, by_arrival=by_arrival) for samples in counts]
        for name, by_arrival in (("the newest that was sent", False), ("what arrived last", True))
    }
    ratios = {name: row[-1] / row[0] for name, row in costs.items()}
    benchmark.table(
        "ns of a step, by the samples on their way",
        ["a reading takes", *map(str, counts), "ratio"],
        [(name, *(f"{c:.0f}" for c in row), f"{ratios[name]:.1f}") for name, row in costs.items()],
    )
    benchmark.finish(samples=counts, ns=costs)
    if max(ratios.values()) > options.require:
        raise SystemExit(f"expected a ratio of at most {options.require:g}")


if __name__ == "__main__":
    main()
