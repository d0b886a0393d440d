"""The log of an emulator: what it did, when, in one CSV file."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any


class EventLog:
    """Writes one row for each thing that an emulator does; without a path it writes nothing.

    Parameters
    ----------
    path
        Path of the CSV file, which is overwritten.
    columns
        Names of the columns that follow ``time_s`` (CLOCK_MONOTONIC of this machine, in s)
        and ``event``.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    def __init__(self, path: Path | None, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._file = None
        if path is not None:
            self._file = path.open("w", encoding="utf-8", newline="")
            self._writer = csv.writer(self._file)
            self._writer.writerow(("time_s", "event", *columns))

    def write(self, event: str, **values: Any) -> None:
        """Add a row with the present time; columns without a value stay empty.

        Raises
        ------
        ValueError
            If a value has no column.
        """
        if self._file is not None:
            if unknown := values.keys() - set(self._columns):
                raise ValueError(f"no column of the log is named {', '.join(sorted(unknown))}")
            cells = (values.get(column, "") for column in self._columns)
            self._writer.writerow((f"{time.monotonic():.9f}", event, *cells))

    def close(self) -> None:
        """Write what is left, and close the file."""
        if self._file is not None:
            self._file.close()
