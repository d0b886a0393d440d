"""Samples of a device: which are new, lost, late or repeated, and a log of every one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DeviceError
from orchestrator.core.structs import Struct, replace
from orchestrator.engine import SampleFacts
from orchestrator.rig.devices import Received

#: Periods over which is measured, at most, and for how long, in seconds.
_PERIODS, _SECONDS = 8, 0.1
#: How far the measured rate may be from the declared one, as a factor.
RATE_TOLERANCE = 1.2


class RateCheck:
    """Measures the rate of the first samples; a device without clock or count is not measured.

    rate: Samples per second that are expected.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._wanted = min(_PERIODS, max(1, int(rate * _SECONDS)))
        self._first: tuple[float, int] | None = None
        #: Whether nothing more is to be measured.
        self.done = False

    def take(self, received: Received) -> None:
        """Take a new sample into account."""
        if received.device_time is None or received.sequence is None:
            self.done = True
            return
        if self._first is None:
            self._first = received.device_time, received.sequence
            return
        seconds = received.device_time - self._first[0]
        periods = received.sequence - self._first[1]
        if seconds <= 0.0 or periods <= 0:  # a count that began again, a clock that stands
            self.done = True
            return
        if periods < self._wanted:
            return
        self.done = True
        found = periods / seconds
        if not 1.0 / RATE_TOLERANCE <= found / self._rate <= RATE_TOLERANCE:
            raise DeviceError(
                f"it sends {found:.4g} samples a second by its own clock; expected"
                f" {self._rate:.4g}: set the device or its settings to the same rate"
            )


#: Undated samples are counted for so many seconds or more, and their rate is another one beyond
#: this factor: a busy computer delays a sender in software by less.
_COUNTED, _OTHER = 0.5, 1.5


def other_rate(first: SampleFacts, last: SampleFacts, rate: float) -> str:
    """Say at which rate samples came that no clock of their device dates, if it is another."""
    seconds = (last.received_ns - first.received_ns) * 1e-9
    if math.isfinite(last.device_time) or seconds < _COUNTED:
        return ""
    found = (last.number + last.lost - first.number - first.lost) / seconds
    if 1.0 / _OTHER <= found / rate <= _OTHER:
        return ""
    return f"; they came at {found:.4g} per second, and it is declared to send {rate:.4g}"


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

    size: Values of a sample.
    rate: Samples per second that are expected.
    period: After how many samples the device's count begins again at 0; ``None``: never.
    silence_s: A count that begins again says less after so long without a sample.
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

        received: The sample.
        now_ns: When it came, by ``CLOCK_MONOTONIC``, in nanoseconds.
        Returns: Whether its values are to be used: it is new, valid, and all of them are finite.
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
        gap, before, now = self.gap(received.sequence), self.facts.device_time, received.device_time
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


Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


class SampleLog(Struct, eq=False):
    """What a device's process received and sent.

    numbers: Shape (n,): of each sample, as the run counts them (``samples``).
    ticks: Shape (n,), increasing: the device's own count of each, lost ones included.
    arrivals: s, shape (n,), by ``CLOCK_MONOTONIC``.
    late_answers: Shape (n,): how many answers the device had found late until then; -1: it does not
        say.
    values: Shape (n, outputs).
    given: Shape (m,): the number of each command that was sent, 1 for the first of the run, 0
        before.
    answered: Shape (m,): the tick of the sample that each command answered; -1: it answered none.
    sent: s, shape (m,), by ``CLOCK_MONOTONIC``.
    commands: Shape (m, inputs): what was sent.
    """

    numbers: Numbers
    ticks: Numbers
    arrivals: Floats
    late_answers: Numbers
    values: Floats
    given: Numbers
    answered: Numbers
    sent: Floats
    commands: Floats

    def samples_of(self, first: int, last: int) -> SampleLog:
        """Return the log with some of its samples, and all commands."""
        part = slice(first, last)
        return replace(
            self,
            numbers=self.numbers[part],
            ticks=self.ticks[part],
            arrivals=self.arrivals[part],
            late_answers=self.late_answers[part],
            values=self.values[part],
        )

    @property
    def taken(self) -> npt.NDArray[np.bool_]:
        """Shape (m,): which commands the device took, as far as its count of late answers says.

        An answer to a sample is late if the next sample says so. Samples that were lost on the way
        were not answered: where some were lost between two samples, only the first was.
        """
        found = np.ones(len(self.given), dtype=np.bool_)
        told = self.late_answers >= 0
        if not told.all() or len(told) < 2:
            return found
        cycles, late = np.diff(self.ticks), np.diff(self.late_answers)
        refused = self.ticks[:-1][late >= cycles]
        return found & ~np.isin(self.answered, refused)


class SampleLogWriter:
    """Keeps what a device's process receives and sends, and writes it at the end.

    answers: Whether the device takes a command as the answer to a sample only.
    """

    def __init__(self, *, answers: bool) -> None:
        self._answers, self._tick = answers, 0
        self._samples: list[tuple[float, ...]] = []
        self._commands: list[tuple[float, ...]] = []
        self._answer: tuple[float, ...] = ()

    def sent(self, number: int, now_ns: int, values: Sequence[float]) -> None:
        """Take note of a command: of an answer, before the sample that it answers is judged."""
        command = (number, -1, now_ns * 1e-9, *values)
        if self._answers:
            self._answer = command
        else:
            self._commands.append(command)

    def received(
        self, number: int, ticks: int, now_ns: int, late: int | None, values: Sequence[float] | None
    ) -> None:
        """Take note of a sample that counted on by so many ticks; ``None``: it has no values."""
        self._tick += ticks
        if self._answer:
            self._commands.append((self._answer[0], self._tick, *self._answer[2:]))
            self._answer = ()
        if values is not None:
            told = -1 if late is None else late
            self._samples.append((number, self._tick, now_ns * 1e-9, told, *values))

    def write(self, path: Path, inputs: int, outputs: int) -> None:
        """Write a file that :func:`read_sample_log` reads."""
        samples = np.array(self._samples, dtype=np.float64).reshape(-1, 4 + outputs)
        commands = np.array(self._commands, dtype=np.float64).reshape(-1, 3 + inputs)
        with path.open("wb") as file:
            np.savez(file, samples=samples, commands=commands)


def read_sample_log(path: Path) -> SampleLog:
    """Read what a device's process left."""
    with np.load(path) as found:
        samples, commands = found["samples"], found["commands"]
    return SampleLog(
        *(samples[:, 0].astype(np.int64), samples[:, 1].astype(np.int64), samples[:, 2]),
        *(samples[:, 3].astype(np.int64), samples[:, 4:]),
        *(commands[:, 0].astype(np.int64), commands[:, 1].astype(np.int64)),
        *(commands[:, 2], commands[:, 3:]),
    )
