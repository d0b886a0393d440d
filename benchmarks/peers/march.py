"""How a peer is timed, the same for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from job import CHECK_STEPS, Job

#: Timed stretches; the parent takes their median.
STRETCHES = 5
#: Most values that one stretch may record (160 MB).
MOST_VALUES = 20_000_000


class Chain(Protocol):
    """A chain that can be stepped; making one loads, instantiates and initialises."""

    def run(self, steps: int) -> None:
        """Do some communication steps."""

    def outputs(self) -> list[float]:
        """Present output of every unit."""


Measured = dict[str, object]


def stretch(seconds_per_step: float, job: Job) -> int:
    """Steps of one timed stretch."""
    steps = max(1, int(job.budget / STRETCHES / seconds_per_step))
    return min(steps, max(1, MOST_VALUES // job.n)) if job.record else steps


def march(make: Callable[[Job], Chain], job: Job) -> Measured:
    """Time a chain that can be stepped.

    The start-up ends with the first step, because some peers initialise in it.
    """
    began = time.perf_counter()
    chain = make(job)
    chain.run(1)
    start = time.perf_counter() - began
    began = time.perf_counter()
    chain.run(CHECK_STEPS - 1)
    once = (time.perf_counter() - began) / (CHECK_STEPS - 1)
    outputs = chain.outputs()
    steps = stretch(once, job)
    seconds = []
    for _ in range(STRETCHES):
        began = time.perf_counter()
        chain.run(steps)
        seconds.append((time.perf_counter() - began) / steps)
    return {"start_s": start, "step_s": seconds, "outputs": outputs, "steps": steps}


def march_whole(simulate: Callable[[Job, int], list[float]], job: Job) -> Measured:
    """Time a peer that only simulates from the start: a run of one step is taken off.

    Parameters
    ----------
    simulate
        Does a number of steps from the start and returns the outputs, shape (n,).
    """

    def timed(steps: int) -> tuple[float, list[float]]:
        began = time.perf_counter()
        outputs = simulate(job, steps)
        return time.perf_counter() - began, outputs

    start, _ = timed(1)
    steps, outputs = CHECK_STEPS, timed(CHECK_STEPS)[1]
    # The difference of two runs needs a long one that is far from the short one.
    while timed(steps)[0] < 3 * timed(1)[0]:
        steps *= 2
    seconds = [(timed(1 + steps)[0] - timed(1)[0]) / steps for _ in range(STRETCHES - 2)]
    if min(seconds) <= 0:
        raise RuntimeError("its start-up varies more than its steps take")
    return {"start_s": start, "step_s": seconds, "outputs": outputs, "steps": steps}
