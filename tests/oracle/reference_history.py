"""The history of one signal in Python, bit for bit as engine/src/core/history.cpp reads it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oracle.reference_draws import Draws
from oracle.reference_waveform import Waveform, moved, through, value_through

from orchestrator.core.coupling import Channel, LineStatistics
from orchestrator.core.master.schedule.rows import Extrapolation, Interpolation


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample: when it was taken, its value, and from when on the receiver has it."""

    time_ns: int
    value: float
    due_ns: float


@dataclass(frozen=True, slots=True)
class Around:
    """The samples that a reading is made from."""

    before: Sample | None
    low: Sample
    high: Sample
    after: Sample | None
    beyond: bool

    def share(self, time_ns: int) -> float:
        """Where a time lies: 0 at low, 1 at high."""
        span = float(self.high.time_ns - self.low.time_ns)
        return float(time_ns - self.low.time_ns) / span if span > 0.0 else 1.0


class ReferenceHistory:
    """Samples of one signal, and what its receiver knows of them.

    Parameters
    ----------
    depth, interpolation, extrapolation
        A row of the schedule's histories.
    channel
        How samples are delivered; ``None``: with the nominal delay.
    start_ns, value
        The first sample.
    """

    def __init__(
        self,
        depth: int,
        interpolation: int,
        extrapolation: int,
        channel: Channel | None,
        start_ns: int,
        value: float,
    ) -> None:
        self.interpolation = Interpolation(interpolation)
        self.extrapolation = Extrapolation(extrapolation)
        self._began = self._ended = value
        self._last_read_ns = -math.inf
        self._channel = channel
        self._draws = Draws(channel) if channel else None
        self._first = Sample(start_ns, value, -math.inf)
        self._ring = deque([self._first], maxlen=max(depth, 2))
        self._kept = self._first
        self.pushed = 0
        self._latest_due = -math.inf
        self._counts = dict.fromkeys(("sent", "dropped", "late", "held", "oldest_ns"), 0)

    @property
    def statistics(self) -> LineStatistics:
        """What the line did so far."""
        return LineStatistics(**self._counts)

    def push(self, time_ns: int, value: float) -> None:
        """Append a sample."""
        due = self._due(time_ns) if self._draws else -math.inf
        self._ring.append(Sample(time_ns, value, due))
        self.pushed += 1

    def put(self, time_ns: int, value: float) -> None:
        """Append a sample, or give the newest one another value if it has this time."""
        if self.pushed and self.newest.time_ns == time_ns:
            self.amend(value)
        else:
            self.push(time_ns, value)

    def take_back(self, time_ns: int) -> None:
        """Take the newest sample back if it has this time."""
        if self.pushed and self.newest.time_ns == time_ns:
            self.rewind(self.pushed - 1)

    @property
    def newest(self) -> Sample:
        """The last sample that was pushed."""
        return self._ring[-1]

    def begin(self, value: float) -> None:
        """Let the first sample, the only one so far, have another value."""
        self._first = self._kept = replace(self._first, value=value)
        self._ring[-1] = self._first
        self._began = self._ended = value

    def rewind(self, pushed: int) -> None:
        """Take samples back, until so many were pushed."""
        while self.pushed > pushed:
            self._ring.pop()
            self.pushed -= 1

    def amend(self, value: float) -> None:
        """Give the newest sample, unless it is the first, the value that it has after an event."""
        if self._ring[-1] is not self._first:
            self._ring[-1] = replace(self._ring[-1], value=value)

    def _due(self, time_ns: int) -> float:
        assert self._draws is not None
        assert self._channel is not None
        before_ns = self._ring[-1].time_ns
        delay = self._draws.next(time_ns, time_ns - before_ns)
        self._counts["sent"] += 1
        if delay is None:
            self._counts["dropped"] += 1
            return math.inf
        late = delay - self._channel.nominal_ns
        self._counts["late"] += late > 0
        due: float = time_ns + late
        if self.interpolation is not Interpolation.HOLD:
            due = before_ns + late if late > 0 else -math.inf
        self._latest_due = max(self._latest_due, due)
        return self._latest_due if self._channel.in_order else due

    def _known(self, time_ns: int) -> list[Sample]:
        """What the receiver has in order of time, the sample that it holds included."""
        known = [s for s in self._ring if s.due_ns <= time_ns]
        if self._channel and (not known or self._kept.time_ns < known[0].time_ns):
            known.insert(0, self._kept)
        return known

    def _held(self, known: Sequence[Sample]) -> Sample:
        if self._channel is None or not self._channel.by_arrival:
            return known[-1]
        return max(known, key=lambda s: (s.due_ns, s.time_ns))

    def _samples_around(self, time_ns: int) -> list[tuple[int, float]]:
        """Up to six samples in a row, the time between the third and the fourth if it can be."""
        ring = [(sample.time_ns, sample.value) for sample in self._ring]
        found = max(i for i, (taken_ns, _) in enumerate(ring) if taken_ns <= time_ns)
        last = min(found + 3, len(ring) - 1)
        return ring[max(last - 5, 0) : last + 1]

    def _read_curve(self, time_ns: int, now_ns: int) -> float:
        if time_ns <= self._first.time_ns or time_ns > self.newest.time_ns:
            return self.read(time_ns, now_ns)
        return value_through(self._samples_around(time_ns), time_ns)

    def follow(self, begin_ns: int, span_ns: int, now_ns: int, *, keeps_end: bool) -> Waveform:
        """Return the signal over a span; see History::follow of the engine."""
        end_ns = begin_ns + span_ns
        if begin_ns >= self._first.time_ns and end_ns <= self.newest.time_ns:
            points = self._samples_around(begin_ns)
            if end_ns <= points[-1][0]:
                return through(points, begin_ns, span_ns, keeps_end=keeps_end)
        parts = min(span_ns, 5)
        times = [begin_ns + span_ns * i // parts for i in range(parts + 1)]
        points = [(t, self._read_curve(t, now_ns)) for t in times]
        return through(points, begin_ns, span_ns, keeps_end=keeps_end)

    def read(self, time_ns: int, now_ns: int) -> float:
        """Return the value at a time; see History::read of the engine."""
        if self.interpolation is not Interpolation.HOLD:
            return self._between(self.around(time_ns, now_ns), time_ns)
        known = self._known(time_ns)
        if self._channel is None:
            known = [s for s in known if s.time_ns <= time_ns]
        if not known:
            self._expect_whole()
            return self._first.value
        found = self._held(known)
        if self._channel is not None:
            repeated = found.time_ns == self._kept.time_ns != self._first.time_ns
            self._count(now_ns, found, held=repeated)
            self._kept = found
        return found.value

    def _expect_whole(self) -> None:
        if self._ring[0] is not self._first:
            raise RuntimeError("it is read further back than its samples are kept")

    def _count(self, now_ns: int, newest: Sample, *, held: bool) -> None:
        """Count a reading, once in a step."""
        if now_ns > self._last_read_ns:
            self._last_read_ns = now_ns
            self._counts["held"] += held
            age = now_ns - newest.time_ns
            self._counts["oldest_ns"] = max(self._counts["oldest_ns"], age)

    def smooth(self, now_ns: int, end: float) -> float:
        """Return from where a smoothed reading heads for its end; see History::smooth."""
        if now_ns > self._last_read_ns:
            self._began = self._ended
        self._last_read_ns = now_ns
        self._ended = end
        return self._began

    def around(self, time_ns: int, now_ns: int) -> Around:
        """Return the samples around a time; see History::around of the engine."""
        samples = self._known(time_ns)
        past = [s for s in samples if s.time_ns <= time_ns]
        if not past:
            self._expect_whole()
            past = samples[:1]
        coming = samples[len(past) :]
        place = len(past) - 1
        beyond = not coming and time_ns > past[-1].time_ns
        low, high = (place, place + 1) if coming else (place - 1, place)
        around = Around(
            samples[low - 1] if low > 0 else None,
            samples[max(low, 0)],
            samples[high],
            samples[high + 1] if high + 1 < len(samples) else None,
            beyond,
        )
        if self._channel is not None or self.interpolation is Interpolation.SLERP:
            held = beyond and around.high.time_ns != self._first.time_ns
            self._count(now_ns, around.high, held=held)
        if self._channel is not None:
            self._kept = past[-1]
        return around

    def _between(self, found: Around, time_ns: int) -> float:
        if time_ns <= self._first.time_ns:
            return found.low.value
        held = found.beyond and self.extrapolation is Extrapolation.HOLD
        if held or found.high.time_ns == time_ns:
            return found.high.value
        if (
            found.beyond
            and self.extrapolation is Extrapolation.QUADRATIC
            and found.before is not None
        ):
            bend = _bend(found.before, found.low, found.high)
            return _bent(found, time_ns, bend, bend)
        curved = found.before is not None or found.after is not None
        if found.beyond or self.interpolation is Interpolation.LINEAR or not curved:
            low = found.low.value
            return moved(low, found.share(time_ns) * (found.high.value - low))
        left = _bend(found.before, found.low, found.high) if found.before else 0.0
        right = _bend(found.low, found.high, found.after) if found.after else left
        return _bent(found, time_ns, left if found.before else right, right)


def _slope(one: Sample, two: Sample) -> float:
    return (two.value - one.value) / float(two.time_ns - one.time_ns)


def _bend(a: Sample, b: Sample, c: Sample) -> float:
    return (_slope(b, c) - _slope(a, b)) / float(c.time_ns - a.time_ns)


def _bent(found: Around, time_ns: int, first: float, second: float) -> float:
    s = found.share(time_ns)
    h = float(found.high.time_ns - found.low.time_ns)
    line = moved(found.low.value, s * (found.high.value - found.low.value))
    return moved(line, -(s * (1.0 - s) * h * h * ((1.0 - s) * first + s * second)))


def on_arc(low: Sequence[float], high: Sequence[float], share: float) -> list[float]:
    """Turn from one quaternion to another along the shorter arc; see the engine's on_arc."""
    dot = 0.0
    for one, two in zip(low, high, strict=True):
        dot += one * two
    low_scale = 1.0 / _norm(low)
    high_scale = (-1.0 if dot < 0.0 else 1.0) / _norm(high)
    apart = [a * low_scale - b * high_scale for a, b in zip(low, high, strict=True)]
    together = [a * low_scale + b * high_scale for a, b in zip(low, high, strict=True)]
    angle = 2.0 * math.atan2(_norm(apart), _norm(together))
    first, second = 1.0 - share, share
    if angle > 1e-8:
        whole = math.sin(angle)
        first, second = math.sin(first * angle) / whole, math.sin(second * angle) / whole
    turned = [
        first * (a * low_scale) + second * (b * high_scale) for a, b in zip(low, high, strict=True)
    ]
    length = _norm(turned)
    return [x / length for x in turned]


def _norm(q: Sequence[float]) -> float:
    return math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
