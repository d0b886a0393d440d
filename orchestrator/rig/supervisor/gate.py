"""The last thing that a command passes before the wire: what is sent in which state of the rig."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import copysign, sqrt
from typing import Literal

from orchestrator.core.diagnostics import Reason
from orchestrator.core.structs import Struct
from orchestrator.rig.supervisor.limits import WINDOW_NS, WatchedLimit, derived_unit
from orchestrator.rig.supervisor.rest_profile import RestProfile, blending_weight
from orchestrator.rig.supervisor.states import FOLLOWING, STOPPING, State

_NS = 1e-9
#: Of velocities: a command at its limit is within it.
_ROUNDING = 1.0 + 1e-9
#: A look that comes more periods late was held up itself: its machine stood still.
_HELD_UP = 5
#: Periods of a stair; one that was held for longer stood before.
_LONGEST_STAIR = 50
#: Periods that a stop may advance at once, so that it is smoother than the calls.
_AT_ONCE = 2.0
#: Periods, or steps of the run, without a command after which a device is at rest.
_PAUSE = 2.5
#: What is held back for so long by the wire does not come through, s.
_BEHIND_S = 2.0


class Orders(Struct):
    """The supervisor's order, from its last word.

    state, since_ns: Of the rig.
    beat_ns: When the supervisor last gave a sign of life.
    """

    state: State
    since_ns: int
    beat_ns: int


class AxisLimits(Struct):
    """What one scalar of a command is held to; what is infinite, to nothing.

    velocity: Per s; a command is never sent faster.
    persistence: How long it may be held back, or beyond ``acceleration`` and ``jerk``, s.
    stop, quick_stop: Deceleration and jerk of both kinds of a stop, per s2 and s3.
    rests: ``"in place"`` or ``"at zero"``.
    to_zero: How fast what rests at zero gets there, per s.
    minimum, maximum: The ends of the workspace.
    acceleration, jerk: Per s2 and s3.
    ramp: With which what was held back is caught up with, per s2.
    """

    velocity: float
    persistence: float
    stop: tuple[float, float]
    quick_stop: tuple[float, float]
    rests: Literal["in place", "at zero"]
    to_zero: float
    minimum: float = -math.inf
    maximum: float = math.inf
    acceleration: float = math.inf
    jerk: float = math.inf
    ramp: float = math.inf


class GateTimes(Struct):
    """Times of a gate, in nanoseconds: see :class:`SupervisorSettings`."""

    blend_ns: int
    heartbeat_ns: int
    command_stale_ns: int
    hold_cycles: int | None = None


def axis_limits(limits: AxisLimits, signal: str = "", unit: str = "1") -> tuple[WatchedLimit, ...]:
    """Return what a scalar of a command is held to, in the order of the gauges of its device."""
    first, second, third = (derived_unit(unit, order) for order in (1, 2, 3))
    bend = limits.acceleration
    return (
        WatchedLimit(
            signal, "command", unit, Reason.TRAVEL,
            minimum=limits.minimum, maximum=limits.maximum,
        ),
        WatchedLimit(signal, "velocity", first, Reason.VELOCITY, maximum=limits.velocity),
        WatchedLimit(signal, "acceleration", second, Reason.ACCELERATION, maximum=bend),
        WatchedLimit(signal, "jerk", third, Reason.JERK, maximum=limits.jerk),
        WatchedLimit(signal, "time held back", "s", Reason.COMMAND_LOST, maximum=_BEHIND_S),
    )  # fmt: skip


def gauge_count(scalars: int) -> int:
    """Return how many numbers a gate writes, from its number of scalars."""
    return scalars * len(axis_limits(_NO_LIMITS))


_NO_LIMITS = AxisLimits(math.inf, 0.0, (1.0, 1.0), (1.0, 1.0), "in place", math.inf)


class _Axis:
    """One scalar of a command: where it was sent last, how fast, and how it comes to rest."""

    def __init__(self, limits: AxisLimits, start: float, period: float) -> None:
        self.limits, self._period = limits, period
        #: The limits of this scalar, with the newest values.
        self.watched = axis_limits(limits)
        self._range, self._speed, self._bend, self._jerk, self._waits = self.watched
        self.sent = self.held = self.wanted = self._before = start
        self.velocity = self.acceleration = 0.0
        #: The last stair: its periods, its mean velocity, and the periods since.
        self._stair, self._mean, self._quiet = 1, 0.0, 0
        self._bad = self._behind = 0.0
        #: Where the command would be if only its speed had held it back.
        self._due, self._pace = start, 0.0
        #: Whether it catches up, and how fast it is.
        self._ramps, self._rate = False, 0.0
        self._spent = 0.0
        self._left, self._gone = _AT_ONCE * period, 0.0
        self._elapsed = period
        self._profile: RestProfile | None = None

    def go_on(self, seconds: float, pause: float = math.inf) -> None:
        """Let time go by; what is sent moves no farther than is possible in it.

        After more than ``pause`` without a command the device stands where it was led to last. Of
        samples that were held up and come at once a robot takes one answer only, and what all of
        them moved would be its next step.
        """
        self._elapsed = seconds
        if seconds > pause:
            self.stand()
        self._left = min(self._left + seconds, _AT_ONCE * self._period)
        self._gone = max(self._gone - seconds, 0.0)

    def follow(self, target: float, run_s: float) -> tuple[float, Reason]:
        """Return what may be sent of a value, a period after the last one, and what is wrong.

        Too fast is what the run gives in its own time, ``run_s`` since the command before: what a
        pause of the wire holds back is caught up with.
        """
        if not math.isfinite(target):
            return self.sent, Reason.COMMAND_NOT_FINITE
        before, self.wanted = self.wanted, target
        limits, h = self.limits, self._period
        if beyond := self._range.take(target):
            return self.sent, beyond
        is_fast = False
        if math.isfinite(limits.velocity):
            largest = limits.velocity * _ROUNDING * run_s
            self._due = min(max(target, self._due - largest), self._due + largest)
            is_fast = self._due != target
            self._pace = (target - before) / run_s if run_s > 0.0 else self._pace
            self._speed.show(abs(self._pace))
        sent = self._reach(target)
        acceleration = ((sent - self.sent) / h - self.velocity) / h
        spent = min(self._elapsed, _AT_ONCE * h)
        self._behind = self._behind + spent if sent != target else 0.0
        if lost := self._waits.take(self._behind):
            return sent, lost
        reason = self._limit_reason(is_fast, acceleration, (acceleration - self.acceleration) / h)
        if not reason:
            self._bad = 0.0
            return sent, Reason.OPERATION
        self._bad += self._elapsed
        return sent, reason if self._bad > limits.persistence else Reason.OPERATION

    def _reach(self, target: float) -> float:
        """Return what is nearest to a value within the speed; and the ramp, once it was left."""
        limits, h = self.limits, self._period
        if math.isfinite(limits.velocity):
            h = min(h, max(self._left - (_AT_ONCE - 1.0) * h, 0.0))
        largest = limits.velocity * h if h else 0.0
        ahead, step = target - self.sent, limits.ramp * h
        if not math.isfinite(limits.ramp):
            self._ramps = False
            return target if abs(ahead) <= largest else self.sent + copysign(largest, ahead)
        remaining = ahead - self._pace * h
        joins = max(abs(ahead - self._rate * h), abs(remaining)) <= step * h
        if abs(ahead) <= largest and (joins or not self._ramps):
            self._ramps, self._rate = False, ahead / self._period
            return target
        self._ramps = True
        if h == 0.0:
            return self.sent
        # the speed from which the ramp still ends at the value, as it moves
        closing = sqrt(0.25 * step * step + 2.0 * limits.ramp * abs(remaining)) - 0.5 * step
        closing = min(closing, abs(remaining) / h)
        rate = min(
            max(self._pace + copysign(closing, remaining), self._rate - step), self._rate + step
        )
        self._rate = min(max(rate, -limits.velocity), limits.velocity)
        return self.sent + self._rate * h

    def stand(self) -> None:
        """Take note that the device stands where it was led to last."""
        self._ramps, self._rate = True, 0.0

    def take(self, sent: float) -> None:
        """Remember what was sent."""
        velocity = (sent - self.sent) / self._period
        self.acceleration = (velocity - self.velocity) / self._period
        self._quiet += 1
        if sent != self.sent:
            self._stair, self._quiet = min(self._quiet, _LONGEST_STAIR), 0
            self._mean = velocity / self._stair
        self._left -= abs(sent - self.sent) / self.limits.velocity
        self.velocity, self._before, self.sent = velocity, self.sent, sent

    def take_back(self, taken: float | None = None) -> None:
        """Forget what was sent since ``taken``, or the last: the device stands there."""
        taken = self._before if taken is None else taken
        back = abs(self.sent - taken) / self.limits.velocity
        self._left = min(self._left + back, _AT_ONCE * self._period)
        self.velocity = self.acceleration = self._mean = 0.0
        self.sent = self._before = taken
        self.stand()

    def stop(self, *, quick: bool) -> None:
        """Begin to come to rest from what was sent.

        A command that goes by stairs, as that of a run with longer steps than the device's periods,
        is as fast as its last stair in the mean: a jump is no velocity, and a hold no rest.
        """
        deceleration, jerk = self.limits.quick_stop if quick else self.limits.stop
        if math.isinf(deceleration):  # it stands at once
            self.hold()
            deceleration = jerk = 1.0
        if self._stair > 1:
            self.velocity = self._mean if self._quiet < self._stair else 0.0
            self.acceleration = 0.0
        largest = deceleration * _ROUNDING  # a jump on the wire is no acceleration to go on with
        self.acceleration = min(max(self.acceleration, -largest), largest)
        if self.acceleration * self.velocity < 0.0:  # nor one that would turn it round
            largest = sqrt(2.0 * jerk * abs(self.velocity))
            self.acceleration = min(max(self.acceleration, -largest), largest)
        self._spent, at = 0.0, (self.sent, self.velocity, self.acceleration)
        self._profile = RestProfile(*at, deceleration, jerk)

    def next_to_rest(self) -> float:
        """Return what is sent on the way to rest, a period after the last if time has gone by."""
        self._before = self.sent
        speed = abs(self.velocity) / self.limits.velocity  # of the two periods what a limit leaves
        h = min(self._period, self._left, (self._period - self._gone) / max(speed, 0.5))
        self._left, self._gone = self._left - h, self._gone + speed * h
        if self.limits.rests == "at zero":
            largest = self.limits.to_zero * h if math.isfinite(self.limits.to_zero) else math.inf
            self.sent -= min(max(self.sent, -largest), largest)
            return self.sent
        assert self._profile is not None  # noqa: S101 - a stop was begun
        self._spent += h
        x, self.velocity, self.acceleration = self._profile.at(self._spent)
        self.sent = min(max(x, self.limits.minimum), self.limits.maximum)
        return self.sent

    @property
    def stands(self) -> bool:
        """Whether it stands after a stop."""
        if self.limits.rests == "at zero":
            return self.sent == 0.0
        return self._profile is not None and self._spent >= self._profile.duration

    def hold(self) -> None:
        """Stand where it is, from now on; what rests at zero is zero at once."""
        if self.limits.rests == "at zero":
            self.sent = 0.0
        self.held, self.velocity, self.acceleration, self._bad = self.sent, 0.0, 0.0, 0.0
        self._mean, self._due, self._rate, self._behind = 0.0, self.sent, 0.0, 0.0
        for limit in self.watched:
            limit.forget()

    def _limit_reason(self, is_fast: bool, acceleration: float, jerk: float) -> Reason:  # noqa: FBT001
        if is_fast:
            return Reason.VELOCITY
        if self._ramps:
            return Reason.OPERATION
        bends, jerks = self._bend.take(abs(acceleration)), self._jerk.take(abs(jerk))
        return bends or jerks


class CommandGate:
    """Decides what a device is sent, in the process of the device: so it works alone.

    In ACTIVE a command passes unchanged as long as it keeps its limits; in BLEND it goes over from
    where the device stands; in all other states the device is held, or comes to rest. It stops by
    itself when a command is no number, leaves its workspace, breaks its limits for too long, when
    the simulation gives none any more, and when the supervisor is gone: then it stays in its own
    stop until the rig has been in SHADOW.

    limits, start: For each scalar of the command, in their order, and what is sent before any.
    times: See :class:`GateTimes`.
    period_ns: Between two commands that are sent, of the device.
    shaped: How many commands were faster than their limit, and sent slower.
    """

    def __init__(
        self,
        limits: Sequence[AxisLimits],
        start: Sequence[float],
        times: GateTimes,
        period_ns: int,
    ) -> None:
        pairs = zip(limits, start, strict=True)
        self._axes = [
            _Axis(limits_of_axis, value, period_ns * _NS) for limits_of_axis, value in pairs
        ]
        self._times = times
        self._number, self._age_ns, self._looked_ns = 0, 0, 0
        self._held_up_ns = max(_HELD_UP * period_ns, times.command_stale_ns // 4)
        self.shaped = 0
        self._sent_number, self._repeats = 0, 0
        self._taken: tuple[float, ...] | None = None
        self._now_ns: int | None = None
        self._period = period_ns * _NS
        self._stopping: State | None = None
        self._follows, self._turned_ns = False, 0
        #: What the gate found by itself, and when; 0: nothing.
        self.reason = Reason.OPERATION
        self.found_ns = 0

    @property
    def stopping(self) -> bool:
        """Whether it comes to rest, or stands after it."""
        return self._stopping is not None

    @property
    def at_rest(self) -> bool:
        """Whether the command stands, and goes on to."""
        if self._stopping is None:
            return not self._axes or not self._follows
        return self._stopping is State.ESTOP or all(axis.stands for axis in self._axes)

    @property
    def gauges(self) -> list[float]:
        """The worst values of the last moment against :func:`axis_limits` of each scalar."""
        return [limit.worst for axis in self._axes for limit in axis.watched]

    def trip(self, reason: Reason, now_ns: int) -> None:
        """Come to rest for a reason that was found here."""
        if not self.reason:
            self.reason, self.found_ns = reason, now_ns
        if self._stopping is None:
            self._begin_stop(State.FALLBACK)

    @property
    def behind(self) -> bool:
        """Whether what is sent still goes towards a command that was held back."""
        return self._follows and any(axis.sent != axis.wanted for axis in self._axes)

    def take_back(self, taken: Sequence[float] | None = None) -> None:
        """Take note that the device did not take the last, or what came after ``taken``."""
        if taken is not None:
            self._taken = tuple(taken)
            return
        for axis in self._axes if self._follows or self._stopping in STOPPING else ():
            axis.take_back()
            if self._stopping is not None:  # on the way to rest: it stands already
                axis.stop(quick=self._stopping is State.QUICKSTOP)

    def _go_back(self) -> None:
        taken, self._taken = self._taken, None  # which may come from another thread
        if taken is not None and self._follows:
            for axis, value in zip(self._axes, taken, strict=True):
                axis.take_back(value)

    def watch(self, orders: Orders, number: int, now_ns: int, patience_ns: int = 0) -> None:
        """Look whether the simulation and the supervisor are there; without commands as well.

        The age of a command is counted look by look, so that a machine that stood still does not
        pass for a simulation that hangs; ``patience_ns`` is what it may take beyond its limit.
        """
        spent, self._looked_ns = now_ns - self._looked_ns, now_ns
        self._age_ns += min(spent, self._held_up_ns)
        if number != self._number or orders.state not in FOLLOWING or not self._axes:
            self._number, self._age_ns = number, 0
        if self._age_ns > self._times.command_stale_ns + patience_ns:
            self.trip(Reason.COMMAND_STALE, now_ns)
        if now_ns - orders.beat_ns > self._times.heartbeat_ns:
            self.trip(Reason.SUPERVISOR_LOST, now_ns)

    def command(
        self,
        targets: Sequence[float],
        number: int,
        orders: Orders,
        now_ns: int,
        patience_ns: int = 0,
        step_ns: int = 0,
    ) -> list[float]:
        """Return what is sent now; ``step_ns``: between two commands of the run, if known."""
        before = self._now_ns
        elapsed = self._period if before is None else (now_ns - before) * _NS
        self._now_ns = now_ns
        self._go_back()
        new = number - self._sent_number
        run_s = new * step_ns * _NS if step_ns and before is not None else elapsed
        for axis in self._axes:
            axis.go_on(elapsed, _PAUSE * max(self._period, step_ns * _NS))
        self.watch(orders, number, now_ns, patience_ns)
        if now_ns - self._turned_ns > WINDOW_NS and self._stopping is None:
            self._turned_ns = now_ns
            for limit in (limit_of_axis for axis in self._axes for limit_of_axis in axis.watched):
                limit.turn()
        self._obey(orders)
        self._follows = self._stopping is None and orders.state in FOLLOWING
        again = self._follows and number == self._sent_number  # a run may wait while it is held
        self._repeats = self._repeats + 1 if again else 0
        self._sent_number = number
        held = self._times.hold_cycles
        if not self._follows:
            return self._rest_commands()
        if held is None or self._repeats <= held:
            return self._follow(targets, run_s, orders, now_ns)
        if self._repeats == held + 1:  # it slows down; a new command that comes is caught up with
            for axis in self._axes:
                axis.stop(quick=False)
        return [axis.next_to_rest() for axis in self._axes]

    def _obey(self, orders: Orders) -> None:
        state = orders.state
        if state in STOPPING or state is State.ESTOP:
            if self._stopping is None or (state > self._stopping and not self.at_rest):
                self._begin_stop(state)
        elif state in FOLLOWING or state is State.SAFE:
            return
        elif self._stopping is not None and self.at_rest:
            self._stopping = None
            self.reason, self.found_ns = Reason.OPERATION, 0
            for axis in self._axes:
                axis.hold()

    def _begin_stop(self, state: State) -> None:
        self._stopping = state
        for axis in self._axes:
            if state is State.ESTOP:
                axis.hold()
            else:
                axis.stop(quick=state is State.QUICKSTOP)

    def _follow(
        self, targets: Sequence[float], run_s: float, orders: Orders, now_ns: int
    ) -> list[float]:
        share = 1.0
        if orders.state is State.BLEND and self._times.blend_ns:
            share = blending_weight((now_ns - orders.since_ns) / self._times.blend_ns)
        passed = []
        for axis, value in zip(self._axes, targets, strict=True):
            blended = value if share == 1.0 else axis.held + share * (value - axis.held)
            sent, reason = axis.follow(blended, run_s)
            passed.append(sent)
            if reason:
                self.trip(reason, now_ns)
        if self._stopping is not None:
            return self._rest_commands()
        for axis, sent in zip(self._axes, passed, strict=True):
            axis.take(sent)
        self.shaped += any(axis.sent != axis.wanted for axis in self._axes)
        return passed

    def _rest_commands(self) -> list[float]:
        if self._stopping in STOPPING:
            return [axis.next_to_rest() for axis in self._axes]
        return [axis.sent for axis in self._axes]
