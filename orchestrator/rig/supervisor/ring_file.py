"""What was seen at full rate, in files that anything can read."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from orchestrator.rig.supervisor.machine import Change
from orchestrator.rig.supervisor.watch_memory import WatchMemory

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

    Parameters
    ----------
    path
        Of the CSV file, written anew.
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
