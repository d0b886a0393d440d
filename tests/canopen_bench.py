"""Emulated drives without a wire, in a time of their own: what is sent is answered at once."""

import math
from collections import deque

from hw_adapters.canopen_cia402 import adapter, line, sdo, set_up
from hw_adapters.canopen_cia402.adapter import CanopenCia402
from hw_adapters.canopen_cia402.codec import CanFrame
from hw_adapters.canopen_cia402.emulated_drive import EmulatedDrive
from hw_adapters.canopen_cia402.emulated_line import EmulatedLine
from hw_adapters.canopen_cia402.servo import Plate, Tuning
from hw_adapters.canopen_cia402.settings import CanopenSettings
from hw_adapters.canopen_cia402.shaft import Shaft

COUNTS = 65536
DRIVE = {
    "position_scale": math.tau / COUNTS,
    "torque_scale": 1e-3,
    "velocity_limit": 50.0,
    "torque_limit": 1.0,
    "quick_stop_deceleration": 500.0,
}


def drive(name="motor", node=1, mode="csv", **more):
    return DRIVE | {"name": name, "node": node, "mode": mode} | more


def settings(*drives, **more):
    patient = {"pace": "answers", "answer_timeout": 0.05, "heartbeat_timeout_ms": 10_000}
    return CanopenSettings(channel="none", drives=drives, **patient | more)


class BenchClock:
    """Stands in for the module ``time``: only waiting takes time, and a look at it a little."""

    def __init__(self):
        self._now = 1000.0

    def monotonic(self):
        self._now += 1e-7
        return self._now

    def sleep(self, seconds):
        self._now += max(seconds, 0.0)


CLOCK = BenchClock()


class FakeBus:
    """Between adapter and emulated drives; ``quiet`` lets nothing through any more."""

    def __init__(self, line):
        self.line, self.waiting, self.sent, self.quiet = line, deque(), [], False

    def send(self, frames):
        for frame in frames:
            self.sent.append(frame)
            now = CLOCK.monotonic()
            self.push(self.line.take(frame.identifier, frame.data, now))
            self.line.tick(now)
            self.push(self.line.answers())

    def push(self, frames):
        if not self.quiet:
            self.waiting.extend(CanFrame(identifier, data) for identifier, data in frames)

    def receive(self, deadline):
        if self.waiting:
            return self.waiting.popleft()
        CLOCK.sleep(min(deadline - CLOCK.monotonic(), 1e-3))
        self.line.tick(CLOCK.monotonic())
        self.push(self.line.answers())
        return self.waiting.popleft() if self.waiting else None

    def trouble(self):
        return ""

    def close(self):
        pass


class Bench:
    """An adapter on emulated drives, and what they told to their log."""

    def __init__(self, monkeypatch, given, *, shaft=None, tuning=None):
        self.log = []
        self.shaft = shaft or Shaft(1e-3)
        tuned = tuning or Tuning(1e-3, current_lag=0.0)
        plate = Plate(COUNTS, sync_tolerance=1_000_000)
        self.drives = [
            EmulatedDrive(d.node, self.shaft, tuned, plate, self._tell) for d in given.drives
        ]
        for module in (adapter, line, sdo, set_up):
            monkeypatch.setattr(module, "time", CLOCK)
        self.bus = FakeBus(EmulatedLine(self.drives, by_clock=False))
        monkeypatch.setattr(adapter, "open_bus", lambda *_: self.bus)
        self.device = CanopenCia402(given)

    def _tell(self, event, **values):
        self.log.append((event, values["node"]))

    def cycles(self, count, command):
        """Go through cycles with a constant command; return the samples."""
        found = []
        while len(found) < count:
            received = self.device.receive(1.0)
            assert received is not None
            found.append(received)
            self.device.send(command)
        return found

    def until_it_fails(self, commands):
        """Go through cycles with a command each, until the device raises."""
        for command in commands:
            self.device.receive(1.0)
            self.device.send(command)
