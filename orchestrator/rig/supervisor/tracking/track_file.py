"""What tracking knew of each response, as it went: a file that anything can read."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TextIO

from orchestrator.rig.supervisor.tracking.rig_tracking import TrackedResponse
from orchestrator.rig.supervisor.tracking.tracker import WIDTH

NAME = "tracking.csv"
COLUMNS = (
    "time_s",
    "response",
    "delay_s",
    "delay_low_s",
    "delay_high_s",
    "gain",
    "gain_low",
    "gain_high",
    "delay_margin_s",
    "gain_margin",
    "score",
    "samples",
    "changes",
)


class TrackFile:
    """Writes a row for each response at even times; where nothing is known, cells are empty.

    Parameters
    ----------
    path
        Of the CSV file, written anew.
    """

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow(COLUMNS)
        self._file.flush()

    def write(self, time_ns: int, response: TrackedResponse) -> None:
        """Add what is known of a response now."""
        tracker = response.tracker
        now = tracker.settled
        known: tuple[float, ...] = (math.nan,) * 6
        if now is not None:
            half = WIDTH * now.gain_deviation
            known = (now.delay, *now.interval, now.gain, now.gain - half, now.gain + half)
        cells = [*known, *(response.left or (math.nan, math.nan)), tracker.score]
        told = ["" if math.isnan(cell) else f"{cell:.9g}" for cell in cells]
        counts = (tracker.counted, tracker.changes)
        self._writer.writerow((f"{time_ns * 1e-9:.9f}", response.name, *told, *counts))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
