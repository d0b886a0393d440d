"""What a run has recorded so far, in files that are whole at any time: for runs that are killed."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.recording.formats import default_format, writer
from orchestrator.core.recording.read import GROWING
from orchestrator.core.recording.result import Result

if TYPE_CHECKING:
    from orchestrator.core.recording.mcap import GrowingMcap


class Journal:
    """A folder of Parquet or npz files, each with further rows, or one MCAP that grows.

    A file appears under its name when it is complete, so the folder can be read at any moment, and
    when the process died: by :func:`~.read.read_result`, and by pandas. (A single
    Parquet file cannot be read before its end is written.) What the operating system has not yet
    brought to the disk is lost if the whole machine fails.

    Parameters
    ----------
    folder
        Where the files go. It is made, or emptied of an earlier run's, when the first is written.
    interval
        Seconds of wall time between two files, or chunks of one, > 0.
    grows
        Whether it is ``rows.mcap``, of which a reader of MCAP sees all but the last interval.

    Attributes
    ----------
    rows
        Number of rows that the files hold.
    """

    def __init__(self, folder: Path, interval: float, *, grows: bool = False) -> None:
        self.folder = folder
        self.rows = 0
        self.interval = interval
        self.grows = grows
        self._growing: GrowingMcap | None = None
        self._parts = 0
        self._next = time.monotonic() + interval

    @property
    def due(self) -> bool:
        """Whether the interval has passed."""
        return time.monotonic() >= self._next

    def add(self, result: Result) -> None:
        """Write further rows."""
        if self._parts == 0:
            self.remove()
        if self.grows:
            self._grow(result)
        else:
            kind = default_format()
            writer(kind)(result, self.folder / f"part-{self._parts:06d}.{kind}")
        self._parts += 1
        self.rows += len(result.time_ns)
        self._next = time.monotonic() + self.interval

    def _grow(self, result: Result) -> None:
        if self._growing is None:
            from orchestrator.core.recording.mcap import GrowingMcap

            self._growing = GrowingMcap(self.folder / GROWING, result)
        self._growing.add(result)

    def remove(self) -> None:
        """Remove the folder, which another file now holds the whole of."""
        if self._growing is not None:
            self._growing.close()
            self._growing = None
        try:
            shutil.rmtree(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            why = error.strerror or error
            raise SoftdockError(f"{self.folder}: cannot be removed: {why}") from error
