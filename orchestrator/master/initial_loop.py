"""Loops at the start time: consistent outputs of units that act on each other at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orchestrator.errors import ConvergenceError
from orchestrator.master.failure import loop_message
from orchestrator.master.schedule import LoopTable

Floats = NDArray[np.float64]
_MOST = 50
#: As in the engine (engine/src/newton.cpp).
_PERTURBATION = 1e-6


def solve_at_start(loop: LoopTable, execute: Callable[[], None], signals: Floats) -> None:
    """Find outputs that a pass through the loop does not change, by Newton's method.

    Parameters
    ----------
    loop
        What is iterated.
    execute
        Does one pass on the signals.
    signals
        The engine's buffer; holds the solution in the end.

    Raises
    ------
    ConvergenceError
        If there is none, or it is not found in fifty iterations.
    """
    slots = list(loop.unknowns)
    discrete = list(loop.discrete)

    def pass_from(x: Floats) -> Floats:
        signals[slots] = x
        execute()
        found: Floats = signals[slots].copy()
        return found

    x = signals[slots].copy()
    for _ in range(_MOST):
        before = signals[discrete].copy()
        image = pass_from(x)
        residual = image - x
        allowed = loop.tolerance * np.maximum(1.0, np.abs(image))
        settled = np.array_equal(before, signals[discrete])
        if settled and (np.abs(residual) <= allowed).all():
            return
        if not np.isfinite(residual).all():
            break
        if np.array_equal(pass_from(image), image):
            return  # it closes through states only: what stands at the start is all there is
        x = _newton(pass_from, x, residual)
        if not np.isfinite(x).all():
            break
    raise ConvergenceError(loop_message(loop, residual.tolist(), _MOST, "at the start"))


def _newton(pass_from: Callable[[Floats], Floats], x: Floats, residual: Floats) -> Floats:
    jacobian = np.empty((len(x), len(x)))
    for column in range(len(x)):
        moved = x.copy()
        moved[column] += _PERTURBATION * max(1.0, abs(x[column]))
        change = pass_from(moved) - moved - residual
        jacobian[:, column] = change / (moved[column] - x[column])
    try:
        found: Floats = x - np.linalg.solve(jacobian, residual)
    except np.linalg.LinAlgError:
        return np.full_like(x, np.nan)
    return found
