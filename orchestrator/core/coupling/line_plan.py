"""How one connection is read from its history, also with a delay that varies."""

from __future__ import annotations

from enum import StrEnum
from math import lcm

from orchestrator.core.display import Listed
from orchestrator.core.structs import Struct
from orchestrator.core.system import (
    Connection,
    Delivery,
    Extrapolation,
    Interpolation,
    Jitter,
    JitterKind,
    Newest,
)

#: Steps of probability of a distribution's table; between them it is straight.
_STEPS = 1024
#: Where a gamma distribution is cut.
_GAMMA_CUT = 0.9999
#: Where a normal distribution is cut, in standard deviations.
_NORMAL_CUT = 3.0


class Channel(Struct):
    """How one line delivers its samples; times in nanoseconds (engine/src/core/channel.hpp).

    As a tuple it is a row of the engine's table of channels.

    key: Of the random numbers: from the seed and the ends of the connection.
    nominal_ns: Declared delay.
    loss: Probability of a loss.
    quantiles_ns: Delays at equal steps of probability, from 0 to 1; empty if none is drawn.
    correlation_ns: Time constant of the jitter; 0: every sample has its own.
    times_ns, delays_ns: A recorded delay; one below zero is a loss.
    interpolated, in_order, by_arrival: Of the trace; of the delivery; of what a receiver that holds
        takes.
    """

    key: int
    nominal_ns: int
    loss: float = 0.0
    quantiles_ns: tuple[float, ...] = ()
    correlation_ns: int = 0
    times_ns: tuple[int, ...] = ()
    delays_ns: tuple[int, ...] = ()
    interpolated: bool = False
    in_order: bool = False
    by_arrival: bool = False

    @property
    def longest_ns(self) -> int:
        """Longest delay of a sample that arrives."""
        delays_ns = [round(self.quantiles_ns[-1])] if self.quantiles_ns else []
        return max([self.nominal_ns, *delays_ns, *self.delays_ns])

    def held_ns(self, step_ns: int) -> float:
        """Mean age of the newest sample that has arrived, at the start of a step.

        For samples that come once in a step. Overtaken samples are counted, although nobody takes
        them: where the jitter is longer than a step the true age is somewhat less.
        """
        import numpy as np

        if self.quantiles_ns:
            ends = np.array(self.quantiles_ns)
            delays = (ends[:-1] + ends[1:]) / 2
        else:
            delays = np.array([d for d in self.delays_ns if d >= 0] or [self.nominal_ns], float)
        steps_ns = np.ceil(delays / step_ns) * step_ns
        return float(steps_ns.mean()) + step_ns * self.loss / (1.0 - self.loss)


def channel_of(line: Connection) -> Channel | None:
    """Make the channel of a connection; ``None`` if its delay does not vary."""
    delay = line.delay
    if delay is None or delay.variation is None:
        return None
    from hashlib import blake2b

    varies = delay.variation
    text = f"{varies.seed}\0{line.source}\0{line.target}"
    trace = varies.trace
    return Channel(
        int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little"),
        delay.nominal_ns,
        varies.loss,
        () if varies.jitter is None else _quantiles(delay.nominal_ns, varies.jitter),
        0 if varies.jitter is None else varies.jitter.correlation_ns,
        () if trace is None else trace.times_ns,
        () if trace is None else tuple(-1 if d is None else d for d in trace.delays_ns),
        trace is not None and trace.interpolated,
        varies.delivery is Delivery.IN_ORDER,
        varies.newest is Newest.ARRIVED,
    )


def _quantiles(nominal_ns: int, jitter: Jitter) -> tuple[float, ...]:
    """Delays at equal steps of probability, from 0 to 1."""
    import numpy as np
    from scipy.special import gammaincinv, ndtr, ndtri

    share = np.linspace(0.0, 1.0, _STEPS + 1)
    if jitter.kind is JitterKind.UNIFORM:
        standard = 2.0 * share - 1.0
    elif jitter.kind is JitterKind.NORMAL:
        outside = ndtr(-_NORMAL_CUT)
        normal = ndtri(outside + share * (1.0 - 2.0 * outside))
        standard = np.clip(normal, -_NORMAL_CUT, _NORMAL_CUT)
    else:
        standard = gammaincinv(jitter.shape, share * _GAMMA_CUT) / np.sqrt(jitter.shape)
    return tuple((nominal_ns + jitter.spread_ns * standard).tolist())


class Timing(Struct):
    """Times of one connection in nanoseconds, seen from the begin of a step of its target.

    source_ns, target_ns: How long one step of either unit takes; they begin together at the start.
    newest_ns: The newest sample that can be read; of all steps of the target the one where it is
        oldest.
    held_ns: How late the input is on average where nothing stands on the connection.
    input_order: Highest derivative of the input that the target takes; 0: it holds it.
    visible_ns: Samples up to here can be read in every step: the newest is the last on the source's
        grid.
    is_newest: Whether an undelayed input is held at that newest sample.
    follows: Whether the target is given what the signal does over its step, as far as it is known.
    keeps_end: Whether the input acts on an output at once, so that its value at the end counts.
    followed_late_ns: How late the signal is over the step where nothing is declared and the target
        follows.
    varies: Whether the steps differ in length. An input that acts on an output at once is then read
        at the end of the step: in any other place the output would jump with the length.
    """

    source_ns: int
    target_ns: int
    newest_ns: int
    held_ns: float
    input_order: int = 0
    visible_ns: int = 0
    is_newest: bool = True
    follows: bool = False
    keeps_end: bool = False
    followed_late_ns: int = 0
    varies: bool = False

    @property
    def read_ns(self) -> float:
        """Where in its step an input without a delay would be read."""
        return self.target_ns * (1.0 if self.varies and self.keeps_end else 0.5)

    def sampled(self, shift_ns: int) -> float:
        """Mean time of the newest sample that is not after ``shift_ns`` and can be read."""
        shift_ns = min(shift_ns, self.visible_ns)
        windows = lcm(self.source_ns, self.target_ns) // self.target_ns
        total = 0
        for window in range(windows):
            begin = window * self.target_ns
            total += (begin + shift_ns) // self.source_ns * self.source_ns - begin
        return total / windows


class DelayMode(StrEnum):
    """How a declared delay is realised.

    ``waveform``: every loop has its declared delay. Units that accept derivatives of their inputs
    follow the delayed signal over the whole step; the others hold its mean. ``mean``: all units
    hold the mean, so delays are right in the mean only. ``plain``: zero-order hold, so the step
    adds its own delay.
    """

    WAVEFORM = "waveform"
    MEAN = "mean"
    PLAIN = "plain"


#: Where nobody chooses.
DEFAULT_DELAY = DelayMode.WAVEFORM


class ShiftRamp(Struct):
    """A reading that moves while a run goes on, since the delay of a connection was changed.

    step: Communication steps that were done before the first one that it acts on.
    from_ns, to_ns: Time of the reading from the start of a step, before the ramp and at its end.
    ramp: Steps that it takes, in equal parts; 0: it is there at once.
    """

    step: int
    from_ns: int
    to_ns: int
    ramp: int = 0

    def at(self, step: int) -> int:
        """Return the time of the reading in a step that is not before the first one."""
        done = step - self.step + 1
        share = done / self.ramp if done < self.ramp else 1.0
        return round(self.from_ns + (self.to_ns - self.from_ns) * share)


class DelayPlan(Struct):
    """How one delayed or predicted connection is read.

    connection: The connection.
    shift_ns: The history is read at ``t + shift_ns``, ``t`` being the start of the step.
    effective_delay_ns: Mean delay that its target sees, in nanoseconds, may be a half.
    extrapolation_ns: By how much the reading lies beyond the newest sample; 0 if it is interpolated
        or held.
    interpolation, extrapolation: How values between the samples are made, and after the newest.
    span_ns: If not zero, the target is given the slope from the reading to one this much later.
    held_ns: By how much the reading would lie beyond the newest sample, which is held instead.
    order: If not zero, the target is given a polynomial of this order over the span.
    keeps_end: Whether that has the signal's value at the end of the step, instead of its mean.
    visible_ns: Samples up to this time after the start of the step can be read, if there is a span.
    ramps: How the shift changed while the run went on, in the order of time.
    """

    connection: Connection
    shift_ns: int
    effective_delay_ns: float
    extrapolation_ns: int
    interpolation: Interpolation = Interpolation.LINEAR
    extrapolation: Extrapolation = Extrapolation.LINEAR
    span_ns: int = 0
    held_ns: int = 0
    order: int = 0
    keeps_end: bool = False
    visible_ns: int = 0
    ramps: tuple[ShiftRamp, ...] = ()

    def shift_at(self, step: int) -> int:
        """Return where the history is read in a communication step, counted from 0."""
        begun = [ramp for ramp in self.ramps if ramp.step <= step]
        return begun[-1].at(step) if begun else self.shift_ns

    def __repr__(self) -> str:
        return repr(DelayPlans((self,)))

    def _repr_html_(self) -> str:
        return DelayPlans((self,))._repr_html_()


class DelayPlans(Listed[DelayPlan]):
    """How delayed connections are read."""

    __slots__ = ()
    columns = ("connection", "declared [ms]", "mean delay [ms]", "read ahead [ms]")

    @staticmethod
    def cells(item: DelayPlan) -> tuple[str, ...]:
        """Return the connection, its delays, and how far its reading is ahead of all samples."""
        line = item.connection
        declared = line.delay.nominal_ns if line.delay else 0
        delays = (declared, item.effective_delay_ns, item.extrapolation_ns)
        return (str(line), *(f"{delay / 1e6:.6g}" for delay in delays))


def plan_prediction(line: Connection, timing: Timing) -> DelayPlan:
    """Plan a line without a delay whose target's input is predicted over the step."""
    step_ns, newest = timing.target_ns, timing.newest_ns
    extrapolation = line.extrapolation or Extrapolation.HOLD
    span = step_ns if timing.input_order else 0
    if (
        timing.input_order or extrapolation is Extrapolation.SMOOTHED
    ):  # it reaches to the end of the step
        shift, mean_ns, furthest = step_ns - span, 0.0, step_ns
    else:
        shift = furthest = step_ns // 2
        mean_ns = step_ns / 2 - shift
    ahead = max(0, furthest - newest)
    return DelayPlan(
        line,
        shift,
        mean_ns,
        ahead,
        Interpolation.LINEAR,
        extrapolation,
        span,
        visible_ns=timing.visible_ns,
    )


def plan_following(line: Connection, timing: Timing, share: float = 0.0) -> DelayPlan:
    """Plan a line whose target follows the signal over its step.

    line: With a delay, or of a source that is stepped before its target.
    timing: When its ends act.
    share: What the line takes off for the rest of its loops, in nanoseconds.
    """
    delay = line.delay.nominal_ns if line.delay else 0
    shift = round(share) - delay
    return DelayPlan(
        line,
        shift,
        -shift,
        max(0, shift + timing.target_ns - timing.newest_ns),
        Interpolation.CUBIC,
        line.extrapolation or Extrapolation.LINEAR,
        timing.target_ns,
        order=timing.input_order,
        keeps_end=timing.keeps_end,
        visible_ns=timing.visible_ns,
    )


def plan_line(line: Connection, timing: Timing, mode: DelayMode, share: float) -> DelayPlan:
    """Plan a delayed line.

    line: Delayed.
    timing: When its ends act.
    mode: See :func:`plan_delays`.
    share: What the line takes off for the rest of its loops, in nanoseconds.
    """
    if timing.follows:
        return plan_following(line, timing, share)
    step_ns, newest = timing.target_ns, timing.newest_ns
    delay = line.delay.nominal_ns if line.delay else 0
    plain = mode is DelayMode.PLAIN
    between = line.interpolation or (Interpolation.HOLD if plain else Interpolation.LINEAR)
    channel = channel_of(line)
    beyond = line.extrapolation or (Extrapolation.HOLD if channel else Extrapolation.LINEAR)
    if between in {Interpolation.HOLD, Interpolation.SLERP}:
        beyond = Extrapolation.HOLD
    shift = -delay if plain else round(timing.read_ns - delay + share)
    over = max(0, shift - newest)
    reached: float = shift
    if between is Interpolation.HOLD:
        reached = timing.sampled(shift)
    elif beyond is Extrapolation.HOLD:
        reached = min(reached, newest)
    delay_ns = step_ns / 2 - reached
    if channel is not None and between is Interpolation.HOLD:
        # What comes on top of the nominal delay by its variation.
        grid_ns = timing.source_ns
        delay_ns += channel.held_ns(grid_ns) - -(-delay // grid_ns) * grid_ns
    held = beyond is Extrapolation.HOLD
    held_ns = over if held and between is not Interpolation.HOLD else 0
    ahead = 0 if held else over
    return DelayPlan(line, shift, delay_ns, ahead, between, beyond, held_ns=held_ns)


class LineStatistics(Struct):
    """Counts of one connection; for an array, of each of its elements.

    sent: Samples after the first, which is known from the start.
    dropped: Samples that never arrive.
    late: Samples with more than the nominal delay.
    held: Readings without the sample that they needed. A receiver that holds needs a newer one than
        the last time; one that interpolates, the sample after the time that it plays back.
    oldest_ns: Largest age, in nanoseconds, that the newest sample of a reading had at the start of
        the step.
    """

    sent: int
    dropped: int
    late: int
    held: int
    oldest_ns: int
