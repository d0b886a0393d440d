"""What the process of a device does with commands, with a supervisor and without."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import CommandStaleError, DeviceError, Reason
from orchestrator.engine import DeviceBlock, SampleFacts
from orchestrator.rig.device_units.description import DeviceFacts
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.supervisor.checks import JoiningDevice as WatchedFacts
from orchestrator.rig.supervisor.checks import RingSignal
from orchestrator.rig.supervisor.gate import CommandGate, GateTimes, Orders
from orchestrator.rig.supervisor.seat import Seat
from orchestrator.rig.supervisor.states import State

#: A command that does not stand after so long is given up: the device is silent.
_REST_S = 3.0
#: A ramp has its whole deceleration after so long, s.
_ONSET_S = 0.04
#: A command may be held back for so long, and for so many periods.
_PERSISTENCE_S, _PERSISTENCE_PERIODS = 0.04, 3
#: A command that comes to rest is not to be followed by another.
_FOREVER_NS = 1 << 62
#: Fewer cycles without a command say nothing of a simulation.
_LEAST_CYCLES = 3
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _ConnectorLimits:
    """The limits of one scalar of a command, as its connector has them."""

    port: DeviceConnector
    period: float
    #: The range is kept by the unit, in the run.
    minimum: float | None = None
    maximum: float | None = None
    acceleration: float | None = None
    jerk: float | None = None

    @property
    def velocity(self) -> float:
        return self.port.speed

    @property
    def rests(self) -> str:
        return self.port.rests

    @property
    def to_zero(self) -> float:
        return self.port.deceleration

    def stop(self, *, quick: bool) -> tuple[float, float]:
        del quick
        return self.port.deceleration, self.port.deceleration / _ONSET_S

    def ns(self, key: str) -> int:
        assert key == "persistence"  # noqa: S101 - nothing else is asked for
        return round(1e9 * max(_PERSISTENCE_S, _PERSISTENCE_PERIODS * self.period))


class OwnGate:
    """Keeps the speeds of commands, and brings them to rest when the run gives none any more.

    facts: The device.
    clock: CLOCK_MONOTONIC in ns.
    """

    def __init__(self, facts: DeviceFacts, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        ports, self._settings = facts.ports, facts.settings
        self.period = 1.0 / ports.rate
        axes = [port for port in ports.inputs for _ in range(port.size)]
        least = _LEAST_CYCLES * self.period
        asked = min(self._settings.command_stale_after, self._settings.own_watchdog)
        self._stale = max(asked, least)
        times = GateTimes(0, 0, round(self._stale * 1e9))
        limits = [_ConnectorLimits(port, self.period) for port in axes]
        start = [port.start for port in axes]
        self._gate = CommandGate(limits, start, times, round(self.period * 1e9))
        self.sent: _Array = np.array(start)
        self._stopped_ns: int | None = None
        self._patience_ns = 0
        self._came, self._number, self._heard_ns = False, 0, clock()
        self._silence_ns = round((self._stale + self._settings.connect_timeout) * 1e9)

    @property
    def trusted(self) -> bool:
        """Whether the simulation leads the device."""
        return not self._gate.stopping

    @property
    def stopping(self) -> bool:
        """Whether the command comes to rest, or stands after that."""
        return self._gate.stopping

    @property
    def behind(self) -> bool:
        """Whether what is sent still goes towards the newest command."""
        return self._gate.behind

    @property
    def is_over(self) -> bool:
        """Whether the command stands, or does not come to."""
        self._stop(Reason.OPERATION)
        return self._gate.at_rest or (self._clock() - (self._stopped_ns or 0)) * 1e-9 > _REST_S

    def command(self, wanted: _Array, number: int, step_ns: int) -> list[float]:
        """Return what is sent in the place of the newest command; see :class:`CommandGate`."""
        self._expect(number, step_ns)
        orders, now = self._orders()
        sent = self._gate.command(wanted.tolist(), number, orders, now, self._patience_ns)
        self.sent[:] = sent
        return sent

    def take_back(self) -> None:
        """Take note that the device did not take what it was sent last."""
        self._gate.take_back()

    def saw(self, facts: SampleFacts, values: _Array) -> None:
        """Say how many commands were held back."""
        del values
        facts.shaped, self._came = self._gate.shaped, True

    def watch(self, block: DeviceBlock, step_ns: int) -> None:
        """Look whether the run gives commands."""
        if not block.commands_given:
            return
        self._expect(block.commands_given, step_ns)
        if not self._gate.stopping:
            self._look(block.commands_given)
        reason = self._gate.reason
        if not reason:
            return
        if self._stopped_ns is None:
            self._stopped_ns = self._clock()
        if self.is_over:
            raise self._error(reason)

    def _look(self, number: int) -> None:
        """Count the age of a command in samples: without them a run may wait for this clock."""
        orders, now = self._orders()
        if self._came or number != self._number:
            self._came, self._number, self._heard_ns = False, number, now
            self._gate.watch(orders, number, now, self._patience_ns)
        elif now - self._heard_ns > self._silence_ns:
            self._gate.trip(Reason.COMMAND_STALE, now)

    def strike(self, reason: Reason) -> None:
        """Take note of what was found of the device."""
        self._stop(reason)

    def run_ended(self, *, regularly: bool) -> None:
        """Tell nobody: :attr:`is_over` begins the way to rest, in the thread that sends."""

    def leave(self) -> None:
        """Nobody has to be told."""

    def _stop(self, reason: Reason) -> None:
        if self._stopped_ns is None:
            self._stopped_ns = self._clock()
            self._gate.trip(reason, self._stopped_ns)

    def _expect(self, number: int, step_ns: int) -> None:
        """Allow for the step of the run; its first one may take as long as a device's opening."""
        first = round(self._settings.connect_timeout * 1e9)
        self._patience_ns = step_ns if number > 1 else first
        if self._gate.stopping:
            self._patience_ns = _FOREVER_NS

    def _orders(self) -> tuple[Orders, int]:
        now = self._clock()
        return Orders(State.ACTIVE, 0, now), now

    def _error(self, reason: Reason) -> DeviceError:
        if reason is not Reason.COMMAND_STALE:
            return DeviceError(f"{reason.what}; its commands were brought to rest; {reason.advice}")
        return CommandStaleError(
            f"the run gave no new command for {round(self._stale / self.period)} of its cycles"
            f" ({self._stale:g} s, command_stale_after) beyond a step: its commands were brought to"
            " rest, and it gets no more signs of life; look at what the run waited for"
        )


#: The first command is that of the initialisation: from the second on the run steps.
_STEPS = 2


def gate_of(component: str, facts: DeviceFacts) -> DeviceSupervision | OwnGate:
    """Join the supervisor that the settings of a device name; else it looks after itself."""
    rig = facts.settings.supervisor
    return DeviceSupervision(component, facts, rig) if rig else OwnGate(facts)


class DeviceSupervision:
    """Passes what a device sends through its seat at the supervisor.

    component, facts: The device.
    rig: Whose supervisor.
    """

    def __init__(self, component: str, facts: DeviceFacts, rig: str) -> None:
        watched = watched_facts(component, facts, os.getpid(), os.getppid())
        self.period = 1.0 / facts.ports.rate
        self._seat = Seat(rig, watched)
        #: What was sent last.
        self.sent: _Array = np.array([signal.start for signal in watched.commands])
        self._ended_at = math.inf
        self._number, self._fresh_at = 0, time.monotonic()

    @property
    def trusted(self) -> bool:
        """Whether the simulation may take what the device measures for its own."""
        return self._seat.trusted

    @property
    def stopping(self) -> bool:
        """Whether the command comes to rest, or stands after that."""
        return self._seat.stopping

    @property
    def is_over(self) -> bool:
        """Whether the command stands after the run has ended."""
        return self._seat.at_rest or time.monotonic() - self._ended_at > _REST_S

    @property
    def behind(self) -> bool:
        """Whether what is sent still goes towards the newest command."""
        return self._seat.behind

    def command(self, wanted: _Array, number: int, step_ns: int) -> list[float]:
        """Return what is sent in the place of the newest command."""
        del step_ns
        sent = self._seat.command(wanted.tolist(), number)
        self.sent[:] = sent
        return sent

    def take_back(self) -> None:
        """Take note that the device did not take what it was sent last."""
        self._seat.take_back()

    def saw(self, facts: SampleFacts, values: _Array) -> None:
        """Leave a trace of a sample."""
        facts.shaped = self._seat.shaped
        self._seat.saw(facts, values.tolist())

    def watch(self, block: DeviceBlock, step_ns: int) -> None:
        """Give a sign of life, look for those of others; end a run that the rig has left."""
        del step_ns
        number, now = block.commands_given, time.monotonic()
        self._seat.watch(number)
        if number != self._number or (number < _STEPS and self._seat.is_watched):
            self._number, self._fresh_at = number, now
        if self._seat.at_rest and now - self._fresh_at > _REST_S and number:
            raise DeviceError(
                f"it stands, and the run gave no new command for {_REST_S:g} s: it gets no more"
                " signs of life; look at what the run waited for"
            )
        reason = self._seat.released
        if reason and not block.lost:
            block.lose(f"the supervisor brought the rig to rest: {reason.what}; {reason.advice}")

    def strike(self, reason: Reason) -> None:
        """Tell the supervisor what was found of the device."""
        self._seat.strike(reason)

    def run_ended(self, *, regularly: bool) -> None:
        """Take note that the run is over, or gone."""
        self._ended_at = time.monotonic()
        self._seat.run_ended(regularly=regularly)

    def leave(self) -> None:
        """Leave the supervisor."""
        self._seat.leave()


def watched_facts(
    component: str, facts: DeviceFacts, pid: int = 0, engine: int = 0
) -> WatchedFacts:
    """Return what a supervisor is told of a device."""
    ports = facts.ports
    return WatchedFacts(
        device=component,
        measured=tuple(each for port in ports.outputs for each in _signals(port)),
        commands=tuple(each for port in ports.inputs for each in _signals(port)),
        period_ns=round(1e9 / ports.rate),
        pid=pid,
        engine=engine,
        answers=facts.kind.answers,
    )


def _signals(port: DeviceConnector) -> list[RingSignal]:
    low, high = port.range
    names = [f"{port.name}[{i}]" for i in range(port.size)] if port.shape else [port.name]
    fast = port.speed if math.isfinite(port.speed) else None
    return [RingSignal(name, port.unit, port.start, low, high, fast) for name in names]
