"""A recorded delay over time."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.system.time import nanoseconds

#: Rows; more are a mistake rather than a recording of a delay.
_MOST_ROWS = 10_000_000


@dataclass(frozen=True, slots=True)
class DelayTrace:
    """Delay of samples by the time at which they are sent.

    Before the first row its delay holds, after the last one that of the last.

    Parameters
    ----------
    times_ns
        Times of the simulation in nanoseconds, increasing.
    delays_ns
        Delays in nanoseconds, >= 0; ``None``: samples are lost from this time to the next.
    interpolated
        Whether delays change linearly from row to row; else each holds until the next.

    Raises
    ------
    DescriptionError
        If the rows are not as described.
    """

    times_ns: tuple[int, ...]
    delays_ns: tuple[int | None, ...]
    interpolated: bool = False

    def __post_init__(self) -> None:
        if not self.times_ns or len(self.times_ns) != len(self.delays_ns):
            raise DescriptionError(
                "trace of a delay: expected as many delays as times, at least one; found"
                f" {len(self.delays_ns)} delays and {len(self.times_ns)} times"
            )
        for number, (one, two) in enumerate(pairwise(self.times_ns), start=2):
            if two <= one:
                raise DescriptionError(
                    f"trace of a delay, row {number}: expected a time after {one / 1e9:.9g} s,"
                    f" found {two / 1e9:.9g} s"
                )
        for number, delay in enumerate(self.delays_ns, start=1):
            if delay is not None and delay < 0:
                raise DescriptionError(
                    f"trace of a delay, row {number}: expected a delay >= 0 s, found"
                    f" {delay / 1e9:.9g} s; leave it out where samples are lost"
                )

    @property
    def longest_ns(self) -> int:
        """Longest delay in nanoseconds."""
        return max((delay for delay in self.delays_ns if delay is not None), default=0)

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str]], *, interpolated: bool = False) -> DelayTrace:
        """Make a trace of texts: times and delays in seconds, or with a unit.

        An empty delay means that samples are lost.
        """
        times: list[int] = []
        delays: list[int | None] = []
        for number, (time, delay) in enumerate(rows, start=1):
            if number > _MOST_ROWS:
                raise DescriptionError(f"trace of a delay: expected at most {_MOST_ROWS} rows")
            times.append(nanoseconds(time, f"trace of a delay, row {number}: time"))
            what = f"trace of a delay, row {number}: delay"
            delays.append(nanoseconds(delay, what) if delay.strip() else None)
        return cls(tuple(times), tuple(delays), interpolated)

    @classmethod
    def read(cls, path: str | Path, *, interpolated: bool = False) -> DelayTrace:
        """Read a CSV file with the columns time and delay, in seconds, below one line of titles."""
        try:
            with Path(path).open(newline="", encoding="utf-8-sig") as file:
                rows = list(csv.reader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise LoadError.in_file(path, f"cannot be read as CSV: {error}") from None
        if not rows or [cell.strip() for cell in rows[0]] != ["time", "delay"]:
            found = ", ".join(rows[0]) if rows else "nothing"
            raise LoadError.in_file(path, f"expected the titles time, delay; found {found}")
        pairs = []
        for number, row in enumerate(rows[1:], start=2):
            if len(row) != 2:
                raise LoadError(f"{path}, line {number}: expected 2 cells, found {len(row)}")
            pairs.append((row[0], row[1]))
        try:
            return cls.of(pairs, interpolated=interpolated)
        except DescriptionError as error:
            raise DescriptionError(*(f"{path}: {text}" for text in error.problems)) from None
