"""What the process of a device does about a supervisor."""

from __future__ import annotations

import math
import os
import time

import numpy as np
import numpy.typing as npt

from orchestrator.devices import DeviceConnector
from orchestrator.engine import DeviceBlock, SampleFacts
from orchestrator.simunits.devices.description import DeviceFacts
from orchestrator.supervisor.columns import DeviceFacts as WatchedFacts
from orchestrator.supervisor.columns import Signal
from orchestrator.supervisor.seat import Seat

#: A command that does not stand so long after the run is given up: the device is silent.
_REST_S = 3.0
_Array = npt.NDArray[np.float64]


def supervised(component: str, facts: DeviceFacts) -> Supervision | None:
    """Join the supervisor that the settings of a device name, if they do.

    Raises
    ------
    DeviceError
        If there is none, or it does not take the device.
    """
    rig = facts.settings.supervisor
    return Supervision(component, facts, rig) if rig else None


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

    def command(self, wanted: _Array, number: int) -> list[float]:
        """Return what is sent in the place of the newest command."""
        sent = self._seat.command(wanted.tolist(), number)
        self.sent[:] = sent
        return sent

    def saw(self, facts: SampleFacts, values: _Array) -> None:
        """Leave a trace of a sample."""
        self._seat.saw(facts, values.tolist())

    def watch(self, block: DeviceBlock) -> None:
        """Give a sign of life, look for those of others; end a run that the rig has left."""
        self._seat.watch(block.commands_given)
        reason = self._seat.released
        if reason and not block.lost:
            block.lose(f"the supervisor brought the rig to rest: {reason.what}; {reason.advice}")

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
    """Return what a supervisor is told of a device.

    Parameters
    ----------
    component, facts
        The device.
    pid, engine
        Numbers of its process and of that of the simulation.
    """
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
    return [Signal(name, port.unit, port.start, low, high) for name in names]
