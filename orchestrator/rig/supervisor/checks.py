"""What a supervisor looks for in signals, in the health of devices, in what two of them say."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DescriptionError, Reason, choices_for
from orchestrator.rig.supervisor.limits import (
    WatchedLimit,
    derived_unit,
    quantity_of,
)
from orchestrator.rig.supervisor.settings import (
    REASON_NAMES,
    DeviceLimits,
    EnergyLimits,
    SignalLimits,
    SupervisorSettings,
)
from orchestrator.rig.supervisor.states import Check, State, holds
from orchestrator.rig.supervisor.watch_memory import Head, JoiningDevice, RingSignal

_NS = 1e-9
_WINDOW_NS = 1_000_000_000
#: Of times in ns, and in s, that are shown in ms.
_NS_TO_MS, _S_TO_MS = 1e-6, 1e3
_OF_UNIT = {"N": Reason.FORCE, "N.m": Reason.TORQUE}
_FINE = Reason.OPERATION


class SignalCheck:
    """Range, slew and freezing of one signal.

    limits: Of the signal.
    unit: By which being beyond the range is named.
    name: Of the signal.
    """

    def __init__(self, limits: SignalLimits, unit: str, name: str = "") -> None:
        self._limits = limits
        by_unit = _OF_UNIT.get(unit, Reason.WORKSPACE)
        self._beyond = by_unit if limits.reason is None else REASON_NAMES[limits.reason]
        self._persistence_ns = limits.ns("persistence")
        self._frozen_ns = None if limits.frozen is None else limits.ns("frozen")
        self._range = WatchedLimit(
            name, quantity_of(unit), unit, self._beyond,
            minimum=limits.minimum, maximum=limits.maximum, is_main=True,
        )  # fmt: skip
        rate = "rate of change", derived_unit(unit, 1)
        self._slew = WatchedLimit(name, *rate, Reason.SLEW, maximum=limits.slew)
        self._still = WatchedLimit(
            name, "time without a change", "ms", Reason.SENSOR_STALE,
            maximum=self._frozen_ns, scale=_NS_TO_MS,
        )  # fmt: skip
        #: All of them.
        self.limits = (self._range, self._slew, self._still)
        self._last: tuple[int, float] | None = None
        self._bad_since: int | None = None
        self._changed = 0
        self._against, self._against_then = math.nan, math.nan
        #: Whether being frozen means anything in the state of the rig.
        self.counts_frozen = True
        self._found = _FINE

    def move(self, value: float) -> None:
        """Take the newest value of the signal that this one is held against."""
        self._against = value

    def take(self, time_ns: int, value: float) -> None:
        """Take a sample of CLOCK_MONOTONIC ``time_ns``."""
        before, self._last = self._last, (time_ns, value)
        rests = self._limits.against is not None and self._against == self._against_then
        if before is None or value != before[1] or rests or not self.counts_frozen:
            self._changed, self._against_then = time_ns, self._against
        reason = self._look(time_ns, value, before)
        if not reason:
            self._bad_since = None
            return
        if self._bad_since is None:
            self._bad_since = time_ns
        if time_ns - self._bad_since >= self._persistence_ns:
            self._found = reason

    def reason(self) -> Reason:
        """Return what was found since this was last asked."""
        reason, self._found = self._found, _FINE
        return reason or self._frozen()

    def _look(self, time_ns: int, value: float, before: tuple[int, float] | None) -> Reason:
        limits = self._limits
        if not math.isfinite(value):
            return Reason.FORCE_NOT_FINITE if self._beyond is Reason.FORCE else Reason.MALFORMED
        beyond, jumps = self._range.take(value), _FINE
        if limits.slew is not None and before is not None:
            h = (time_ns - before[0]) * _NS
            jumps = self._slew.take(abs(value - before[1]), h)
        return beyond or jumps

    def _frozen(self) -> Reason:
        if self._frozen_ns is None or self._last is None or not self.counts_frozen:
            self._still.forget()
            return _FINE
        travel, still_ns = self._limits.travel, self._last[0] - self._changed
        if travel is not None and not abs(self._against - self._against_then) > travel:
            self._still.show(0.0)
            return _FINE
        self._still.show(still_ns)
        return _FINE if still_ns < self._frozen_ns else Reason.SENSOR_STALE


class HealthCheck:
    """Age, status, losses and clock of one device.

    limits: Of the device.
    now_ns: When it joined, CLOCK_MONOTONIC.
    name: Of the device.
    """

    def __init__(self, limits: DeviceLimits, now_ns: int, name: str = "") -> None:
        self._limits = limits
        jump = None if limits.clock_jump is None else limits.ns("clock_jump") * _NS
        self._age = WatchedLimit(
            name, "age of the newest sample", "ms", Reason.SENSOR_STALE,
            maximum=limits.ns("stale"), scale=_NS_TO_MS,
        )  # fmt: skip
        self._jump = WatchedLimit(
            name, "jump of the clock", "ms", Reason.CLOCK, maximum=jump, scale=_S_TO_MS
        )
        counts = (
            (Head.STATUS, "growth of the status per second", limits.status_steps, Reason.STATUS),
            (Head.MALFORMED, "malformed datagrams per second", limits.malformed, Reason.MALFORMED),
            (Head.LOST, "lost samples per second", limits.lost, Reason.SENSOR_LOST),
            (Head.RESTARTS, "restarts per second", 0, Reason.CLOCK),
        )
        self._counts = {
            head: WatchedLimit(name, quantity, "1", reason, maximum=maximum)
            for head, quantity, maximum, reason in counts
            if maximum is not None
        }
        #: All of them.
        self.limits = (self._age, *self._counts.values(), self._jump)
        self._newest_ns, self._number = now_ns, -1.0
        self._offset = math.nan
        self._windows: dict[Head, deque[tuple[int, float]]] = {}
        self._found: set[Reason] = set()
        self._estop = False

    @property
    def heard(self) -> bool:
        """Whether a sample has come."""
        return self._number > 0

    def take(self, time_ns: int, row: list[float]) -> None:
        """Take a row of the ring."""
        limits = self._limits
        status = int(row[Head.STATUS])
        self._estop = bool(status & limits.estop_mask)
        if not row[Head.VALID] or status & limits.status_mask:
            self._found.add(Reason.STATUS)
        for head, limit in self._counts.items():
            self._count(head, limit, time_ns, row)
        if row[Head.NUMBER] != self._number:
            self._newest_ns = time_ns - round(row[Head.SAMPLE_AGE] * 1e9)
            self._number = row[Head.NUMBER]
            self._clock(time_ns, row[Head.DEVICE_TIME])

    def reasons(self, now_ns: int) -> set[Reason]:
        """Return what was found since this was last asked."""
        reasons, self._found = self._found, set()
        if self._estop:
            reasons.add(Reason.EMERGENCY_STOP)
        if stale := self._age.take(now_ns - self._newest_ns):
            reasons.add(stale)
        return reasons

    def _count(self, head: Head, limit: WatchedLimit, time_ns: int, row: list[float]) -> None:
        """Look by how much a count grew within a second."""
        window = self._windows.setdefault(head, deque())
        window.append((time_ns, row[head]))
        while time_ns - window[0][0] > _WINDOW_NS:
            window.popleft()
        if reason := limit.take(row[head] - window[0][1]):
            self._found.add(reason)

    def _clock(self, time_ns: int, device_time: float) -> None:
        if not math.isfinite(device_time):
            return
        offset = device_time - time_ns * _NS
        if reason := self._jump.take(abs(offset - self._offset)):
            self._found.add(reason)  # not, if there is none to compare with
        self._offset = offset


class PassivityObserver:
    """Sums the work of a force on a motion, and what was given beyond what was last taken.

    ``W`` is the work of the rig on the simulation. A passive rig gives at most what it took and
    stored; so ``D = W - min W``, summed as ``D = max(0, D + dW)``, stays below the largest energy
    that the contact stores. The force is that of the newest sample when a motion begins, which is
    how a simulation holds it over the step.

    sense: 1 or -1: power into the simulation is sense x force x velocity.

    References
    ----------
    Hannaford, Ryu: Time-domain passivity control of haptic interfaces, IEEE Transactions on
    Robotics and Automation 18(1), 2002: its observer, of one port; counted from its last minimum
    instead of the start, since a contact closes and opens.
    """

    def __init__(self, sense: int) -> None:
        self._sense = sense
        self._force, self._place = 0.0, math.nan
        #: D, J.
        self.given = 0.0

    def push(self, force: float) -> None:
        """Take a sample of the force, N."""
        if math.isfinite(force):
            self._force = force

    def move(self, position: float) -> None:
        """Take a sample of the motion, m."""
        if math.isfinite(self._place) and math.isfinite(position):
            self.given = max(0.0, self.given + self._sense * self._force * (position - self._place))
        self._place = position


Floats = npt.NDArray[np.float64]
#: Order of a derivative, and the degree of its polynomial.
_ACCELERATION, _JERK = 2, 3
_MOTIONS = {_ACCELERATION: "acceleration", _JERK: "jerk"}


def derivative_weights(samples: int, order: int, period: float) -> Floats:
    """Return what samples are multiplied by for a derivative in the middle of their window.

    It is that of the polynomial of degree ``order`` that fits them best (Savitzky, Golay:
    Analytical Chemistry 36, 1964). Noise of standard deviation ``s`` gives the derivative one of
    ``s`` times the norm of the weights, for many samples ``s sqrt(720 / n**5) / h**2`` of the
    second and ``s sqrt(100800 / n**7) / h**3`` of the third.
    """
    times = (np.arange(samples) - 0.5 * (samples - 1)) * period
    scale = times[-1]
    rows = np.linalg.pinv(np.vander(times / scale, order + 1, increasing=True))
    weights: Floats = rows[order] * math.factorial(order) / scale**order
    return weights


class MotionCheck:
    """Looks at the acceleration and the jerk of one signal.

    Samples count as evenly spaced, by the device's count: they arrive less evenly. After one that
    was lost the window is refilled.

    name, limits, unit: Of the signal; at least one of ``acceleration`` and ``jerk`` is given.
    period_ns: Of its device.
    Raises DescriptionError: if the window has too few samples.
    """

    def __init__(self, name: str, limits: SignalLimits, period_ns: int, unit: str = "m") -> None:
        period = period_ns * _NS
        samples = 1 + round(limits.ns("window") / period_ns)
        by_order = (
            (Reason.ACCELERATION, _ACCELERATION, limits.acceleration),
            (Reason.JERK, _JERK, limits.jerk),
        )
        requested = [
            (reason, order, maximum) for reason, order, maximum in by_order if maximum is not None
        ]
        samples_needed = 2 + max(order for _, order, _ in requested)
        if samples < samples_needed:
            raise DescriptionError(
                f"supervisor.signals.'{name}'.window: expected at least"
                f" {(samples_needed - 1) * period * 1e3:g} ms, {samples_needed} samples of the"
                " device, found"
                f" {limits.window!r}"
            )
        self._looks = [
            (
                WatchedLimit(
                    name, _MOTIONS[order], derived_unit(unit, order), reason, maximum=maximum
                ),
                derivative_weights(samples, order, period),
            )
            for reason, order, maximum in requested
        ]
        #: All of them.
        self.limits = tuple(limit for limit, _ in self._looks)
        self._persistence = limits.ns("persistence") / period_ns
        self._values: Floats = np.zeros(samples)
        self._filled = self._bad = 0
        self._number = -1
        self._found = Reason.OPERATION

    def take(self, number: int, value: float) -> None:
        """Take a sample by its number; one that is known already says nothing."""
        if number == self._number:
            return
        if number != self._number + 1 or not math.isfinite(value):
            self._filled = self._bad = 0
        self._number = number
        self._values[:-1] = self._values[1:]
        self._values[-1] = value
        self._filled += 1
        if self._filled < len(self._values):
            return
        reason = self._look()
        self._bad = self._bad + 1 if reason else 0
        if reason and self._bad > self._persistence:
            self._found = reason

    def reason(self) -> Reason:
        """Return what was found since this was last asked."""
        reason, self._found = self._found, Reason.OPERATION
        return reason

    def _look(self) -> Reason:
        reasons = [limit.take(abs(float(weights @ self._values))) for limit, weights in self._looks]
        return next((reason for reason in reasons if reason), Reason.OPERATION)


_Take = Callable[[int, float], None]


class RigChecks:
    """Hands each sample of each signal to the checks that want it.

    settings: Of the rig.
    devices: All of them.
    Raises DescriptionError: if a table names a signal that no device has; all are told together.
    """

    def __init__(self, settings: SupervisorSettings, devices: Iterable[JoiningDevice]) -> None:
        self._places: dict[str, tuple[str, int, RingSignal]] = {}
        self._periods: dict[str, int] = {}
        for facts in devices:
            self._periods[facts.device] = facts.period_ns
            for name, column, signal in facts.columns_of_signals():
                self._places[name] = (facts.device, column, signal)
        self._takers: dict[str, list[tuple[int, _Take]]] = {}
        self._moved: dict[str, list[tuple[int, MotionCheck]]] = {}
        problems = [
            f"supervisor.{key}: no device has a signal"
            f" '{name}'{choices_for(name, self._places, 'signal')}"
            for key, name in _named_signals(settings)
            if name not in self._places
        ]
        if problems:
            raise DescriptionError(*problems)
        self._held_against: list[SignalCheck] = []
        self._signals = {
            n: self._signal(n, signal_limits) for n, signal_limits in settings.signals.items()
        }
        self._motions = {
            n: self._motion(n, signal_limits)
            for n, signal_limits in settings.signals.items()
            if signal_limits.acceleration is not None or signal_limits.jerk is not None
        }
        self.energies = {
            n: self._energy(signal_limits) for n, signal_limits in settings.energy.items()
        }
        self._given = {
            n: WatchedLimit(
                n, "energy", "J", Reason.ENERGY, maximum=signal_limits.limit, is_main=True
            )
            for n, signal_limits in settings.energy.items()
        }
        self._counts_energy = False

    @property
    def limits(self) -> Iterator[WatchedLimit]:
        """All limits of signals, motions and energy."""
        yield from self._given.values()
        for check in self._signals.values():
            yield from check.limits
        for motion in self._motions.values():
            yield from motion.limits

    def take(self, device: str, time_ns: int, row: list[float]) -> None:
        """Take a row of a device's ring."""
        for column, take in self._takers.get(device, ()):
            take(time_ns, row[column])
        for column, check in self._moved.get(device, ()):
            check.take(int(row[Head.NUMBER] + row[Head.LOST]), row[column])

    def reasons(self) -> Iterator[tuple[str, Reason]]:
        """Yield each check's name with what is wrong, ``OPERATION`` where nothing is."""
        for name, check in self._signals.items():
            yield name, check.reason()
        for name, observer in self.energies.items():
            limit, is_beyond = self._given[name], self._given[name].take(observer.given)
            if not self._counts_energy:
                limit.forget()
            yield name, is_beyond

    def motion_reasons(self) -> Iterator[tuple[str, Reason]]:
        """Yield the same of accelerations and jerks of signals."""
        for name, motion in self._motions.items():
            yield name, motion.reason()

    def enter(self, state: State) -> None:
        """Let checks count, or forget what they counted, as their table has it for a state."""
        for check in self._held_against:
            check.counts_frozen = holds(Check.FROZEN, state)
        self._counts_energy = holds(Check.ENERGY, state)
        if not self._counts_energy:
            for observer in self.energies.values():
                observer.given = 0.0

    def _listen(self, name: str, take: _Take) -> None:
        device, column, _ = self._places[name]
        self._takers.setdefault(device, []).append((column, take))

    def _signal(self, name: str, limits: SignalLimits) -> SignalCheck:
        check = SignalCheck(limits, self._places[name][2].unit, name)
        if limits.against is not None:
            self._held_against.append(check)
            self._listen(limits.against, lambda _, value: check.move(value))
        self._listen(name, check.take)
        return check

    def _motion(self, name: str, limits: SignalLimits) -> MotionCheck:
        device, column, facts = self._places[name]
        check = MotionCheck(name, limits, self._periods[device], facts.unit)
        self._moved.setdefault(device, []).append((column, check))
        return check

    def _energy(self, limits: EnergyLimits) -> PassivityObserver:
        observer = PassivityObserver(limits.sense)
        self._listen(limits.force, lambda _, value: observer.push(value))
        self._listen(limits.motion, lambda _, value: observer.move(value))
        return observer


def _named_signals(settings: SupervisorSettings) -> Iterator[tuple[str, str]]:
    """Yield the signals that tables name, with where."""
    yield from (("signals", name) for name in settings.signals)
    yield from (("commands", name) for name in settings.commands)
    for name, limits in settings.signals.items():
        if limits.against is not None:
            yield f"signals.{name}.against", limits.against
    for name, energy in settings.energy.items():
        yield f"energy.{name}.force", energy.force
        yield f"energy.{name}.motion", energy.motion
