"""How long something took, over many times: counts in buckets, and what is read off them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Shares, in percent, that a table of durations has.
PERCENTILES = (50.0, 99.0, 99.9, 99.99)


@dataclass(frozen=True, slots=True)
class Durations:
    """Durations of one kind in a run.

    Parameters
    ----------
    count
        How many there were.
    minimum_ns, maximum_ns, total_ns
        The least, the longest and all together, exactly; 0 without any.
    buckets
        ``(lowest, end, count)`` in nanoseconds, in their order: so many lay from ``lowest`` up to
        below ``end``. A bucket is at most 1/32 of its least duration wide, and 1 ns below 64 ns.
        Those without any are left out.
    """

    count: int
    minimum_ns: int
    maximum_ns: int
    total_ns: int
    buckets: tuple[tuple[int, int, int], ...]

    @property
    def mean_ns(self) -> float:
        """The mean, nan without any."""
        return self.total_ns / self.count if self.count else float("nan")

    def percentile_ns(self, percent: float) -> int | None:
        """Return the duration that so many percent do not exceed, ``None`` without any.

        It is the last whole nanosecond of the bucket in which that share is reached, as it is
        with HdrHistogram, but never more than the longest: at most 1/32 too long.

        Parameters
        ----------
        percent
            0 to 100.
        """
        # Rounding must not ask for one more: 99.9 % of 5000 are 4995.
        reached, wanted = 0, self.count * percent / 100.0 * (1.0 - 1e-12)
        for lowest, end, count in self.buckets:
            reached += count
            if reached >= wanted:
                return min(max(end - 1, lowest), self.maximum_ns)
        return None

    def as_json(self) -> dict[str, Any]:
        """Return plain data, times in nanoseconds."""
        return {
            "count": self.count,
            "minimum_ns": self.minimum_ns,
            "maximum_ns": self.maximum_ns,
            "mean_ns": self.mean_ns if self.count else None,
            "percentiles_ns": {f"{p:g}": self.percentile_ns(p) for p in PERCENTILES},
            "buckets": [list(bucket) for bucket in self.buckets],
        }
