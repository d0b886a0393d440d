"""What the process of a device does with commands where no supervisor watches it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import CommandStaleError, DeviceError, Reason
from orchestrator.engine import DeviceBlock, SampleFacts
from orchestrator.rig.device_units.description import DeviceFacts
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.supervisor.gate import CommandGate, GateTimes, Orders
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

    Parameters
    ----------
    facts
        The device.
    clock
        CLOCK_MONOTONIC in ns.
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
