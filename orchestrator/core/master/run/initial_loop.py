"""Loops at the start time: consistent outputs of units that act on each other at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import ConvergenceError, StepError
from orchestrator.core.master.run.step_failure import AT_START, loop_message
from orchestrator.core.master.schedule.schedule import LoopTable

Floats = NDArray[np.float64]
_MOST = 50
#: As in the engine (engine/src/algorithms/newton.cpp).
_PERTURBATION = 1e-6
_MOST_HALVINGS = 30
#: As ``least_pivot`` (engine/src/algorithms/elimination.hpp).
_LEAST_EIGENVALUE = 1e-8


def solve_at_start(
    loop: LoopTable,
    execute: Callable[[], None],
    signals: Floats,
    texts: Callable[[], Sequence[bytes]],
) -> None:
    """Find outputs that a pass through the loop does not change, by Newton's method."""
    slots = list(loop.unknowns)
    discrete = partial(_discrete, loop, signals, texts)

    def pass_from(x: Floats) -> Floats:
        signals[slots] = x
        execute()
        found: Floats = signals[slots].copy()
        return found

    def tried(x: Floats) -> Floats:
        try:
            return pass_from(x)
        except StepError:  # a unit is not defined there: no number, and so no step to there
            return np.full_like(x, np.nan)

    x = signals[slots].copy()
    image = pass_from(x)
    for _ in range(_MOST):
        residual = image - x
        allowed = loop.tolerance * np.maximum(1.0, np.abs(image))
        before = discrete()
        if (np.abs(residual) <= allowed).all():
            image = pass_from(x)
            if before == discrete():
                return
            continue
        if not np.isfinite(residual).all():
            break
        if np.array_equal(tried(image), image):
            return  # it closes through states only: what stands at the start is all there is
        step = _newton_step(tried, x, residual)
        if step is None:
            break
        x, image = _shortened(tried, x, step, residual)
    raise ConvergenceError(loop_message(loop, residual.tolist(), _MOST, AT_START))


def _discrete(
    loop: LoopTable, signals: Floats, texts: Callable[[], Sequence[bytes]]
) -> tuple[list[float], list[bytes]]:
    """Read what must come out of a pass as it went in."""
    now = texts() if loop.texts else ()
    return signals[list(loop.discrete)].tolist(), [now[row] for row in loop.texts]


def _newton_step(tried: Callable[[Floats], Floats], x: Floats, residual: Floats) -> Floats | None:
    """Solve for the step to where the residual is zero; ``None`` if there is no such step."""
    jacobian = np.empty((len(x), len(x)))
    for column in range(len(x)):
        moved = x.copy()
        moved[column] += _PERTURBATION * max(1.0, abs(x[column]))
        change = tried(moved) - moved - residual
        jacobian[:, column] = change / (moved[column] - x[column])
    if not np.isfinite(jacobian).all():
        return None
    if np.abs(np.linalg.eigvals(jacobian)).min() <= _LEAST_EIGENVALUE:
        return None
    return np.asarray(np.linalg.solve(jacobian, -residual), dtype=np.float64)


def _shortened(
    tried: Callable[[Floats], Floats], x: Floats, step: Floats, residual: Floats
) -> tuple[Floats, Floats]:
    """Go along a step, half as far while the residual grows or a unit refuses the point."""
    for halving in range(_MOST_HALVINGS):
        there: Floats = x + 0.5**halving * step
        image = tried(there)
        if np.abs(image - there).max() <= 1.5 * np.abs(residual).max():
            break
    return there, image
