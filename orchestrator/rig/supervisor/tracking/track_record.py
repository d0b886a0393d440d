"""What tracking left of one response, read back."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import LoadError
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


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TrackRecord:
    """One response over time.

    Parameters
    ----------
    response
        ``device.response``.
    columns
        By name, each of shape (n,): those of the file; ``time_s`` from its first row on.
    """

    response: str
    columns: dict[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.columns[name]

    @property
    def changes(self) -> int:
        """How many changes were found."""
        return int(self["changes"][-1])

    def as_json(self) -> dict[str, Any]:
        """Return the last row in which something was known, and the counts."""
        rows = np.flatnonzero(np.isfinite(self["delay_s"]))
        last = {
            name: None if not len(rows) else _finite(values[rows[-1]])
            for name, values in self.columns.items()
            if name not in ("time_s", "score", "samples", "changes")
        }
        samples = int(self["samples"][-1])
        return {"response": self.response, "changes": self.changes, "samples": samples, **last}


#: Known in each row.
_ALWAYS = ("time_s", "samples", "changes")


def read_tracks(path: Path) -> tuple[TrackRecord, ...]:
    """Read the file of a :class:`~orchestrator.rig.supervisor.tracking.track_record.TrackFile`.

    A last line without its end, which a writer that was killed leaves, is left out.
    """
    rows: dict[str, list[list[float]]] = {}
    names = [name for name in COLUMNS if name != "response"]
    try:
        whole = path.read_bytes().decode("utf-8").rpartition("\n")[0]
        for row in csv.DictReader(io.StringIO(whole, newline="")):
            if not all(math.isfinite(float(row[name] or math.nan)) for name in _ALWAYS):
                raise ValueError(f"{', '.join(_ALWAYS)} are numbers in each row")
            cells = [float(row[name] or math.nan) for name in names]
            rows.setdefault(row["response"], []).append(cells)
    except (OSError, csv.Error, KeyError, ValueError, TypeError) as error:
        raise LoadError.in_file(path, f"expected a file of tracking: {error}") from None
    return tuple(_record(response, names, found) for response, found in rows.items())


def _record(response: str, names: list[str], rows: list[list[float]]) -> TrackRecord:
    columns = dict(zip(names, np.array(rows).T, strict=True))
    columns["time_s"] = columns["time_s"] - columns["time_s"][0]
    return TrackRecord(response, columns)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
