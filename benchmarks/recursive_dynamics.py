"""Recursive dynamics of arms of 1 to 48 joints: time per evaluation, against Pinocchio's ABA.

python benchmarks/recursive_dynamics.py

Compiled, and as plain Python; forward dynamics of chains of joints that turn, in a row. Times are
the best of some turns; the slope is that of the time over the number of joints in double
logarithm, from 6 joints on: 1 is linear. Pinocchio is called from Python, as this is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from runner import Benchmark

from python_blocks.manipulators.chain import Chain, Joint
from python_blocks.manipulators.recursion import solve
from python_blocks.manipulators.tree import Found

COUNTS = (1, 2, 3, 6, 7, 12, 24, 48)
TURNS = 7


def best(call: Callable[[], object], shortest: float = 0.01) -> float:
    """Give the time of one call, s: the best of some turns, each of which takes a while."""
    call()
    count, found = 1, []
    while len(found) < TURNS:
        start = time.perf_counter()
        for _ in range(count):
            call()
        taken = time.perf_counter() - start
        if taken < shortest and not found:
            count *= 2
            continue
        found.append(taken / count)
    return min(found)


def ours(count: int) -> float:
    """Time one evaluation of forward dynamics."""
    place = {"offset": (0.4, 0.0, 0.0), "centre": (0.2, 0.0, 0.1)}
    own = np.diag([0.1, 0.2, 0.3]).tolist()
    chain = Chain(
        [Joint(parent=n, axis=(1, n % 2, 1), mass=2.0, inertia=own, **place) for n in range(count)]
    )
    state = np.linspace(0.1, 1.0, count), np.linspace(1.0, -1.0, count)
    felt = False
    given, known, found = np.zeros(count), np.ones(count), Found(*np.empty((4, count)))
    return best(lambda: solve(chain.tree, state, given, known, felt, found))


def pinocchio(count: int) -> float:
    """Time one evaluation of the articulated body algorithm of Pinocchio for the same chain."""
    model = pin.Model()
    for n in range(count):
        axis = np.array([1.0, n % 2, 1.0])
        kind = pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        made = model.addJoint(n, kind, pin.SE3(np.eye(3), np.array([0.4, 0, 0])), str(n))
        body = pin.Inertia(2.0, np.array([0.2, 0.0, 0.1]), np.diag([0.1, 0.2, 0.3]))
        model.appendBodyToJoint(made, body, pin.SE3.Identity())
    data = model.createData()
    q, rate, torque = np.linspace(0.1, 1.0, count), np.linspace(1.0, -1.0, count), np.ones(count)
    return best(lambda: pin.aba(model, data, q, rate, torque))


def slope(times: dict[int, float]) -> float:
    """Give how the time grows with the number of joints, in double logarithm from 6 joints on."""
    long = {n: seconds for n, seconds in times.items() if n >= 6}
    return float(np.polyfit(np.log(list(long)), np.log(list(long.values())), 1)[0])


def plain() -> dict[int, float]:
    """Time it without compilation, in a process of its own."""
    told = subprocess.run(
        [sys.executable, __file__, "--times"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {int(n): float(seconds) for n, seconds in (line.split() for line in told.splitlines())}


def main() -> None:
    """Print the table."""
    if "--times" in sys.argv:
        for count in COUNTS:
            print(count, ours(count))
        return
    benchmark = Benchmark(__doc__)
    counts = COUNTS[3:5] if benchmark.options().quick else COUNTS
    compiled, python = {n: ours(n) for n in counts}, plain()
    peer = {n: pinocchio(n) for n in counts}
    rows = []
    for n in counts:
        times = compiled[n], python[n], peer[n]
        mine, slow, theirs = (f"{1e6 * value:.1f}" for value in times)
        ratios = (f"{value / peer[n]:.1f}" for value in times[:2])
        rows.append((n, mine, next(ratios), slow, next(ratios), theirs))
    names = {"compiled": compiled, "plain": python, "Pinocchio": peer}
    slopes = {name: round(slope(row), 2) for name, row in names.items()}
    benchmark.table(
        f"slopes from 6 joints on: {', '.join(f'{k} {v}' for k, v in slopes.items())}",
        ["joints", "compiled [us]", "/ Pinocchio", "plain [us]", "/ Pinocchio", "Pinocchio [us]"],
        rows,
        texts=0,
    )
    benchmark.finish(seconds=names, slopes=slopes)


if __name__ == "__main__":
    main()
