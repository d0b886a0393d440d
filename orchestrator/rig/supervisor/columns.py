"""What a row of a device's ring has, and which of its signals stand where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any


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
class Signal:
    """One scalar of a device.

    Parameters
    ----------
    name, unit
        As the connector has them, elements of arrays as ``name[i]``.
    start, minimum, maximum, speed
        Of a command; ``speed``: how fast it may change at the device, per s.
    """

    name: str
    unit: str
    start: float = 0.0
    minimum: float | None = None
    maximum: float | None = None
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What the process of a device says of it when it joins a supervisor.

    Parameters
    ----------
    device
        Name of the component.
    measured, commands
        Its signals.
    period_ns
        Between two of its samples.
    pid, engine
        Numbers of its process and of that of the simulation.
    answers
        Whether it takes a command as the answer to a sample, at the moment of that.
    """

    device: str
    measured: tuple[Signal, ...]
    commands: tuple[Signal, ...]
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

    def places(self) -> Iterator[tuple[str, int, Signal]]:
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
    def of_json(cls, data: dict[str, Any]) -> DeviceFacts:
        """Return the facts that :meth:`as_json` wrote."""
        signals = {
            key: tuple(Signal(*one) for one in data[key]) for key in ("measured", "commands")
        }
        return cls(**{**data, **signals})


def _plain(signal: Signal) -> list[Any]:
    return [getattr(signal, field.name) for field in fields(signal)]
