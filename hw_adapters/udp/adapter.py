"""The adapter for rigs of one's own over UDP."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import Field

from hw_adapters.counter import Counter, TakenCounter
from hw_adapters.datagram_socket import DatagramSocket, PeerSearch, connected
from hw_adapters.udp.codec import Codec
from hw_adapters.udp.layout import Layout
from orchestrator.rig.devices import Device, DeviceConnectors, DeviceSettings, Received

#: So many datagrams of one sender are those of the rig, where its port is not known.
_ENOUGH = 3


class UdpSettings(DeviceSettings):
    """Where the rig is, and its datagrams.

    Parameters
    ----------
    host, port
        Here, where the rig sends to.
    device_host, device_port
        Of the rig; port 0: whoever of that host sends such datagrams, as a rig with another port
        for each run. If two do, it is an error.
    rate
        Datagrams per second that the rig sends, Hz.
    measurements
        What the rig sends.
    commands
        What it takes; without it nothing is sent.
    """

    host: str = "127.0.0.1"
    port: int = Field(ge=0, le=65535)
    device_host: str = "127.0.0.1"
    device_port: int = Field(default=0, ge=0, le=65535)
    rate: float = Field(gt=0.0, allow_inf_nan=False)
    measurements: Layout
    commands: Layout | None = None


class UdpDevice(Device):
    """A rig of your own, with datagrams that its settings declare."""

    Settings = UdpSettings

    def __init__(self, settings: UdpSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._measurements = Codec(settings.measurements)
        self.sequence_period = self._measurements.sequence_period
        self._commands = None if settings.commands is None else Codec(settings.commands)
        self._socket: DatagramSocket | None = None
        self._begin_clocks()

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the signals of both datagrams."""
        options = cast("UdpSettings", settings)
        commands = options.commands.signals if options.commands else ()
        return DeviceConnectors(
            inputs=tuple(field.connector for field in commands),
            outputs=tuple(field.connector for field in options.measurements.signals),
            rate=options.rate,
        )

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return where each signal stands in the datagram, as ``byte 20, f64``."""
        return Codec(cast("UdpSettings", settings).measurements).positions

    def _begin_clocks(self) -> None:
        self._clock = Counter(self._measurements.time_period)
        self._taken = TakenCounter(self._measurements.taken_period)

    def open(self) -> None:
        """Bind the port; the rig is heard of by its first datagram."""
        self._begin_clocks()
        settings = self._settings
        peer = (settings.device_host, settings.device_port) if settings.device_port else None
        self._socket = DatagramSocket(settings.host, settings.port, peer, settings.device_host)
        self._search = PeerSearch(_ENOUGH, 0, "set 'device_port'")

    def close(self) -> None:
        """Give the port back."""
        if self._socket is not None:
            self._socket.close()

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next datagram."""
        wire, deadline = connected(self._socket), time.monotonic() + timeout_s
        while True:
            datagram = wire.receive(max(deadline - time.monotonic(), 0.0))
            if datagram is None:
                return None
            message = self._measurements.decode(datagram[0])
            if wire.peer is not None:
                break
            if self._search.offer(datagram[1], message.sequence or 0):
                wire.lock_to(datagram[1])
                break
        now = None if message.time_s is None else self._clock.count(message.time_s)
        status = message.status or 0
        taken = None if message.taken is None else self._taken.count(message.taken)
        return Received(message.values, now, message.sequence, status == 0, status, taken=taken)

    def account(self) -> str:
        """Say which rig was taken, and what others sent."""
        return "" if self._socket is None else self._socket.account()

    def send(self, values: Sequence[float]) -> None:
        """Send a command with the next number and CLOCK_MONOTONIC."""
        if self._commands is not None:
            number = self._taken.send()
            datagram = self._commands.encode(values, number, time.monotonic())
            connected(self._socket).send(datagram)
