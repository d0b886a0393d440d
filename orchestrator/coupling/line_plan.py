"""How one connection is read from its history."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.coupling.channel import channel_of
from orchestrator.coupling.timing import Timing
from orchestrator.system import Connection, Extrapolation, Interpolation


class DelayMode(StrEnum):
    """How a declared delay is realised."""

    PLAIN = "plain"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class DelayPlan:
    """How one delayed or predicted connection is read.

    Parameters
    ----------
    connection
        The connection.
    shift_ns
        The history is read at ``t + shift_ns``, ``t`` being the start of the step.
    seen_ns
        Mean delay that its target sees, in nanoseconds, may be a half.
    extrapolation_ns
        By how much the reading lies beyond the newest sample; 0 if it is interpolated or held.
    interpolation, extrapolation
        How values between the samples are made, and after the newest.
    span_ns
        If not zero, the target is given the slope from the reading to one this much later.
    held_ns
        By how much the reading would lie beyond the newest sample, which is held instead.
    """

    connection: Connection
    shift_ns: int
    seen_ns: float
    extrapolation_ns: int
    interpolation: Interpolation = Interpolation.LINEAR
    extrapolation: Extrapolation = Extrapolation.LINEAR
    span_ns: int = 0
    held_ns: int = 0


def plan_prediction(line: Connection, timing: Timing) -> DelayPlan:
    """Plan a line without a delay whose target's input is predicted over the step.

    Parameters
    ----------
    line
        Predicted: see :attr:`Connection.is_predicted`.
    timing
        When its ends act.
    """
    step_ns, newest = timing.target_ns, timing.newest_ns
    way = line.extrapolation or Extrapolation.HOLD
    if timing.takes_slopes:
        shift, span, furthest = 0, step_ns, step_ns
    elif way is Extrapolation.SMOOTHED:
        shift, span, furthest = step_ns, 0, step_ns
    else:
        shift, span, furthest = step_ns // 2, 0, step_ns // 2
    middle = step_ns / 2 if timing.takes_slopes or way is Extrapolation.SMOOTHED else shift
    return DelayPlan(
        line,
        shift,
        step_ns / 2 - middle,
        max(0, furthest - newest),
        Interpolation.LINEAR,
        way,
        span,
    )


def plan_line(line: Connection, timing: Timing, mode: DelayMode, share: float) -> DelayPlan:
    """Plan a delayed line.

    Parameters
    ----------
    line
        Delayed.
    timing
        When its ends act.
    mode
        See :func:`plan_delays`.
    share
        What the line takes off for the rest of its loops, in nanoseconds.
    """
    step_ns, newest = timing.target_ns, timing.newest_ns
    delay = line.delay.nominal_ns if line.delay else 0
    plain = mode is DelayMode.PLAIN
    between = line.interpolation or (Interpolation.HOLD if plain else Interpolation.LINEAR)
    channel = channel_of(line)
    beyond = line.extrapolation or (Extrapolation.HOLD if channel else Extrapolation.LINEAR)
    if between in {Interpolation.HOLD, Interpolation.SLERP}:
        beyond = Extrapolation.HOLD
    shift = -delay if plain else round(step_ns / 2 - delay + share)
    over = max(0, shift - newest)
    reached: float = shift
    if between is Interpolation.HOLD:
        reached = timing.sampled(shift)
    elif beyond is Extrapolation.HOLD:
        reached = min(reached, newest)
    seen = step_ns / 2 - reached
    if channel is not None and between is Interpolation.HOLD:
        # What comes on top of the nominal delay by its variation.
        grid_ns = timing.source_ns
        seen += channel.held_ns(grid_ns) - -(-delay // grid_ns) * grid_ns
    held = beyond is Extrapolation.HOLD
    return DelayPlan(
        line,
        shift,
        seen,
        0 if held else over,
        between,
        beyond,
        held_ns=over if held and between is not Interpolation.HOLD else 0,
    )
