"""A record of a device: one command, one response, by the clock of the device's samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DescriptionError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A command that is constant between its changes, and samples of a response.

    Parameters
    ----------
    times
        s, shape (n,), increasing: when the device took its samples.
    response
        Shape (n,).
    changes
        s, shape (m,), increasing: when the device took another command.
    command
        Shape (m,): the command from then on; before the first it was 0.
    used
        Shape (n,): samples that count. The others only are there, as what came before.

    Raises
    ------
    DescriptionError
        If the arrays do not belong together, times do not increase, or fewer than 16 samples count.
    """

    times: Floats
    response: Floats
    changes: Floats
    command: Floats
    used: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        same = self.times.shape == self.response.shape == self.used.shape
        if not same or self.changes.shape != self.command.shape or self.times.ndim != 1:
            raise DescriptionError("a record: expected a response and a mark for each time")
        if (np.diff(self.times) <= 0.0).any() or (np.diff(self.changes) < 0.0).any():
            raise DescriptionError("a record: expected times that increase")
        if self.count < 16:
            raise DescriptionError(
                f"a record of {self.count} samples says nothing; expected at least 16"
            )

    @property
    def count(self) -> int:
        """How many samples count."""
        return int(self.used.sum())

    @property
    def period(self) -> float:
        """Median time between two samples, s."""
        return float(np.median(np.diff(self.times)))

    @property
    def values(self) -> Floats:
        """The response where it counts, shape (count,)."""
        return self.response[self.used]

    def without(self, marked: npt.NDArray[np.bool_]) -> Record:
        """Return the record in which some of the samples that count do not, shape (count,)."""
        used = self.used.copy()
        used[np.flatnonzero(self.used)[marked]] = False
        return replace(self, used=used)

    def steps(self) -> tuple[Floats, Floats]:
        """Return when the command changed, and by how much."""
        moved = np.diff(self.command, prepend=0.0)
        real = moved != 0.0
        return self.changes[real], moved[real]

    def held(self, at: Floats) -> Floats:
        """Return the command that is in force at times in s."""
        row = np.searchsorted(self.changes, at, side="right") - 1
        return np.where(row >= 0, self.command[np.maximum(row, 0)], 0.0)
