"""Which samples of a device are new, and which were lost, late or repeated."""

from __future__ import annotations

import math

from orchestrator.engine import SampleFacts
from orchestrator.rig.device_units.rate_check import RATE_TOLERANCE
from orchestrator.rig.devices import Received

#: So many samples one after the other that count on from each other, and not from the newest one,
#: are those of a device that has begun to count anew.
_RESTART = 3
#: A device whose clock goes back by more than so many periods has begun anew.
_BACK = 10
#: A sample that comes later than so many periods after the one before is late.
_OVERDUE = 1.5
#: A sample that comes after this share of a period was waited for: nothing lay in between.
_WAITED = 0.5
#: A count goes on in a time by what the declared rate makes of it, but for so many samples.
_SLACK = 3


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
    silence_s
        A count that begins again says less after so long without a sample.
    """

    def __init__(
        self, size: int, rate: float, period: int | None, silence_s: float = math.inf
    ) -> None:
        self.facts = SampleFacts()
        self._size, self._period = size, period
        #: Between two samples, as declared.
        self.period_ns = round(1e9 / rate)
        self._overdue_ns = _OVERDUE * self.period_ns
        self._newest: int | None = None
        self._came_ns = 0
        self._silence = silence_s * rate
        #: When a sample came that was waited for, and how far the count went on since.
        self._fresh_ns, self._since_fresh = 0, 0
        #: By what the device was found to have begun anew.
        self.begun_anew = ""
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
        if why := self._begins_anew(received, now_ns):
            self.begun_anew = why
            self.facts.restarts += 1
            self._newest = None
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

    def goes_on(self, received: Received, now_ns: int) -> bool:
        """Whether a sample is the newest one, or follows it: what does not must not be answered."""
        return self.gap(received.sequence) >= 0 and not self._begins_anew(received, now_ns)

    @property
    def in_doubt(self) -> bool:
        """Whether the last sample did not follow those before it."""
        return self._strays > 0

    def _begins_anew(self, received: Received, now_ns: int) -> str:
        """Say why a sample that is newer is one of a device that began anew; empty: it is none."""
        gap, before, now = (
            self.gap(received.sequence),
            self.facts.device_time,
            received.device_time,
        )
        if not self.facts.number or gap <= 0:
            return ""
        if now is not None and (before - now) * 1e9 > _BACK * self.period_ns:  # not, if it is NaN
            return "its clock went back"
        return self._strange_count(gap, now_ns) if self._period is not None and gap > 1 else ""

    def _strange_count(self, gap: int, now_ns: int) -> str:
        """Hold a count that begins again against the time: half of its range looks like a gap."""
        assert self._period is not None  # noqa: S101 - see _begins_anew
        silent = (now_ns - self._came_ns) / self.period_ns
        if silent > min(self._silence, self._period / 2):
            slow = gap < silent / RATE_TOLERANCE - _SLACK
            if slow or silent > self._period / 2:
                return (
                    f"after {silent * self.period_ns * 1e-9:.3g} s of silence its count says less"
                )
        due = (gap + self._since_fresh) / RATE_TOLERANCE - _SLACK
        if self._fresh_ns and (now_ns - self._fresh_ns) / self.period_ns < due:
            return f"its count went on by {gap}, faster than it samples"
        return ""

    def _pace(self, gap: int, before_ns: int, now_ns: int) -> None:
        """Take note of when the count was where it is: what lay in a queue came later."""
        waited = gap == 1 and before_ns and now_ns - before_ns > _WAITED * self.period_ns
        if waited and now_ns - before_ns < self._overdue_ns:
            self._fresh_ns, self._since_fresh = now_ns, 0
        else:
            self._since_fresh += max(gap, 0)

    def _is_new(self, sequence: int | None, now_ns: int) -> bool:
        before_ns, self._came_ns = self._came_ns, now_ns
        gap = self.gap(sequence)
        if gap == 0:
            self.facts.repeated += 1
            return False
        if gap < 0 and not self._has_restarted(sequence):
            self._was_late()
            return False
        if gap < 0:
            self.begun_anew = "its count began anew"
            self.facts.restarts += 1
            self.facts.late -= self._strays - 1  # they were the first of the new count
            self.facts.lost += self._found
        elif gap > 1:
            self.facts.lost += gap - 1
        elif before_ns and now_ns - before_ns > self._overdue_ns:
            self.facts.late += 1
        self._newest, self._stray, self._strays, self._found = sequence, None, 0, 0
        self.ticked_ns = self._ticks(gap, before_ns, now_ns)
        self._pace(gap, before_ns, now_ns)
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

    def gap(self, sequence: int | None) -> int:
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
