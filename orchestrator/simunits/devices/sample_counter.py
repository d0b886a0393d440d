"""Which samples of a device are new, and which were lost, late or repeated."""

from __future__ import annotations

import math

from orchestrator.devices import Received
from orchestrator.engine import SampleFacts

#: So many samples one after the other that count on from each other, and not from the newest one,
#: are those of a device that has begun to count anew.
_RESTART = 3
#: A device whose clock goes back by more than so many periods has begun anew.
_BACK = 10
#: A sample that comes later than so many periods after the one before is late.
_OVERDUE = 1.5


class SampleCounter:
    """Judges samples in the order in which they come.

    Parameters
    ----------
    size
        Values of a sample.
    rate
        Samples per second that are expected.
    period
        After how many samples the device's count begins again at 0; ``None``: never.
    """

    def __init__(self, size: int, rate: float, period: int | None) -> None:
        self.facts = SampleFacts()
        self._size, self._period = size, period
        #: Between two samples, as declared.
        self.period_ns = round(1e9 / rate)
        self._overdue_ns = _OVERDUE * self.period_ns
        self._newest: int | None = None
        self._came_ns = 0
        self._stray: int | None = None
        self._strays = self._found = 0
        #: When the device's clock ticked up to the last sample, since the one before: once for
        #: each sample that it counted, CLOCK_MONOTONIC in nanoseconds.
        self.ticked_ns: tuple[int, ...] = ()

    def refuse(self) -> None:
        """Count what was no sample."""
        self.facts.malformed += 1

    def take(self, received: Received, now_ns: int) -> bool:
        """Judge a sample.

        Parameters
        ----------
        received
            The sample.
        now_ns
            When it came, by ``CLOCK_MONOTONIC``, in nanoseconds.

        Returns
        -------
        bool
            Whether its values are to be used: it is new, valid, and all of them are finite.
        """
        values, self.ticked_ns = received.values, ()
        if len(values) != self._size or not all(map(math.isfinite, values)):
            self.refuse()
            return False
        if self._goes_back(received):
            self._begin_anew()
        if not self._is_new(received.sequence, now_ns):
            return False
        facts = self.facts
        facts.status, facts.valid = received.status, int(received.valid)
        if not received.valid and facts.number:
            return False
        facts.number += 1
        facts.received_ns = now_ns
        facts.device_time = math.nan if received.device_time is None else received.device_time
        return True

    def goes_on(self, received: Received) -> bool:
        """Whether a sample is the newest one, or follows it: what does not must not be answered."""
        return self._gap(received.sequence) >= 0 and not self._goes_back(received)

    @property
    def in_doubt(self) -> bool:
        """Whether the last sample did not follow those before it."""
        return self._strays > 0

    def _goes_back(self, received: Received) -> bool:
        before, now = self.facts.device_time, received.device_time
        if now is None or not self.facts.number or self._gap(received.sequence) <= 0:
            return False
        return (before - now) * 1e9 > _BACK * self.period_ns  # not, if it is NaN

    def _begin_anew(self) -> None:
        self.facts.restarts += 1
        self._newest = None

    def _is_new(self, sequence: int | None, now_ns: int) -> bool:
        before_ns, self._came_ns = self._came_ns, now_ns
        gap = self._gap(sequence)
        if gap == 0:
            self.facts.repeated += 1
            return False
        if gap < 0 and not self._has_restarted(sequence):
            self._was_late()
            return False
        if gap < 0:
            self.facts.restarts += 1
            self.facts.late -= self._strays - 1  # they were the first of the new count
            self.facts.lost += self._found
        elif gap > 1:
            self.facts.lost += gap - 1
        elif before_ns and now_ns - before_ns > self._overdue_ns:
            self.facts.late += 1
        self._newest, self._stray, self._strays, self._found = sequence, None, 0, 0
        self.ticked_ns = self._ticks(gap, before_ns, now_ns)
        return True

    def _ticks(self, gap: int, before_ns: int, now_ns: int) -> tuple[int, ...]:
        """Return when the samples would have come up to this one; a jump of a count is no time."""
        elapsed = (now_ns - before_ns) / self.period_ns if before_ns else 0.0
        count = max(1, min(gap, 1 + int(2.0 * elapsed)))
        return tuple(now_ns - round(k * self.period_ns) for k in range(count - 1, -1, -1))

    def _was_late(self) -> None:
        self.facts.late += 1
        if self.facts.lost:  # it was taken for lost when a newer one came
            self.facts.lost -= 1
            self._found += 1

    def _gap(self, sequence: int | None) -> int:
        """Return by how many samples one is newer than the newest; below 0: older."""
        if sequence is None or self._newest is None:
            return 1
        gap = sequence - self._newest
        if self._period is None:
            return gap
        gap %= self._period
        return gap if gap <= self._period // 2 else gap - self._period

    def _has_restarted(self, sequence: int | None) -> bool:
        assert sequence is not None  # noqa: S101 - without a count nothing is older
        self._strays = self._strays + 1 if self._stray == sequence - 1 else 1
        self._stray = sequence
        return self._strays >= _RESTART
