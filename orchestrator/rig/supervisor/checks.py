"""What a row of a device's ring has, and what a supervisor looks for in it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

from orchestrator.core.diagnostics import Reason
from orchestrator.rig.supervisor.limits import REASON_NAMES, DeviceLimits, SignalLimits


class Head(IntEnum):
    """Columns that every device has, before its signals."""

    STATE = 0
    REASON = 1
    NUMBER = 2
    VALID = 3
    STATUS = 4
    DEVICE_TIME = 5
    LOST = 6
    LATE = 7
    REPEATED = 8
    MALFORMED = 9
    RESTARTS = 10
    COMMAND_NUMBER = 11
    COMMAND_AGE = 12


@dataclass(frozen=True, slots=True)
class RingSignal:
    """One scalar of a device.

    name, unit: As the connector has them, elements of arrays as ``name[i]``.
    start, minimum, maximum, speed: Of a command; ``speed``: how fast it may change at the device,
        per s.
    """

    name: str
    unit: str
    start: float = 0.0
    minimum: float | None = None
    maximum: float | None = None
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class JoiningDevice:
    """What the process of a device says of it when it joins a supervisor.

    device: Name of the component.
    measured, commands: Its signals.
    period_ns: Between two of its samples.
    pid, engine: Numbers of its process and of that of the simulation.
    answers: Whether it takes a command as the answer to a sample, at the moment of that.
    """

    device: str
    measured: tuple[RingSignal, ...]
    commands: tuple[RingSignal, ...]
    period_ns: int
    pid: int
    engine: int
    answers: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns of its ring: the head, measured, asked and sent signals."""
        heads = [head.name.lower() for head in Head]
        measured = [signal.name for signal in self.measured]
        asked = [f"asked.{signal.name}" for signal in self.commands]
        sent = [f"sent.{signal.name}" for signal in self.commands]
        return [*heads, *measured, *asked, *sent]

    def places(self) -> Iterator[tuple[str, int, RingSignal]]:
        """Yield the signals by ``device.connector`` with their columns; commands as sent."""
        first = len(Head)
        for i, signal in enumerate(self.measured):
            yield f"{self.device}.{signal.name}", first + i, signal
        first += len(self.measured) + len(self.commands)
        for i, signal in enumerate(self.commands):
            yield f"{self.device}.{signal.name}", first + i, signal

    def as_json(self) -> dict[str, Any]:
        """Return plain data, which :meth:`of_json` reads."""
        return {
            "device": self.device,
            "measured": [_plain(signal) for signal in self.measured],
            "commands": [_plain(signal) for signal in self.commands],
            "period_ns": self.period_ns,
            "pid": self.pid,
            "engine": self.engine,
            "answers": self.answers,
        }

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> JoiningDevice:
        """Return the facts that :meth:`as_json` wrote."""
        signals = {
            key: tuple(RingSignal(*one) for one in data[key]) for key in ("measured", "commands")
        }
        return cls(**{**data, **signals})


def _plain(signal: RingSignal) -> list[Any]:
    return [getattr(signal, field.name) for field in fields(signal)]


_NS = 1e-9
_WINDOW_NS = 1_000_000_000
_OF_UNIT = {"N": Reason.FORCE, "N.m": Reason.TORQUE}
_FINE = Reason.OPERATION


class SignalCheck:
    """Range, slew and freezing of one signal.

    limits: Of the signal.
    unit: By which being beyond the range is named.
    """

    def __init__(self, limits: SignalLimits, unit: str) -> None:
        self._limits = limits
        self._beyond = (
            REASON_NAMES[limits.reason]
            if limits.reason is not None
            else _OF_UNIT.get(unit, Reason.WORKSPACE)
        )
        self._persistence_ns = limits.ns("persistence")
        self._frozen_ns = None if limits.frozen is None else limits.ns("frozen")
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
        found = self._look(time_ns, value, before)
        if not found:
            self._bad_since = None
            return
        if self._bad_since is None:
            self._bad_since = time_ns
        if time_ns - self._bad_since >= self._persistence_ns:
            self._found = found

    def reason(self) -> Reason:
        """Return what was found since this was last asked."""
        found, self._found = self._found, _FINE
        return found or self._frozen()

    def _look(self, time_ns: int, value: float, before: tuple[int, float] | None) -> Reason:
        limits = self._limits
        if not math.isfinite(value):
            return Reason.FORCE_NOT_FINITE if self._beyond is Reason.FORCE else Reason.MALFORMED
        low, high = limits.minimum, limits.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            return self._beyond
        if limits.slew is None or before is None:
            return _FINE
        h = (time_ns - before[0]) * _NS
        return Reason.SLEW if abs(value - before[1]) > limits.slew * h else _FINE

    def _frozen(self) -> Reason:
        if self._frozen_ns is None or self._last is None or not self.counts_frozen:
            return _FINE
        if self._last[0] - self._changed < self._frozen_ns:
            return _FINE
        travel = self._limits.travel
        if travel is not None and not abs(self._against - self._against_then) > travel:
            return _FINE
        return Reason.SENSOR_STALE


class HealthCheck:
    """Age, status, losses and clock of one device.

    limits: Of the device.
    now_ns: When it joined, CLOCK_MONOTONIC.
    """

    def __init__(self, limits: DeviceLimits, now_ns: int) -> None:
        self._limits = limits
        self._stale_ns = limits.ns("stale")
        self._jump = None if limits.clock_jump is None else limits.ns("clock_jump") * _NS
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
        self._count(Head.STATUS, limits.status_steps, Reason.STATUS, time_ns, row)
        self._count(Head.MALFORMED, limits.malformed, Reason.MALFORMED, time_ns, row)
        self._count(Head.LOST, limits.lost, Reason.SENSOR_LOST, time_ns, row)
        self._count(Head.RESTARTS, 0, Reason.CLOCK, time_ns, row)
        if row[Head.NUMBER] != self._number:
            self._newest_ns, self._number = time_ns, row[Head.NUMBER]
            self._clock(time_ns, row[Head.DEVICE_TIME])

    def reasons(self, now_ns: int) -> set[Reason]:
        """Return what was found since this was last asked."""
        found, self._found = self._found, set()
        if self._estop:
            found.add(Reason.EMERGENCY_STOP)
        if now_ns - self._newest_ns > self._stale_ns:
            found.add(Reason.SENSOR_STALE)
        return found

    def _count(
        self, head: Head, most: int | None, reason: Reason, time_ns: int, row: list[float]
    ) -> None:
        """Look by how much a count grew within a second."""
        if most is None:
            return
        window = self._windows.setdefault(head, deque())
        window.append((time_ns, row[head]))
        while time_ns - window[0][0] > _WINDOW_NS:
            window.popleft()
        if row[head] - window[0][1] > most:
            self._found.add(reason)

    def _clock(self, time_ns: int, device_time: float) -> None:
        if self._jump is None or not math.isfinite(device_time):
            return
        offset = device_time - time_ns * _NS
        if abs(offset - self._offset) > self._jump:  # not, if there is none to compare with
            self._found.add(Reason.CLOCK)
        self._offset = offset
