"""What a trial left, read off its files: the supervisor's, the emulators', the run's."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orchestrator.diagnostics import LoadError
from orchestrator.recording import read_parquet

#: A velocity is taken over so many rows of a log: one row has the jitter of its time.
_ROWS = 5
#: A command that moves by less is at rest, as a share of the largest motion.
_STILL = 1e-6


@dataclass(frozen=True, slots=True)
class Reaction:
    """What the supervisor wrote of the first fault after a moment.

    Parameters
    ----------
    reason, where
        Of the fault; empty: none was found.
    state
        What it led to.
    found_s
        When it was found, CLOCK_MONOTONIC; NaN: never.
    states
        All states that the rig went through from then on.
    """

    reason: str = ""
    where: str = ""
    state: str = ""
    found_s: float = math.nan
    states: tuple[str, ...] = ()


def reaction_of(changes: Path, since_s: float) -> Reaction:
    """Read the first fault after a moment."""
    with changes.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if float(row["time_s"]) >= since_s]
    for i, row in enumerate(rows):
        if row["reason"]:
            states = tuple(dict.fromkeys(each["after"] for each in rows[i:]))
            return Reaction(row["reason"], row["where"], row["after"], float(row["time_s"]), states)
    return Reaction()


@dataclass(frozen=True, slots=True)
class Motion:
    """One quantity of a device, as its emulator's own log has it.

    Parameters
    ----------
    times_s
        Shape (n,), CLOCK_MONOTONIC.
    values
        Shape (n,), SI.
    """

    times_s: np.ndarray[tuple[int], np.dtype[np.float64]]
    values: np.ndarray[tuple[int], np.dtype[np.float64]]

    def largest(self, since_s: float) -> float:
        """Return the largest size from a moment on."""
        return float(np.abs(self.values[self.times_s >= since_s]).max(initial=0.0))

    def velocity(self, since_s: float) -> float:
        """Return the largest velocity from a moment on, over five rows."""
        chosen = self.times_s >= since_s
        times, values = self.times_s[chosen], self.values[chosen]
        if len(times) <= _ROWS:
            return 0.0
        way = values[_ROWS:] - values[:-_ROWS]
        return float(np.abs(way / (times[_ROWS:] - times[:-_ROWS])).max())

    def rest(self, since_s: float) -> float:
        """Return when it last moved, from a moment on; NaN: it did not."""
        moved = np.abs(np.diff(self.values)) > _STILL * np.abs(self.values).max(initial=1e-12)
        times = self.times_s[1:][moved]
        times = times[times >= since_s]
        return float(times[-1]) if len(times) else math.nan


def motion_of(log: Path, event: str, column: str, scale: float) -> Motion:
    """Read a column of an emulator's log, of the rows of one event that are whole."""
    times, values = [], []
    with log.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["event"] == event and row.get(column):
                times.append(float(row["time_s"]))
                values.append(float(row[column]) * scale)
    return Motion(np.array(times), np.array(values))


def recorded_until(output: Path, case: str) -> tuple[float, Mapping[str, float]]:
    """Return the last simulated time that can be read, and the last value of every signal.

    Raises
    ------
    LoadError
        If there is nothing to read.
    """
    for path in (f"{case}.parquet", f"{case}.partial.parquet", f"{case}.partial"):
        if (output / path).exists():
            found = read_parquet(output / path)
            last = {str(name): float(value) for name, value in found.iloc[-1].items()}
            return float(found.index[-1]), last
    raise LoadError.in_file(output, f"nothing was recorded of case '{case}'")
