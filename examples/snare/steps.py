"""Influence of the lines of a snare on its dependence on the step; prints the tables.

python examples/snare/steps.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from ledger import ROPES, case, parts

from orchestrator import (
    Compensation,
    Extrapolation,
    FailedRunError,
    Result,
    System,
    TransportDelay,
    simulate,
)

CASES = ("40 mm off the axis", "tumbling", "free")
HELD, LINEAR = None, Extrapolation.LINEAR
#: By name: settings of the lines of forces, of those of motion, and of the run.
WAYS = {
    "forces held": ({"extrapolation": HELD}, {}, {}),
    "all lines linear, as written": ({}, {}, {}),
    "quadratic": ({"extrapolation": Extrapolation.QUADRATIC},) * 2 + ({},),
    "smoothed": ({"extrapolation": Extrapolation.SMOOTHED},) * 2 + ({},),
    "forces by NEPCE": ({"extrapolation": HELD, "compensation": Compensation.NEPCE}, {}, {}),
    "forces with a delay of zero": ({"extrapolation": HELD, "delay": TransportDelay(0)}, {}, {}),
    "motion held": ({}, {"extrapolation": HELD}, {}),
    "motion followed": ({}, {}, {"delay": "waveform"}),
    "all lines linear, `jacobi`": ({}, {}, {"algorithm": "jacobi"}),
    "algorithm `waveform`": ({"extrapolation": HELD},) * 2 + ({"algorithm": "waveform"},),
}


def read_as(system: System, way: str) -> System:
    """Return a system with its lines read in one of ``WAYS``; that of the servo stays."""
    forces, motion, _ = WAYS[way]
    lines = (
        replace(line, **(forces if line.source.component in (*ROPES, "lock") else motion))
        if line.delay is None
        else line
        for line in system.connections
    )
    return replace(system, connections=tuple(lines))


def run(name: str, way: str, step: str) -> tuple[Result, float]:
    """Return the result of a case, and its processor time in s."""
    system = read_as(case(name), way)
    begin = time.process_time()
    result = simulate(system, step=step, stop="4 s", **{"delay": "mean"} | WAYS[way][2])
    return result, time.process_time() - begin


def peaks(result: Result) -> np.ndarray:
    """Return the peak pushes of the ropes, N."""
    return np.array([result[f"{rope}.push"].max() for rope in ROPES])


def motion(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Return momentum, and angular momentum about the origin, of all of a free snare, (n, 3)."""

    def vector(name: str) -> np.ndarray:
        return np.stack([result[f"{name}[{i}]"] for i in (1, 2, 3)], axis=1)

    own = 41.7 * vector("target.v")
    ropes = ("device", *ROPES)
    momentum = own + sum(vector(f"{one}.momentum") for one in ropes)
    angular = np.cross(vector("target.r"), own) + vector("target.momentum")
    return momentum, angular + sum(vector(f"{one}.angular_momentum") for one in ropes)


def of_ways() -> Iterator[list[str]]:
    """Yield the rows of what each way creates, changes and costs."""
    for way in WAYS:
        row = [way]
        for name in CASES:
            try:
                (coarse, cost), (fine, _) = (run(name, way, step) for step in ("1 ms", "0.5 ms"))
            except FailedRunError as failed:  # a rope that is torn
                row += [f"torn at {failed.result.time[-1]:.3g} s", "", ""]
                continue
            ledger = parts(coarse)
            change = np.abs(peaks(coarse) / peaks(fine) - 1.0).max()
            created = ledger["at rings"] + ledger["at bodies"]
            row += [f"{1e3 * created:.2g}", f"{100 * change:.2g}", f"{cost:.1f}"]
        yield row


def of_steps() -> Iterator[list[str]]:
    """Yield the rows of the conservation errors of a free device, by step."""
    for way in ("forces held", "all lines linear, as written", "motion followed"):
        for step in ("1 ms", "0.5 ms", "0.25 ms"):
            result, _ = run("free", way, step)
            momentum, angular = (np.abs(one - one[0]).max(0) for one in motion(result))
            ledger = parts(result)
            created = ledger["at rings"] + ledger["at bodies"]
            values = (momentum.max(), angular[:2].max(), angular[2], created)
            locked = result.time[np.argmax(result["lock.locked"])]
            yield [way, step, *(f"{value:.2g}" for value in values), f"{locked:g}"]


def main() -> None:
    """Print both tables."""
    heads = [f"{name}: {entry}" for name in CASES for entry in ("created [mJ]", "peaks [%]", "s")]
    kept = ["momentum [N s]", "about x, y [N m s]", "about z [N m s]", "created [J]", "lock [s]"]
    for head, rows in ((["lines", *heads], of_ways()), (["lines", "step", *kept], of_steps())):
        print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")  # noqa: T201
        for row in rows:
            print(f"| {' | '.join(row)} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
