"""What the process of a device says of it to a supervisor, and the memory that both share."""

from __future__ import annotations

import csv
import mmap
import os
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.core import operating_system
from orchestrator.core.structs import Struct

_WORDS = 16
#: A reader that is this many rows behind reads again: its oldest rows are being written over.
_MARGIN = 16


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
    SAMPLE_AGE = 13


class RingSignal(Struct):
    """One scalar of a device.

    name, unit: As the connector has them, elements of arrays as ``name[i]``.
    start, minimum, maximum, speed, ramp: Of a command; ``speed``: how fast it may change at the
        device, per s; ``ramp``: with which it catches up, per s2.
    """

    name: str
    unit: str
    start: float = 0.0
    minimum: float | None = None
    maximum: float | None = None
    speed: float | None = None
    ramp: float | None = None


class JoiningDevice(Struct):
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
        requested = [f"asked.{signal.name}" for signal in self.commands]
        sent = [f"sent.{signal.name}" for signal in self.commands]
        return [*heads, *measured, *requested, *sent]

    def columns_of_signals(self) -> Iterator[tuple[str, int, RingSignal]]:
        """Yield the signals by ``device.connector`` with their columns; commands as sent."""
        first = len(Head)
        for i, signal in enumerate(self.measured):
            yield f"{self.device}.{signal.name}", first + i, signal
        first += len(self.measured) + len(self.commands)
        for i, signal in enumerate(self.commands):
            yield f"{self.device}.{signal.name}", first + i, signal

    def as_json(self) -> dict[str, Any]:
        """Return plain data, which :meth:`of_json` reads."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {
            key: [astuple(signal) for signal in plain[key]] for key in ("measured", "commands")
        }

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> JoiningDevice:
        """Return the facts that :meth:`as_json` wrote."""
        signals = {
            key: tuple(RingSignal(*signal_data) for signal_data in data[key])
            for key in ("measured", "commands")
        }
        return cls(**{**data, **signals})


class Word(IntEnum):
    """Words of 64 bits, each written by one side only; times are CLOCK_MONOTONIC in ns."""

    #: By the supervisor: state of the rig, since when, why, its sign of life, what ends a run.
    STATE = 0
    SINCE = 1
    REASON = 2
    BEAT = 3
    RELEASED = 4
    #: By the process of the device: its sign of life, what it found and when, whether its command
    #: stands, how many commands the simulation gave, whether the run is gone, rows of the ring.
    IO_BEAT = 8
    IO_REASON = 9
    IO_FOUND = 10
    AT_REST = 11
    COMMANDS = 12
    RUN_GONE = 13
    ROWS = 14


class WatchMemory:
    """Words, and the newest rows at full rate: one process writes rows, another reads them.

    The memory is there as long as one of them is: what the process of a device saw outlives it.
    A row is written before the count of rows, so one that is counted is whole.

    rows, columns: Of the ring.
    gauges: Numbers next to the words, which the process of the device writes: what its gate holds
        against the limits of its command.
    file: Descriptor of memory that is there; ``None``: it is made.
    """

    def __init__(
        self, rows: int, columns: int, file: int | None = None, *, gauges: int = 0
    ) -> None:
        first = _WORDS + gauges
        size = 8 * (first + rows * (1 + columns))
        self.file = operating_system.shared_memory("watch", size) if file is None else file
        weakref.finalize(self, os.close, self.file)
        memory = mmap.mmap(self.file, size)
        self.rows, self.columns = rows, columns
        self._words = memoryview(memory)[: 8 * _WORDS].cast("q")
        #: One float64 each, not a number while nothing is known.
        self.gauges = memoryview(memory)[8 * _WORDS : 8 * first].cast("d")
        self._times = np.frombuffer(memory, np.int64, rows, 8 * first)
        flat = np.frombuffer(memory, np.float64, rows * columns, 8 * (first + rows))
        self._values = flat.reshape(rows, columns)

    def __getitem__(self, word: Word) -> int:
        return self._words[word]

    def __setitem__(self, word: Word, value: int) -> None:
        self._words[word] = value

    def add(self, time_ns: int, row: npt.ArrayLike) -> None:
        """Write a row, shape (columns,), over the oldest one."""
        count = self._words[Word.ROWS]
        index = count % self.rows
        self._times[index] = time_ns
        self._values[index] = row
        self._words[Word.ROWS] = count + 1

    def since(self, count: int) -> tuple[int, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return rows after the first ``count`` ones, as far as they are still there.

        Returns: How many rows there are by now; times, shape (n,), ns; values, shape (n, columns).
        """
        while True:
            end = self._words[Word.ROWS]
            begin = max(count, end - self.rows + _MARGIN, 0)
            indices = np.arange(begin, end) % self.rows
            times, values = self._times[indices], self._values[indices]
            if self._words[Word.ROWS] - begin <= self.rows - 1:
                return end, times, values


class RowFile:
    """A CSV file whose rows are there as they come, so that a killed supervisor has left them.

    path: Of the file, which is replaced.
    columns: Their names, the first that of the time in s, CLOCK_MONOTONIC.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._add(columns)

    def write(self, time_ns: int, cells: Sequence[object]) -> None:
        """Add a row."""
        self._add((f"{time_ns * 1e-9:.9f}", *cells))

    def _add(self, cells: Sequence[object]) -> None:
        csv.writer(self._file).writerow(cells)
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_ring(path: Path, columns: Sequence[str], memory: WatchMemory) -> None:
    """Write the ring of a device as CSV: CLOCK_MONOTONIC in s, then its columns.

    The file is seen when it is whole.
    """
    _, times, rows = memory.since(0)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("time_s", *columns))
        for time_ns, row in zip(times.tolist(), rows.tolist(), strict=True):
            writer.writerow((f"{time_ns * 1e-9:.9f}", *row))
    draft.replace(path)
