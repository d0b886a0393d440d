"""Signals of a run at the times of the pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.pictures.animation.quaternions import Floats, interpolated

#: Farther away nothing is drawn, m.
FARTHEST = 1e6


def elements(signal: str | Sequence[float | str], size: int) -> list[float | str]:
    """Name the elements of a vector, as results do; numbers stay numbers."""
    if isinstance(signal, str):
        return [f"{signal}[{i}]" for i in range(size)]
    return list(signal)


class Signals:
    """What one case recorded, at the times of the pictures.

    Parameters
    ----------
    result
        Of the case.
    times_ns
        Of the pictures, increasing, int64 array of shape (n,). After the end of the run its last
        values hold.

    Raises
    ------
    DescriptionError
        If the result has no rows.
    """

    def __init__(self, result: Result, times_ns: NDArray[np.int64]) -> None:
        if not len(result.time_ns):
            raise DescriptionError(f"case '{result.name}' recorded nothing that could be drawn")
        self.result = result
        first, last = result.time_ns[0], result.time_ns[-1]
        self.asked = times_ns.astype(np.float64)
        self.times = np.clip(self.asked, first, last)
        self.troubles: dict[str, None] = {}

    def vector(self, signal: str | Sequence[float | str]) -> Floats:
        """Return a vector at the times of the pictures, shape (n, 3), linear between samples."""
        rows, times = self._rows(elements(signal, 3))
        columns = [np.interp(self.times, times, column) for column in rows.T]
        return np.column_stack(columns)

    def attitude(self, signal: str | Sequence[float | str]) -> Floats:
        """Return an attitude at the times of the pictures, shape (n, 4), of norm 1."""
        rows, times = self._rows(elements(signal, 4))
        norm = np.linalg.norm(rows, axis=1, keepdims=True)
        if not norm.all():
            raise DescriptionError(
                f"case '{self.result.name}': '{signal}' has zeros only, which is no attitude"
            )
        return interpolated(self.times, times, rows / norm)

    def scalar(self, signal: str) -> Floats:
        """Return one signal at the times of the pictures, shape (n,), NaN outside of the run."""
        times = self.result.time_ns.astype(np.float64)
        return np.interp(self.asked, times, self.result[signal], left=np.nan, right=np.nan)

    def _rows(self, parts: Sequence[float | str]) -> tuple[Floats, Floats]:
        """Return what was recorded, and when; what cannot be drawn is left out, and said."""
        time_ns = self.result.time_ns
        columns = [
            self.result[part] if isinstance(part, str) else np.full(len(time_ns), float(part))
            for part in parts
        ]
        rows = np.column_stack(columns)
        good = (np.abs(rows) < FARTHEST).all(axis=1)  # what is no number is not below it either
        if not good.all():
            named = ", ".join(part for part in parts if isinstance(part, str))
            since = time_ns[np.argmin(good)] / 1e9
            self._say(f"{named} is no number, or beyond {FARTHEST:g}, first at {since:.6g} s")
        if not good.any():
            raise DescriptionError(f"case '{self.result.name}': {next(reversed(self.troubles))}")
        return rows[good], time_ns[good].astype(np.float64)

    def _say(self, text: str) -> None:
        self.troubles[f"{text}; it is drawn where it last was"] = None
