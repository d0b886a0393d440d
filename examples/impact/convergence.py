"""Convergence of a rope over its nodes and over the communication step.

``python examples/impact/convergence.py`` prints the tables of README.md. Statics over the number of
segments, of the same rope: the springs follow from the bending and stretching stiffness. The impact
on node 16 of rope.ssd over the communication step, with the residual of its energy ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log2
from pathlib import Path

import numpy as np

from orchestrator import read_system, simulate
from python_blocks.ropes.planar_rope import PlanarRope
from python_blocks.ropes.rope_statics import end_slope, equilibrium, initial_stiffness, sag

HERE = Path(__file__).parent
SEGMENTS = (10, 20, 40, 80, 160)
STEPS_US = (400, 200, 100, 50, 25)


def orders(values: Sequence[float]) -> list[str]:
    """Return the measured order from each three values, each with half the previous step."""
    gaps = np.abs(np.diff(values))
    found = [log2(a / b) for a, b in pairwise(gaps)]
    return ["", "", *(f"{order:.2f}" for order in found)]


def statics() -> list[list[str]]:
    """Return a row for each number of segments: sag, slope of an end, stiffness in the middle."""
    columns: list[list[float]] = [[], [], []]
    for n in SEGMENTS:
        rope = PlanarRope(segments=n, k_tor=2.4 * n / 30, k_tes=3e7 * n / 30)
        rest = equilibrium(rope)
        columns[0].append(1e3 * sag(rest))
        columns[1].append(float(np.degrees(end_slope(rest))))
        columns[2].append(initial_stiffness(rope, rest, n // 2 + 1))
    told = [orders(column) for column in columns]
    return [
        [str(n)]
        + [text for v, o in zip(columns, told, strict=True) for text in (f"{v[i]:.4f}", o[i])]
        for i, n in enumerate(SEGMENTS)
    ]


def impact() -> list[list[str]]:
    """Return a row for each step: leaving speed, peak force, and share of the energy left open."""
    system = read_system(HERE / "rope.ssd")
    columns: list[list[float]] = [[], [], []]
    for us in STEPS_US:
        run = simulate(system, step=f"{us} us", stop="0.15 s", delay="mean")
        columns[0].append(-1e3 * float(run["rod.velocity"][-1]))
        columns[1].append(-float(run["rope.force"].min()))
        taken = run["rope.dissipation"]
        lost = 0.5e-6 * us * float((taken[1:] + taken[:-1]).sum())
        kept = run["rod.energy"] + run["rope.energy"]
        columns[2].append(1e2 * float(kept[-1] + lost - kept[0]) / float(run["rod.energy"][0]))
    told = [orders(column) for column in columns]
    return [
        [str(us)]
        + [text for v, o in zip(columns, told, strict=True) for text in (f"{v[i]:.5f}", o[i])]
        for i, us in enumerate(STEPS_US)
    ]


def main() -> None:
    """Print both tables."""
    for heads, rows in (
        ("segments | sag [mm] | order | slope [deg] | order | stiffness [N/m] | order", statics()),
        ("step [us] | leaves at [mm/s] | order | peak [N] | order | energy [%] | order", impact()),
    ):
        print("\n".join([f"| {heads} |", *(f"| {' | '.join(row)} |" for row in rows), ""]))  # noqa: T201


if __name__ == "__main__":
    main()
