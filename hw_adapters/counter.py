"""Counters and clocks of devices that begin again, told as ones that do not."""

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

    def count(self, found: Number) -> Number:
        """Return what is nearest to the last count and was found but for whole periods."""
        if self._period is not None and self._last is not None:
            found += round((self._last - found) / self._period) * self._period
        self._last = found
        return found
