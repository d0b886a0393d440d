"""What an input was within each step of a run, where it followed its signal, from its samples.

A recording has one value of an input for each step: the one at which it begins. Where the master
gives a unit derivatives of an input as well, the input goes on from there on a polynomial, which
the engine makes from samples of the source. The samples are recorded, so it is made again here, by
the engine's own histories.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import DelayPlan
from orchestrator.core.master.schedule.rows import Extrapolation, Interpolation
from orchestrator.core.master.schedule.schedule import linear_of
from orchestrator.core.system import System
from orchestrator.engine import History

Floats = NDArray[np.float64]
Times = NDArray[np.int64]

#: Share of the largest value by which a value at the begin of a step may be off the recorded one:
#: what the last pass of an iteration changed.
_ALIKE = 1e-6
#: Samples that are kept in addition to those within the delay.
_MORE = 16


def followed_input(
    system: System, plan: DelayPlan, times_ns: Times, source: Floats, recorded: Floats
) -> Floats | None:
    """Return the polynomials that an input was on within the steps of a run.

    system: What was run, flat.
    plan: How the connection is read; it has a span.
    times_ns: Of the rows, every communication step of the run, shape (n,).
    source, recorded: Rows of the output and of the input, shape (n, size).
    Returns: The value at the begin of each step and the derivatives there, per second, per second
        squared and cubed, float64 of shape (4, n - 1, size); ``None`` if they do not begin at the
        recorded values, as with a fault on the connection, or are read in a way of its own.
    """
    if "smoothed" in plan.extrapolation or "slerp" in plan.interpolation:
        return None
    factor, offset = linear_of(system, plan.connection)
    closest, smallest = None, np.inf
    for ahead in (True, False):  # whether the source is stepped before the target
        candidates = np.stack(
            [_one(plan, times_ns, column, ahead=ahead) for column in source.T], axis=-1
        )
        candidates *= factor
        candidates[0] += offset
        off = float(np.abs(candidates[0] - recorded[1:]).max(initial=0.0))
        if off < smallest:
            closest, smallest = candidates, off
    size = float(np.abs(recorded).max(initial=0.0))
    return closest if smallest <= _ALIKE * size else None


def _one(plan: DelayPlan, times_ns: Times, values: Floats, *, ahead: bool) -> Floats:
    """Return the polynomials of one scalar, shape (4, n - 1), before the connection's factor."""
    steps = len(times_ns) - 1
    windows = np.zeros((4, steps))
    shortest = int(np.diff(times_ns).min())
    depth = abs(plan.shift_ns) // shortest + plan.span_ns // shortest + _MORE
    ways = Interpolation[plan.interpolation.name], Extrapolation[plan.extrapolation.name]
    past = History(depth, *ways, (), int(times_ns[0]), float(values[0]))
    if ahead:
        past.push(int(times_ns[1]), float(values[1]))
    for k in range(steps):
        begin_ns, length_ns = int(times_ns[k]) + plan.shift_ns, int(times_ns[k + 1] - times_ns[k])
        if plan.order:
            windows[:, k] = past.follow(begin_ns, length_ns, plan.order, plan.keeps_end)
            windows[1 + plan.order :, k] = 0.0
        else:
            windows[0, k] = past.read(begin_ns, begin_ns)
            end = past.read(begin_ns + length_ns, begin_ns)
            windows[1, k] = (end - windows[0, k]) / (length_ns / 1e9)
        if (newest := k + 1 + ahead) <= steps:
            past.push(int(times_ns[newest]), float(values[newest]))
    return windows
