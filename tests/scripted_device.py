"""A device on a loopback socket whose peer is the test, and one that fails as it is told."""

import socket
import struct
import threading
import time
from dataclasses import replace
from functools import partial
from typing import Literal

from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
    WireFormatError,
)

#: Sequence, device time, valid; then one measurement. A command is one number.
SAMPLE = struct.Struct("<Id?d")
COMMAND = struct.Struct("<d")
#: The first samples of a peer have the times that its rate has.
MEASURED = 20


class ScriptedSettings(DeviceSettings):
    port: int
    limit: float = 10.0
    rate: float = 1000.0
    frame: str | None = None
    unit: str = "m"
    fails: Literal["", "open", "later"] = ""


class Scripted(Device):
    """Sends its command to a peer, and receives samples from it."""

    Settings = ScriptedSettings
    sequence_period = 2**32

    @classmethod
    def connectors(cls, settings):
        limits = {"minimum": -settings.limit, "maximum": settings.limit}
        return DeviceConnectors(
            (DeviceConnector("u", settings.unit, "Command", frame=settings.frame, **limits),),
            (DeviceConnector("y", settings.unit, "Measurement", frame=settings.frame),),
            rate=settings.rate,
        )

    def open(self):
        if self.settings.fails == "open":
            raise DeviceError("the rig is locked; release its emergency stop")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", self.settings.port))
        self.socket.send(b"hello")
        self.count = 0

    def close(self):
        if hasattr(self, "socket"):
            self.socket.close()

    def receive(self, timeout_s):
        self.socket.settimeout(timeout_s)
        try:
            data = self.socket.recv(2048)
        except TimeoutError:
            return None
        self.count += 1
        if self.settings.fails == "later" and self.count > 30:
            raise DeviceError("the link broke")
        if len(data) != SAMPLE.size:
            raise WireFormatError(f"expected {SAMPLE.size} bytes, found {len(data)}")
        sequence, moment, valid, y = SAMPLE.unpack(data)
        return Received((y,), moment, sequence, valid)

    def send(self, values):
        self.socket.send(COMMAND.pack(*values))

    def safe(self, values):
        return (0.0,)


class Answering(Scripted):
    """The same, as a device whose datagrams are the clock."""

    answers = True


class Undated(Scripted):
    """The same without a time of its own."""

    def receive(self, timeout_s):
        found = super().receive(timeout_s)
        return None if found is None else replace(found, device_time=None)


class Unasked(Answering):
    """The same, which takes a rate at any time and comes to rest by a ramp of 1/s."""

    takes_unasked = True

    @classmethod
    def connectors(cls, settings):
        command = DeviceConnector("u", "m", "Command", rests="at zero", deceleration=1.0)
        return replace(super().connectors(settings), inputs=(command,))


class Peer:
    """Stands for the rig: follows its command, and sends 1 + 2 * command a thousand times a second.

    ``script`` may replace the datagrams of a sample, by its number: bytes, or what makes
    them then. ``silent`` keeps it silent;
    ``anew`` lets its count and its clock begin again.
    """

    def __init__(self, script=None):
        self.script = script or {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.commands, self.life, self.born = [], 0, time.monotonic()
        self.was_silent = False
        self.silent, self.anew = threading.Event(), threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        address, number, due = None, 0, time.monotonic()
        while not self._ended.is_set():
            try:
                self.socket.settimeout(max(1e-4, due - time.monotonic()) if address else 0.05)
                data, address = self.socket.recvfrom(2048)
                if len(data) == COMMAND.size:
                    self.commands.append(COMMAND.unpack(data)[0])
            except TimeoutError:
                pass
            except ConnectionRefusedError:
                continue
            if address is None:
                due = self.born = time.monotonic()
                continue
            if (now := time.monotonic()) < due:
                continue
            due = max(due + 1e-3, now)
            if self.anew.is_set():
                self.anew.clear()
                self.born, number, self.life = now, 0, self.life + 1
            if self.silent.is_set():
                self.was_silent = True
                continue
            for each in self.script.get(number, (partial(self.sample, number),)):
                self.socket.sendto(each() if callable(each) else each, address)
            number += 1

    def sample(self, number, valid=True, y=None):
        value = 1.0 + 2.0 * (self.commands[-1] if self.commands else 0.0) if y is None else y
        moment = (
            number * 1e-3
        )  # its rate is measured by the first; then a busy machine may hold it up
        if number >= MEASURED:
            moment = time.monotonic() - self.born
        return SAMPLE.pack(number, moment, valid, value + 1e-6 * self.life)

    def wait_for(self, told, seconds=5.0):
        end = time.monotonic() + seconds
        while not told():
            assert time.monotonic() < end, "the peer did not see it"
            time.sleep(0.001)

    def settle(self):
        """Wait until a command that was on its way has come."""
        seen = -1
        while seen != len(self.commands):
            seen = len(self.commands)
            time.sleep(0.05)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        self.socket.close()
