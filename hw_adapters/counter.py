"""Counters of devices that begin again, told as ones that do not; and of commands."""

from __future__ import annotations

from typing import Generic, TypeVar

Number = TypeVar("Number", int, float)


class Counter(Generic[Number]):
    """Counts on where a field of a datagram has run over.

    Parameters
    ----------
    period
        After so much the field begins again; ``None``: never.
    """

    def __init__(self, period: Number | None) -> None:
        self._period: Number | None = period
        self._last: Number | None = None

    def count(self, reading: Number) -> Number:
        """Return what is nearest to the last count and was found but for whole periods."""
        if self._period is not None and self._last is not None:
            reading += round((self._last - reading) / self._period) * self._period
        self._last = reading
        return reading


class TakenCounter:
    """Numbers commands from 1 on, and counts which of them a device says that it took.

    What it says before the first command, and until it says something else, is of an earlier run.

    Parameters
    ----------
    period
        After so many commands what it says begins again; ``None``: never.
    """

    def __init__(self, period: int | None) -> None:
        self._period = period
        self._sent = 0
        self._before: int | None = None

    def send(self) -> int:
        """Return the number of the next command."""
        self._sent += 1
        return self._sent

    def count(self, reading: int) -> int:
        """Return which command was taken last; 0: none of this run."""
        if not self._sent:
            self._before = reading
        if reading == self._before:
            return 0
        self._before = None
        behind = self._sent - reading
        if self._period is not None:
            behind %= self._period
        return max(self._sent - behind, 0) if behind >= 0 else 0
