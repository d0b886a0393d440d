"""What the process of a device does about a supervisor."""

from __future__ import annotations

import math
import os
import time

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DeviceError, Reason
from orchestrator.engine import DeviceBlock, SampleFacts
from orchestrator.rig.device_units.description import DeviceFacts
from orchestrator.rig.device_units.own_gate import OwnGate
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.supervisor.columns import DeviceFacts as WatchedFacts
from orchestrator.rig.supervisor.columns import Signal
from orchestrator.rig.supervisor.seat import Seat

#: A command that does not stand so long after the run is given up: the device is silent.
_REST_S = 3.0
#: The first command is that of the initialisation: from the second on the run steps.
_STEPS = 2
_Array = npt.NDArray[np.float64]


def gate_of(component: str, facts: DeviceFacts) -> Supervision | OwnGate:
    """Join the supervisor that the settings of a device name; else it looks after itself."""
    rig = facts.settings.supervisor
    return Supervision(component, facts, rig) if rig else OwnGate(facts)


class Supervision:
    """Passes what a device sends through its seat at the supervisor.

    Parameters
    ----------
    component, facts
        The device.
    rig
        Whose supervisor.
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


def _signals(port: DeviceConnector) -> list[Signal]:
    low, high = port.range
    names = [f"{port.name}[{i}]" for i in range(port.size)] if port.shape else [port.name]
    fast = port.speed if math.isfinite(port.speed) else None
    return [Signal(name, port.unit, port.start, low, high, fast) for name in names]
