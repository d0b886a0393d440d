"""How one connection is read from its history."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.coupling.channel import channel_of
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


def plan_prediction(line: Connection, step_ns: int, *, ahead: bool, sloped: bool) -> DelayPlan:
    """Plan a line without a delay whose target's input is predicted over the step.

    Parameters
    ----------
    line
        Predicted: see :attr:`Connection.is_predicted`.
    step_ns
        Communication step in nanoseconds.
    ahead
        Whether the source is stepped before the target.
    sloped
        Whether the target takes a slope.
    """
    way = line.extrapolation or Extrapolation.HOLD
    newest = step_ns if ahead else 0
    if sloped:
        shift, span, furthest = 0, step_ns, step_ns
    elif way is Extrapolation.SMOOTHED:
        shift, span, furthest = step_ns, 0, step_ns
    else:
        shift, span, furthest = step_ns // 2, 0, step_ns // 2
    middle = step_ns / 2 if sloped or way is Extrapolation.SMOOTHED else shift
    return DelayPlan(
        line,
        shift,
        step_ns / 2 - middle,
        max(0, furthest - newest),
        Interpolation.LINEAR,
        way,
        span,
    )


def plan_line(
    line: Connection, step_ns: int, mode: DelayMode, share: float, *, ahead: bool
) -> DelayPlan:
    """Plan a delayed line.

    Parameters
    ----------
    line, step_ns, mode
        See :func:`plan_delays`.
    share
        What the line takes off for the rest of its loops, in nanoseconds.
    ahead
        Whether the source is stepped before the target.
    """
    delay = line.delay.nominal_ns if line.delay else 0
    plain = mode is DelayMode.PLAIN
    between = line.interpolation or (Interpolation.HOLD if plain else Interpolation.LINEAR)
    channel = channel_of(line)
    beyond = line.extrapolation or (Extrapolation.HOLD if channel else Extrapolation.LINEAR)
    if between in {Interpolation.HOLD, Interpolation.SLERP}:
        beyond = Extrapolation.HOLD
    shift = -delay if plain else round(step_ns / 2 - delay + share)
    newest = step_ns if ahead else 0
    over = max(0, shift - newest)
    reached = shift
    if between is Interpolation.HOLD:
        reached = shift // step_ns * step_ns
    if beyond is Extrapolation.HOLD:
        reached = min(reached, newest)
    seen = step_ns / 2 - reached
    if channel is not None and between is Interpolation.HOLD:
        # What comes on top of the nominal delay by its variation.
        seen += channel.held_ns(step_ns) - -(-delay // step_ns) * step_ns
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
