"""What a trial left, read off its files: the supervisor's, the emulators', the run's."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.recording import kept_result, read_result
from orchestrator.rig.devices.conformance import Logged
from orchestrator.rig.supervisor.change_record import StateChange, read_changes

#: What is slower stands, as a share of the largest speed before the fault; of what stood then, what
#: moves by less in a period, as a share of its place: rounding.
_STILL, _ROUNDING = 1e-3, 1e-6


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


def was_disturbed(changes: Path, before_s: float) -> bool:
    """Whether something was found before a moment, such as a busy machine."""
    return any(one.reason and one.time_s < before_s for one in _changes(changes))


def _changes(path: Path) -> tuple[StateChange, ...]:
    """Return what the supervisor wrote; nothing where there is none."""
    return read_changes(path) if path.exists() else ()


def reaction_of(changes: Path, since_s: float) -> Reaction:
    """Read the first fault after a moment."""
    rows = [one for one in _changes(changes) if one.time_s >= since_s]
    for i, row in enumerate(rows):
        if row.reason:
            states = tuple(dict.fromkeys(each.after for each in rows[i:]))
            return Reaction(row.reason, row.where, row.after, row.time_s, states)
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
    period_s
        Of the device: between two rows, by its own clock.
    """

    times_s: np.ndarray[tuple[int], np.dtype[np.float64]]
    values: np.ndarray[tuple[int], np.dtype[np.float64]]
    period_s: float

    def largest(self, since_s: float) -> float:
        """Return the largest size from a moment on; NaN: the log has nothing of it."""
        chosen = np.abs(self.values[self.times_s >= since_s])
        return float(chosen.max()) if len(chosen) else math.nan

    def velocity(self, since_s: float) -> float:
        """Return the largest velocity from a moment on, by the device's clock; NaN: as before."""
        return self.step(since_s) / self.period_s

    def step(self, since_s: float) -> float:
        """Return the largest step from one row to the next, from a moment on; NaN: as before."""
        chosen = self.values[self.times_s >= since_s]
        return float(np.abs(np.diff(chosen)).max()) if len(chosen) > 1 else math.nan

    def path(self, since_s: float) -> float:
        """Return the length of the way from a moment on, there and back; NaN: as before."""
        chosen = self.values[self.times_s >= since_s]
        return float(np.abs(np.diff(chosen)).sum()) if len(chosen) else math.nan

    def rest(self, since_s: float) -> float:
        """Return when it last moved, from a moment on; NaN: it did not."""
        steps, times = np.abs(np.diff(self.values)), self.times_s[1:]
        steps /= np.maximum(np.diff(self.times_s) / self.period_s, 1.0)  # rows that are missing
        before = steps[times < since_s].max(initial=0.0)
        still = max(_STILL * before, _ROUNDING * np.abs(self.values).max(initial=1e-12))
        times = times[(steps > still) & (times >= since_s)]
        return float(times[-1]) if len(times) else math.nan


def motion_of(log: Path, signal: Logged, period_s: float) -> Motion:
    """Read a column of an emulator's log, of the rows of one event that are whole."""
    times, values = [], []
    with log.open(encoding="utf-8", newline="") as file:
        for cells in csv.DictReader(file):
            if signal.is_in(cells):
                times.append(float(cells["time_s"]))
                values.append(float(cells[signal.column]) * signal.scale)
    return Motion(np.array(times), np.array(values), period_s)


def sentence_of(said: Path) -> str:
    """Return the last error that a run told; empty: none."""
    lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
    told = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return told[-1] if told else ""


def recorded_until(output: Path, case: str) -> tuple[float, Mapping[str, float]]:
    """Return the last simulated time that can be read, and the last value of every signal."""
    journal = output / f"{case}.partial"
    path = kept_result(output, case) or kept_result(output, journal.name) or journal
    if path.exists():
        found = read_result(path)
        last = dict(zip(found.names, found.values[-1].tolist(), strict=True))
        return float(found.time[-1]), last
    raise LoadError.in_file(output, f"nothing was recorded of case '{case}'")
