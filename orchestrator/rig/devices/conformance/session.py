"""A device and its emulator, and what was received."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.rig.devices.conformance.bench import Bench
from orchestrator.rig.devices.conformance.emulator_process import EmulatorProcess
from orchestrator.rig.devices.connectors import DeviceConnector
from orchestrator.rig.devices.device import Device
from orchestrator.rig.devices.received import Received
from orchestrator.rig.devices.registry import device_class, read_settings

#: How long is waited for one sample: a busy machine must not look like a dead device.
_WAIT_S = 1.0
#: So many samples may have left before a fault began.
_UNDER_WAY = 10
#: Of a range and of a speed, what one command moves.
_SHARE_OF_RANGE, _SHARE_OF_SPEED = 1e-3, 0.2


@dataclass(slots=True)
class Heard:
    """What came of some calls of ``receive``, in order.

    Parameters
    ----------
    samples
        That came.
    refused
        What was no sample.
    silences
        Calls that nothing came in.
    """

    samples: list[Received] = field(default_factory=list)
    refused: list[WireFormatError] = field(default_factory=list)
    silences: int = 0

    @property
    def steps(self) -> list[int]:
        """Differences of the sequence numbers of samples that follow each other."""
        found = [s.sequence for s in self.samples if s.sequence is not None]
        return [b - a for a, b in pairwise(found)]


@dataclass(frozen=True, slots=True)
class Session:
    """An emulator that runs and an adapter that is open.

    Parameters
    ----------
    device
        Opened.
    emulator
        Its peer.
    """

    device: Device
    emulator: EmulatorProcess

    def start_values(self) -> list[float]:
        """Return what is commanded before a run gives anything."""
        return self._commands(0)

    def strike(self) -> None:
        """Let the later fault begin; samples that were under way are heard, and forgotten."""
        os.kill(self.emulator.pid, signal.SIGUSR1)
        self.hear(_UNDER_WAY, 1.0)

    def stir(self, samples: int) -> Heard:
        """Receive so many samples while each command goes a little on, and then back."""
        heard = Heard()
        for i in range(samples):
            values = self._commands(min(i, samples - i))
            if not self.device.answers:
                self.device.send(values)
            one = hear(self.device, 1, _WAIT_S, values)
            heard.samples += one.samples
            heard.refused += one.refused
        return heard

    def _commands(self, step: int) -> list[float]:
        ports = self.device.connectors(self.device.settings)
        return [
            connector.start + step * _stride(connector, ports.rate)
            for connector in ports.inputs
            for _ in range(connector.size)
        ]

    def hear(self, samples: int, seconds: float = 5.0, *, until_silent: bool = False) -> Heard:
        """Receive until there are so many samples, or so much time has passed."""
        return hear(self.device, samples, seconds, self.start_values(), until_silent=until_silent)


def _stride(connector: DeviceConnector, rate: float) -> float:
    room = connector.maximum - connector.start
    stride = _SHARE_OF_RANGE * (room if math.isfinite(room) else 1.0)
    return min(stride, _SHARE_OF_SPEED * connector.speed / rate)


def hear(
    device: Device,
    samples: int,
    seconds: float,
    answer: Sequence[float],
    *,
    until_silent: bool = False,
) -> Heard:
    """Receive, and answer where the device wants to be answered.

    Parameters
    ----------
    device
        Opened.
    samples
        It is enough when so many have come.
    seconds
        It is given up after so long.
    answer
        To each sample, of a device that is to be answered.
    until_silent
        It is enough as well when nothing came for 1 s, after something did.
    """
    heard, end = Heard(), time.monotonic() + seconds
    while len(heard.samples) < samples and time.monotonic() < end:
        try:
            received = device.receive(_WAIT_S)
        except WireFormatError as error:
            heard.refused.append(error)
            continue
        if received is None:
            heard.silences += 1
            if until_silent and heard.samples:
                break
            continue
        heard.samples.append(received)
        if device.answers:
            device.send(answer)
    return heard


@contextmanager
def session(name: str, bench: Bench, *faults: str, later: str = "") -> Iterator[Session]:
    """Start an emulator with faults, now and after a strike; open the adapter on it; end both."""
    wiring = bench.wiring()
    kind = device_class(name)
    settings = read_settings(kind, wiring.settings, f"bench of {name}")
    told = [part for fault in faults for part in ("--fault", fault)]
    told += ["--on-signal", later] if later else []
    device = kind(settings)
    with EmulatorProcess(bench.emulator, [*wiring.arguments, *told]) as emulator:
        try:
            device.open()
            yield Session(device, emulator)
        finally:
            device.close()
