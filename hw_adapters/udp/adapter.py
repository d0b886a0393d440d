"""The adapter for rigs of one's own over UDP."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import cast

from pydantic import Field

from hw_adapters.counter import Counter
from hw_adapters.datagram_socket import DatagramSocket, connected
from hw_adapters.udp.codec import Codec
from hw_adapters.udp.layout import Layout
from orchestrator.rig.devices import Device, DeviceConnectors, DeviceSettings, Received


class UdpSettings(DeviceSettings):
    """Where the rig is, and its datagrams.

    Parameters
    ----------
    host, port
        Here, where the rig sends to.
    device_host, device_port
        Of the rig; port 0: it is whoever sends first, as a rig with another port for each run.
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
    """A rig that sends and takes the datagrams that its settings declare."""

    Settings = UdpSettings

    def __init__(self, settings: UdpSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._measurements = Codec(settings.measurements)
        self.sequence_period = self._measurements.sequence_period
        self._commands = None if settings.commands is None else Codec(settings.commands)
        self._socket: DatagramSocket | None = None
        self._sent = 0
        self._begin_clocks()

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the signals of both datagrams."""
        given = cast("UdpSettings", settings)
        commands = given.commands.signals if given.commands else ()
        return DeviceConnectors(
            inputs=tuple(field.connector for field in commands),
            outputs=tuple(field.connector for field in given.measurements.signals),
            rate=given.rate,
        )

    def _begin_clocks(self) -> None:
        self._clock = Counter(self._measurements.time_period)

    def open(self) -> None:
        """Bind the port; the rig is heard of by its first datagram."""
        self._begin_clocks()
        given = self._settings
        peer = (given.device_host, given.device_port) if given.device_port else None
        self._socket = DatagramSocket(given.host, given.port, peer)

    def close(self) -> None:
        """Give the port back."""
        if self._socket is not None:
            self._socket.close()

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next datagram."""
        found = connected(self._socket).receive(timeout_s)
        if found is None:
            return None
        message = self._measurements.decode(found[0])
        if connected(self._socket).peer is None:
            connected(self._socket).lock_to(found[1])
        now = None if message.time_s is None else self._clock.count(message.time_s)
        status = message.status or 0
        return Received(message.values, now, message.sequence, status == 0, status)

    def send(self, values: Sequence[float]) -> None:
        """Send a command with the next number and CLOCK_MONOTONIC."""
        if self._commands is not None:
            datagram = self._commands.encode(values, self._sent, time.monotonic())
            connected(self._socket).send(datagram)
            self._sent += 1
