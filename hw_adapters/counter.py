"""Counters of devices that begin again at 0, told as counters that do not."""

from __future__ import annotations


class Counter:
    """Counts on where a field of a datagram has run over.

    Parameters
    ----------
    period
        After so many the field is 0 again; ``None``: never.
    """

    def __init__(self, period: int | None) -> None:
        self._period = period
        self._last: int | None = None

    def count(self, found: int) -> int:
        """Return what is nearest to the last count and ends as was found."""
        if self._period is None or self._last is None:
            self._last = found
        else:
            half = self._period // 2
            self._last += (found - self._last + half) % self._period - half
        return self._last
