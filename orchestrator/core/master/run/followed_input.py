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
    system: System,
    plan: DelayPlan,
    times_ns: Times,
    source: Floats,
    recorded: Floats,
    rates: tuple[int, int] = (1, 1),
) -> Floats | None:
    """Return the polynomials that an input was on within the steps of a run.

    system: What was run, flat.
    plan: How the connection is read; it has a span.
    times_ns: Of the rows, every communication step of the run, shape (n,).
    source, recorded: Rows of the output and of the input, at the ends of the steps of its unit.
    rates: Communication steps in a step of the source, and of the target.
    Returns: The value at the begin of each step of the target and the derivatives there, per
        second, per second squared and cubed, float64 of shape (4, steps, size); ``None`` if they
        do not begin at the recorded values, as with a fault on the connection, or are read in a
        way of its own.
    """
    if "smoothed" in plan.extrapolation or "slerp" in plan.interpolation:
        return None
    factor, offset = linear_of(system, plan.connection)
    begins = np.arange(0, len(times_ns) - rates[1], rates[1])
    visible = round(plan.visible_ns / plan.span_ns * rates[1])
    newest = (begins + visible) // rates[0]
    windows = np.stack(
        [_column_windows(plan, times_ns, column, rates, newest) for column in source.T], -1
    )
    windows *= factor
    windows[0] += offset
    off = float(np.abs(windows[0] - recorded[1:]).max(initial=0.0))
    size = float(np.abs(recorded).max(initial=0.0))
    return windows if off <= _ALIKE * size else None


def _column_windows(
    plan: DelayPlan, times_ns: Times, values: Floats, rates: tuple[int, int], newest: Times
) -> Floats:
    """Return the polynomials of one scalar, shape (4, steps), before the connection's factor.

    newest: Number of the newest sample that each step of the target can read.
    """
    source_ns, target_ns = (times_ns[::ticks] for ticks in rates)
    windows = np.zeros((4, len(newest)))
    shortest = int(np.diff(times_ns).min())
    farthest_ns = max(map(abs, (plan.shift_ns, *(ramp.to_ns for ramp in plan.ramps))))
    depth = farthest_ns // shortest + plan.span_ns // shortest + _MORE
    ways = Interpolation[plan.interpolation.name], Extrapolation[plan.extrapolation.name]
    past = History(depth, *ways, (), int(source_ns[0]), float(values[0]))
    pushed = 0
    for k, last in enumerate(newest):
        while pushed < last:
            pushed += 1
            past.push(int(source_ns[pushed]), float(values[pushed]))
        begin_ns = int(target_ns[k]) + plan.shift_at(k * rates[1])
        length_ns = int(target_ns[k + 1] - target_ns[k])
        if plan.order:
            windows[:, k] = past.follow(begin_ns, length_ns, plan.order, plan.keeps_end)
            windows[1 + plan.order :, k] = 0.0
        else:
            windows[0, k] = past.read(begin_ns, begin_ns)
            end = past.read(begin_ns + length_ns, begin_ns)
            windows[1, k] = (end - windows[0, k]) / (length_ns / 1e9)
    return windows
