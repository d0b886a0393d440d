"""Memory that a supervisor shares with the process of one device, and files of what it saw."""

from __future__ import annotations

import csv
import mmap
import os
import weakref
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt

from orchestrator.core import posix
from orchestrator.rig.supervisor.machine import Change

_WORDS = 16
#: A reader that is so many rows behind reads again: its oldest rows are being written over.
_MARGIN = 16


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
    file: Descriptor of memory that is there; ``None``: it is made.
    """

    def __init__(self, rows: int, columns: int, file: int | None = None) -> None:
        size = 8 * (_WORDS + rows * (1 + columns))
        self.file = posix.shared_memory("watch", size) if file is None else file
        weakref.finalize(self, os.close, self.file)
        memory = mmap.mmap(self.file, size)
        self.rows, self.columns = rows, columns
        self._words = memoryview(memory)[: 8 * _WORDS].cast("q")
        self._times = np.frombuffer(memory, np.int64, rows, 8 * _WORDS)
        flat = np.frombuffer(memory, np.float64, rows * columns, 8 * (_WORDS + rows))
        self._values = flat.reshape(rows, columns)

    def __getitem__(self, word: Word) -> int:
        return self._words[word]

    def __setitem__(self, word: Word, value: int) -> None:
        self._words[word] = value

    def add(self, time_ns: int, row: npt.ArrayLike) -> None:
        """Write a row, shape (columns,), over the oldest one."""
        count = self._words[Word.ROWS]
        place = count % self.rows
        self._times[place] = time_ns
        self._values[place] = row
        self._words[Word.ROWS] = count + 1

    def since(self, count: int) -> tuple[int, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return rows after the first ``count`` ones, as far as they are still there.

        Returns: How many rows there are by now; times, shape (n,), ns; values, shape (n, columns).
        """
        while True:
            end = self._words[Word.ROWS]
            begin = max(count, end - self.rows + _MARGIN, 0)
            places = np.arange(begin, end) % self.rows
            times, values = self._times[places], self._values[places]
            if self._words[Word.ROWS] - begin <= self.rows - 1:
                return end, times, values


#: Of the file of a :class:`ChangeFile`.
CHANGES_NAME = "changes.csv"


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


class ChangeFile:
    """Writes transitions and faults as they come, so that a killed supervisor has left them.

    path: Of the CSV file, written anew.
    """

    COLUMNS = ("time_s", "before", "event", "after", "reason", "where")

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow(self.COLUMNS)
        self._file.flush()

    def write(self, change: Change) -> None:
        """Add one."""
        fault = change.fault
        reason, where = (fault.reason.name.lower(), fault.where) if fault else ("", change.by)
        told = (change.before.name, change.event.value, change.after.name, reason, where)
        self._writer.writerow((f"{change.time_ns * 1e-9:.9f}", *told))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
