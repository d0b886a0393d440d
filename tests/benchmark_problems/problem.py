"""A coupled problem with a known solution, and how an algorithm's run is held against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmark_problems.exact import Exact

from orchestrator.core.master import Execution
from orchestrator.core.system import System


@dataclass(frozen=True)
class Problem:
    """A system and its solution.

    ``solution`` gives (len(times), n) of the outputs ``names``; ``energy`` gives joules
    (len(times),) from such rows; ``stop_ns`` is where runs end.
    """

    make: Callable[[], System]
    names: tuple[str, ...]
    solution: Callable[[np.ndarray], np.ndarray]
    stop_ns: int
    energy: Callable[[np.ndarray], np.ndarray] | None = None


@dataclass(frozen=True)
class Run:
    """What one run gave; ``times`` in seconds, ``rows`` of shape (len(times), n)."""

    times: np.ndarray
    rows: np.ndarray
    unit_steps: int
    wall_seconds: float
    rejected: int


def run(problem, algorithm, step_ns, *, rates=None, **options):
    # held inputs: what the orders of the algorithms are told for
    Exact.steps = 0
    with Execution(
        problem.make(),
        step=f"{step_ns} ns",
        delay="mean",
        algorithm=algorithm,
        algorithm_options=options,
        rates=rates,
        record=list(problem.names),
    ) as execution:
        execution.advance(f"{problem.stop_ns} ns")
        recording = execution.recording()
        rejected = execution._engine.control[0]
        wall = execution.wall_seconds
    columns = [recording.names.index(name) for name in problem.names]
    times = recording.time_ns / 1e9
    return Run(times, recording.values[:, columns], Exact.steps, wall, rejected)


def error(problem, found):
    """Largest error of any output at any time, relative to that output's largest value."""
    known = problem.solution(found.times)
    return (np.abs(found.rows - known).max(axis=0) / np.abs(known).max(axis=0)).max()


def energy_error(problem, found):
    """Energy at the end that the coupling made, relative to the energy at the start.

    The units are exact for the inputs they are given, so what the sum of their energies has more
    than the solution's is the sum over all ports of the work that one side gave and the other did
    not take.
    """
    begin, end = problem.energy(problem.solution(found.times[[0, -1]]))
    return (problem.energy(found.rows[-1:])[0] - end) / begin


def slope(x, y):
    """Exponent p of y = c x^p by least squares of the logarithms."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def order(problem, algorithm, steps_ns, **options):
    errors = [error(problem, run(problem, algorithm, step, **options)) for step in steps_ns]
    return slope(steps_ns, errors)
