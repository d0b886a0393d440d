"""The order of a device's samples: which are new, lost, late or repeated, and when it restarted."""

from __future__ import annotations

import math
from collections import deque

from orchestrator.core.structs import Struct
from orchestrator.engine import SampleFacts
from orchestrator.rig.device_units.device_clock import DeviceClock
from orchestrator.rig.devices import Received

#: How far the measured rate may be from the declared one, as a factor.
RATE_TOLERANCE = 1.2
#: So many samples that count on from each other, and not from the newest one, are a line of their
#: own: that of a device that was restarted, or that was on its way for less than before.
_CONFIRMED = 3
#: Periods from the first sample that comes to the first that is used, while none is lost.
FIRST_PERIODS = _CONFIRMED - 1
#: Number of sequences of first samples that are distinguished.
_LINES = 8
#: Their numbers differ by at most this.
_LINE_GAP = 3
#: They come at the rate of the device, or slower: this share of a period lies between two.
_PACE = 0.7
#: A device whose clock goes back by more periods has restarted.
_BACK = 10
#: A sample is late if it comes more periods after the previous one.
_OVERDUE = 1.5
#: A sample that comes after this share of a period was waited for: nothing lay in between.
_WAITED = 0.5
#: A count goes on in a time by what the declared rate makes of it, within this many samples.
_SLACK = 3
#: A count that begins again after fewer samples tells little alone.
_SHORT = 2**20
#: Time, s, and largest number of remembered sequence numbers.
_MEMORY_S, _MEMORY = 10.0, 50_000
#: Age of a sample, in periods, beyond which an answer comes too late.
_ANSWERED_IN = 2.0
#: The first samples took this share of their own time or more: old ones come at once.
_LIVE = 0.3


class _Line(Struct):
    """Samples that count on from each other, and not from the newest one.

    first_ns, last_ns: When the first and the last of them came.
    first, last: The first and the last of them.
    count: How many there are.
    paced, alone: How many in a row came at the rate of the device, and with no other between them.
    """

    first_ns: int
    last_ns: int
    first: Received
    last: Received
    count: int = 1
    paced: int = 1
    alone: int = 1

    def followed_by(self, received: Received, now_ns: int, period_ns: int, other_ns: int) -> _Line:
        """Return the line with one more sample; the last of the others came at ``other_ns``."""
        is_paced = now_ns - self.last_ns >= _PACE * period_ns
        paced = self.paced + 1 if is_paced else 1
        alone = self.alone + 1 if other_ns <= self.last_ns else 1
        first = self.first_ns, now_ns, self.first
        return _Line(*first, received, self.count + 1, paced, alone)


class SampleCounter:
    """Judges samples in the order in which they come.

    A sample is new if its number and its time go on from the newest one's. A number that came
    before is repeated. A number or a time far ahead, and one from before, are used when their
    successors confirm them: then the device was restarted, or its samples come quicker. Arrival
    alone never tells a restart.

    size: Values of a sample.
    rate: Samples per second that are expected.
    period: After how many samples the device's count begins again at 0; ``None``: never.
    silence_s: By so much a delay may fall at once; a count that begins again says less after so
        long without a sample.
    """

    def __init__(
        self, size: int, rate: float, period: int | None, silence_s: float = math.inf
    ) -> None:
        self.facts = SampleFacts()
        self.clock = DeviceClock(1.0 / rate)
        self._size, self._period = size, period
        #: Between two samples, as declared.
        self.period_ns = round(1e9 / rate)
        self._seconds = 1.0 / rate
        self._overdue_ns = _OVERDUE * self.period_ns
        self._silence = silence_s * rate
        half = _MEMORY if period is None else max(1, period // 2 - 1)
        #: Numbers of dated samples and of counts in memory; less than half of a count's range.
        self._dates = min(max(64, round(_MEMORY_S * rate)), _MEMORY)
        self._memory = min(self._dates, half)
        self._newest: Received | None = None
        self._came_ns = self._heard_ns = 0
        self._begin_memory()
        #: When a sample came that was waited for, and how far the count went on since.
        self._fresh_ns, self._since_fresh = 0, 0
        #: By what the device was found to have restarted.
        self.begun_anew = ""
        self._held = 0
        self._first: deque[_Line] = deque(maxlen=_LINES)
        self._ahead: _Line | None = None
        self._before: _Line | None = None
        #: Whether the last sample did not follow those before it.
        self.in_doubt = False
        #: Whether the last sample follows, and is young enough to be answered.
        self.follows = False
        #: By how much the newest sample was on its way longer than the quickest, s, or since the
        #: request that it answers, if that is longer.
        self.delay_s, self.answers_late = 0.0, False
        #: How many samples came that are older than the newest, or came again.
        self.old = 0
        #: Why a sample was refused last, in words.
        self.refused = ""
        #: When the device's clock ticked up to the last sample, since the one before: once for
        #: each sample that it counted, CLOCK_MONOTONIC in nanoseconds.
        self.ticked_ns: tuple[int, ...] = ()

    def _begin_memory(self) -> None:
        self._seen: dict[int, int] = {}
        self._order: deque[int] = deque()
        self._dated: dict[int, None] = {}
        self._accepted = 0  # samples since the first
        self._gone = 0  # by so much the count went on since the first sample

    def refuse(self) -> None:
        """Count what was no sample."""
        self.facts.malformed += 1

    def take(self, received: Received, now_ns: int) -> bool:
        """Judge a sample.

        received: The sample.
        now_ns: When it came, by ``CLOCK_MONOTONIC``, in nanoseconds.
        Returns: Whether its values are to be used: it is new, valid, and all of them are finite.
        """
        values, self.ticked_ns, self.follows = received.values, (), False
        before_ns, self._heard_ns = self._heard_ns, now_ns
        if len(values) != self._size or not all(map(math.isfinite, values)):
            self.refuse()
            return False
        gap = self.gap(received)
        if self._newest is None:
            is_new = True
        elif received.device_time is not None and _dated(received) in self._dated:
            self.facts.repeated += 1  # whatever a count says that begins again soon
            self.old += 1
            return False
        elif gap <= 0:
            is_new = self._from_before(received, gap, now_ns)
        else:
            is_new = self._goes_on(received, gap, now_ns)
        if not is_new:
            return False
        self._accept(received, self.gap(received), before_ns, now_ns)
        return self._use(received, now_ns)

    def _use(self, received: Received, now_ns: int) -> bool:
        facts = self.facts
        time_s = received.device_time
        delay_s = 0.0
        if time_s is not None and math.isfinite(time_s):
            delay_s = self.clock.take(time_s, now_ns)
        self.follows = delay_s <= _ANSWERED_IN * self._seconds + self.clock.scatter
        facts.status, facts.valid = received.status, int(received.valid)
        if not received.valid and facts.number:
            return False
        self.answers_late = received.age is not None and received.age > delay_s
        self.delay_s = delay_s = max(delay_s, received.age or 0.0)
        facts.number += 1
        facts.received_ns = now_ns - round(delay_s * 1e9)
        facts.device_time = math.nan if time_s is None else time_s
        return True

    def gap(self, received: Received) -> int:
        """Return by how many samples one is newer than the newest; below 0: older."""
        return 1 if self._newest is None else self._between(self._newest, received)

    def _between(self, first: Received, second: Received) -> int:
        if first.sequence is None or second.sequence is None:
            return self._periods_between(first, second)
        gap = second.sequence - first.sequence
        if self._period is None:
            return gap
        gap %= self._period
        seconds = _seconds_between(first, second) if self._period <= _SHORT else None
        if seconds is not None:  # the clock tells how often a short count began again
            return gap + round((seconds / self._seconds - gap) / self._period) * self._period
        return gap if gap <= self._period // 2 else gap - self._period

    def _periods_between(self, first: Received, second: Received) -> int:
        """Count by the device's clock where there is no count: its times may be coarse."""
        seconds = _seconds_between(first, second)
        if seconds is None:
            return 1
        if seconds == 0.0:
            return 0 if tuple(first.values) == tuple(second.values) else 1
        return int(math.copysign(max(1, round(abs(seconds) / self._seconds)), seconds))

    def confirms(self, received: Received, now_ns: int) -> bool:
        """Note a first sample, and return whether it comes from a device that runs.

        A device runs if three samples count on from each other, and their time has passed here as
        well. A single old sample, or several at once, belong to another run. Of two lines, the
        device sends the one that is ahead. Samples without number and time confirm themselves, as
        do samples that answer a request of this machine.
        """
        if received.age is not None or (received.sequence, received.device_time) == (None, None):
            return True
        line = _Line(now_ns, now_ns, received, received)
        for before in self._first:
            if self._between(before.last, received) == 0:
                self.facts.repeated += 1
                return False
            if self._is_next(before, received):
                line = before.followed_by(received, now_ns, self.period_ns, 0)
                self._first.remove(before)
                break
        others = list(self._first)
        self._first.append(line)
        behind = [self._between(line_at_once.last, received) > 0 for line_at_once in others]
        ahead = [o for o, is_behind in zip(others, behind, strict=True) if not is_behind]
        if not self._is_live(line, now_ns) or any(self._still(o, line, now_ns) for o in ahead):
            return False
        for line_at_once, is_behind in zip(others, behind, strict=True):
            self.facts.late += line_at_once.count * is_behind
            self.facts.malformed += line_at_once.count * (not is_behind)
        self._fresh_ns, self._since_fresh = now_ns, 0
        return True

    def _still(self, candidate: _Line, line: _Line, now_ns: int) -> bool:
        """Whether another line still receives samples that alternate with those of this line."""
        is_young = now_ns - candidate.last_ns <= _LINE_GAP * self.period_ns
        return candidate.count > 1 and is_young and candidate.last_ns > line.first_ns

    def _is_live(self, line: _Line, now_ns: int) -> bool:
        """Whether enough samples came in a line, and not all at once."""
        if line.count < _CONFIRMED:
            return False
        seconds = _seconds_between(line.first, line.last)
        if seconds is None:
            seconds = self._between(line.first, line.last) * self._seconds
            if line.count > _BACK:
                return True  # of undated samples the true rate may be another one
        return (now_ns - line.first_ns) * 1e-9 >= _LIVE * seconds

    @property
    def unconfirmed(self) -> str:
        """Say why no sample that came was used; empty: one was, or none came."""
        if self._newest is not None or not self._first:
            return ""
        facts = self.facts
        count = sum(line.count for line in self._first) + facts.repeated
        return (
            f"{count} sample{'s' * (count > 1)} came, {facts.repeated} of them repeated, but no"
            f" {_CONFIRMED} counted on from each other as time passed: they are of another run, or"
            " the device stands; restart it, or end the program that sends them"
        )

    def _goes_on(self, received: Received, gap: int, now_ns: int) -> bool:
        """Whether a sample that is newer is to be used: it follows, or others confirmed it."""
        assert self._newest is not None  # noqa: S101 - see take
        if not (reason := self._strange(self._newest, received, gap, now_ns)):
            self._drop_ahead(received, now_ns)
            return True
        self._ahead = line = self._line(self._ahead, received, now_ns)
        self.in_doubt = True
        is_replay = line.count >= _BACK and self._between(line.first, self._newest) >= 0
        if is_replay or (line.count >= _CONFIRMED and self._accepted <= _BACK):
            return self._go_over(line)  # the newest line has what came before, or had just begun
        if line.alone < _CONFIRMED:
            return False  # while the newest line goes on, another is of another device
        ahead_s = self._ahead_s(received, gap, now_ns)
        if self._fits(self._newest, received, gap) and ahead_s <= self._most_ahead_s(received):
            if ahead_s > 0.0:
                return self._go_over(line)
            if line.paced < _CONFIRMED:
                return False  # behind: what lies in a queue catches up with the time
        is_quiet = self._is_quiet(received, now_ns)
        if is_quiet:
            self._restart(reason)
        return is_quiet

    def _is_quiet(self, received: Received, now_ns: int) -> bool:
        """Whether nothing of the newest line came for a while; a short count alone cannot wait."""
        can_wait = self._period is None or self._period > _SHORT
        can_wait = can_wait or received.device_time is not None
        return not can_wait or now_ns - self._came_ns >= _BACK * self.period_ns

    def _go_over(self, line: _Line) -> bool:
        self._held, self._ahead = line.count - 1, None
        return True

    def _drop_ahead(self, received: Received, now_ns: int) -> None:
        line = self._ahead
        if line is None:
            return
        if 0 < self._between(line.last, received) <= _LINE_GAP:
            self._held, self._ahead = line.count, None
        elif now_ns - line.last_ns > _BACK * self.period_ns:
            self._ahead = None
            self.facts.malformed += line.count
            self.refused = f"{line.count} samples with a number or a time that no others confirmed"

    def _most_ahead_s(self, received: Received) -> float:
        """Return by how much a delay may fall at once: a short count alone tells less."""
        limit = max(self._silence, _BACK)
        if received.device_time is None and self._period is not None:
            limit = min(limit, self._period / 8.0)
        return limit * self._seconds

    def _strange(self, newest: Received, received: Received, gap: int, now_ns: int) -> str:
        """Say why a newer sample does not follow from the newest; empty: it does."""
        seconds = _seconds_between(newest, received)
        if seconds is None:
            return self._strange_count(gap, now_ns) if gap > 1 else ""
        if seconds < -_BACK * self._seconds:
            return f"its clock went back by {-seconds:.3g} s"
        if not self._fits(newest, received, gap):
            return f"its count went on by {gap} in {seconds:.3g} s of its clock"
        if gap == 1 and seconds <= _OVERDUE * self._seconds:
            return ""  # it comes quicker than those before: nothing lies between
        ahead_s = self._ahead_s(received, gap, now_ns)
        if ahead_s > _OVERDUE * self._seconds + self.clock.scatter:
            return f"its clock went on by {seconds:.3g} s, {ahead_s:.3g} s more than the time"
        return ""

    def _fits(self, newest: Received, received: Received, gap: int) -> bool:
        """Whether count and clock of the device went on together; a device may pause."""
        seconds = _seconds_between(newest, received)
        if seconds is None:
            return True
        due = gap / RATE_TOLERANCE - _SLACK
        return seconds >= -_BACK * self._seconds and seconds / self._seconds >= due

    def _ahead_s(self, received: Received, gap: int, now_ns: int) -> float:
        """Return by how much a sample is ahead of the time, s; what is behind is not."""
        if received.device_time is not None and self.clock.is_known:
            return max(0.0, -self.clock.excess(received.device_time, now_ns))
        if not self._fresh_ns:
            return 0.0
        due = (gap + self._since_fresh) / RATE_TOLERANCE - _SLACK
        return max(0.0, due * self._seconds - (now_ns - self._fresh_ns) * 1e-9)

    def _strange_count(self, gap: int, now_ns: int) -> str:
        """Hold a count without a clock against the time: half of its range looks like a gap."""
        silent = (now_ns - self._came_ns) / self.period_ns
        period = self._period or math.inf
        if silent > min(self._silence, period / 2) and self._period is not None:
            slow = gap < silent / RATE_TOLERANCE - _SLACK
            if slow or silent > period / 2:
                return (
                    f"after {silent * self.period_ns * 1e-9:.3g} s of silence its count says less"
                )
        if self._ahead_s(Received((), None), gap, now_ns) > 0.0:
            return f"its count went on by {gap}, faster than it samples"
        return ""

    def _from_before(self, received: Received, gap: int, now_ns: int) -> bool:
        """Judge a sample that is not newer; whether it is the first of a device that restarted."""
        assert self._newest is not None  # noqa: S101 - see take
        facts = self.facts
        number = self._newest.sequence if received.sequence is None else received.sequence
        self.old += 1
        if gap == 0 or self._seen.get(self._key(received), None) == _content(received):
            facts.repeated += 1
            return False
        facts.late += 1
        is_gap = number not in self._seen
        if received.sequence is None:  # any time is new: one that is long gone is of a restart
            is_gap = -gap <= max(self._silence, _BACK)
        if is_gap and -gap < min(self._gone, self._memory) and self._fits_back(received, gap):
            facts.lost -= min(facts.lost, 1)  # it was taken for lost when a newer one came
            return False
        line = self._before
        if line is not None and self._came_ns > line.first_ns:
            line = None
        self._before = line = self._line(line, received, now_ns)
        self.in_doubt = True
        span = now_ns - line.first_ns
        is_paced = span >= _PACE * (line.count - 1) * self.period_ns
        if line.count < _CONFIRMED or not is_paced or not self._is_quiet(received, now_ns):
            return False
        facts.late -= line.count  # they were the first of the new count
        counter = "clock" if received.sequence is None else "count"
        self._restart(f"its {counter} started again")
        return True

    def _fits_back(self, received: Received, gap: int) -> bool:
        assert self._newest is not None  # noqa: S101 - see take
        seconds = _seconds_between(self._newest, received)
        if seconds is None:
            return True
        return abs(seconds / self._seconds - gap) <= _SLACK + abs(gap) * (RATE_TOLERANCE - 1.0)

    def _line(self, line: _Line | None, received: Received, now_ns: int) -> _Line:
        if line is not None:
            gap = self._between(line.last, received)
            if gap == 0:
                return line
            if self._is_next(line, received):
                return line.followed_by(received, now_ns, self.period_ns, self._came_ns)
            if line is self._ahead:
                self.facts.malformed += line.count
                self.refused = "a number or a time far ahead that no other sample confirmed"
        return _Line(now_ns, now_ns, received, received)

    def _is_next(self, line: _Line, received: Received) -> bool:
        gap = self._between(line.last, received)
        seconds = _seconds_between(line.last, received)
        is_next = 0 < gap <= _LINE_GAP and self._fits(line.last, received, gap)
        return is_next and (seconds is None or 0.0 <= seconds <= _BACK * self._seconds)

    def _restart(self, reason: str) -> None:
        self.begun_anew = reason
        self.facts.restarts += 1
        self._newest, self._ahead, self._before = None, None, None
        self._fresh_ns = self._since_fresh = 0
        self.clock.begin()
        self._begin_memory()

    def _accept(self, received: Received, gap: int, before_ns: int, now_ns: int) -> None:
        accepted_ns, self._came_ns = self._came_ns, now_ns
        begins = self._newest is None
        held, self._held = self._held, 0
        self.facts.number += held
        if not begins and gap > 1:
            self.facts.lost += max(gap - 1 - held, 0)
        elif not begins and now_ns - before_ns > self._overdue_ns:
            self.facts.late += 1
        self._newest, self._before, self.in_doubt = received, None, False
        self._first.clear()
        self._gone += 0 if begins else gap
        self._accepted += 1
        self._remember(received)
        self.ticked_ns = self._ticks(gap, accepted_ns, now_ns)
        self._pace(gap, before_ns, now_ns)

    def _key(self, received: Received) -> int:
        if received.sequence is not None:
            return received.sequence
        return 0 if received.device_time is None else hash(received.device_time)

    def _remember(self, received: Received) -> None:
        key = self._key(received)
        if received.device_time is not None:
            if len(self._dated) >= self._dates:
                del self._dated[next(iter(self._dated))]
            self._dated[_dated(received)] = None
        elif received.sequence is None:
            return
        if len(self._order) >= self._memory:
            self._seen.pop(self._order.popleft(), None)
        self._order.append(key)
        self._seen[key] = _content(received)

    def _pace(self, gap: int, before_ns: int, now_ns: int) -> None:
        """Take note of when the count was where it is: what lay in a queue came later."""
        waited = gap == 1 and before_ns and now_ns - before_ns > _WAITED * self.period_ns
        if waited and now_ns - before_ns < self._overdue_ns:
            self._fresh_ns, self._since_fresh = now_ns, 0
        else:
            self._since_fresh += max(gap, 0)

    def _ticks(self, gap: int, before_ns: int, now_ns: int) -> tuple[int, ...]:
        """Return when the samples would have come up to this one; a jump of a count is no time."""
        elapsed = (now_ns - before_ns) / self.period_ns if before_ns else 0.0
        count = max(1, min(gap, 1 + int(2.0 * elapsed)))
        return tuple(now_ns - round(k * self.period_ns) for k in range(count - 1, -1, -1))


def _dated(received: Received) -> int:
    return hash((received.sequence, received.device_time, tuple(received.values)))


def _content(received: Received) -> int:
    return hash((received.device_time, tuple(received.values)))


def _seconds_between(first: Received, second: Received) -> float | None:
    if first.device_time is None or second.device_time is None:
        return None
    seconds = second.device_time - first.device_time
    return seconds if math.isfinite(seconds) else None
