"""What a connection did to its samples in a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LineStatistics:
    """Counts of one connection; for an array, of each of its elements.

    Parameters
    ----------
    sent
        Samples after the first, which is known from the start.
    dropped
        Samples that never arrive.
    late
        Samples with more than the nominal delay.
    held
        Readings without the sample that they wanted. A receiver that holds wants a newer one than
        the last time; one that interpolates, the sample after the time that it plays back.
    oldest_ns
        Largest age, in nanoseconds, that the newest sample of a reading had at the start of the
        step.
    """

    sent: int
    dropped: int
    late: int
    held: int
    oldest_ns: int
