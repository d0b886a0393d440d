"""Relative corrections: what a robot has of the increments that it was sent."""

from __future__ import annotations

from collections.abc import Sequence

Six = tuple[float, ...]
_NONE: Six = (0.0,) * 6


class Increments:
    """Sums the increments that a robot used, by its count of late answers, and finds the next one.

    In a cycle without an answer the robot uses the last one again (``HOLDON="1"``): that increment
    comes twice, and the one that was late is lost. Both are made good with the next answers, none
    of which exceeds ``most``: what was missed is no step. A robot that does not count late answers
    is taken to have used all.

    Parameters
    ----------
    most
        Largest increments of a cycle, mm and degrees, shape (6,).
    """

    def __init__(self, largest: Six) -> None:
        self._most = largest
        self._sum, self._last = _NONE, _NONE
        self._sent: Six | None = None
        self._cycle: int | None = None
        self._late: int | None = None

    def see(self, cycle: int, late_packets: int | None) -> None:
        """Take a frame that is answered: the number of its cycle, its count of late answers."""
        before, late_before = self._cycle, self._late
        if before is not None and cycle <= before:
            return
        self._cycle, self._late = cycle, late_packets
        missed = (
            0 if late_packets is None or late_before is None else max(late_packets - late_before, 0)
        )
        sent, self._sent = self._sent, None
        if sent is not None and (before is None or missed < cycle - before):
            self._use(sent)
        for _ in range(missed):
            self._use(self._last)

    def _use(self, increment: Six) -> None:
        self._last = increment
        self._sum = tuple(a + b for a, b in zip(self._sum, increment, strict=True))

    def towards(self, target: Sequence[float]) -> list[float]:
        """Return the increment of the answer to the newest frame, as it is written.

        wanted: Offset from the start, mm and degrees, shape (6,).
        """
        increments = [
            round(min(max(to - at, -largest), largest), 6)
            for to, at, largest in zip(target, self._sum, self._most, strict=True)
        ]
        self._sent = tuple(increments)
        return increments
