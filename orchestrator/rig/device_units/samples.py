"""Samples of a device: their rate, and a log of every one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DeviceError
from orchestrator.core.structs import Struct, replace
from orchestrator.engine import SampleFacts
from orchestrator.rig.device_units.sequence import RATE_TOLERANCE
from orchestrator.rig.devices import Received

#: Periods over which is measured, at most, and for how long, in seconds.
_PERIODS, _SECONDS = 8, 0.1


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
        measured_rate = periods / seconds
        if not 1.0 / RATE_TOLERANCE <= measured_rate / self._rate <= RATE_TOLERANCE:
            raise DeviceError(
                f"it sends {measured_rate:.4g} samples a second by its own clock; expected"
                f" {self._rate:.4g}: set the device or its settings to the same rate"
            )


#: Undated samples are counted for at least this time, s, and their rate is another one beyond
#: this factor: a busy computer delays a sender in software by less.
_COUNTED, _OTHER = 0.5, 1.5


def other_rate(first: SampleFacts, last: SampleFacts, rate: float) -> str:
    """Say at which rate samples came that no clock of their device dates, if it is another."""
    seconds = (last.received_ns - first.received_ns) * 1e-9
    if math.isfinite(last.device_time) or seconds < _COUNTED:
        return ""
    measured_rate = (last.number + last.lost - first.number - first.lost) / seconds
    if 1.0 / _OTHER <= measured_rate / rate <= _OTHER:
        return ""
    return f"; they came at {measured_rate:.4g} per second, and it is declared to send {rate:.4g}"


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
    commanded: Shape (m,): the number of each command that was sent, 1 for the first of the run, 0
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
    commanded: Numbers
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
        is_taken = np.ones(len(self.commanded), dtype=np.bool_)
        counts_late = self.late_answers >= 0
        if not counts_late.all() or len(counts_late) < 2:
            return is_taken
        cycles, late_steps = np.diff(self.ticks), np.diff(self.late_answers)
        refused = self.ticks[:-1][late_steps >= cycles]
        return is_taken & ~np.isin(self.answered, refused)


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
        self,
        number: int,
        ticks: int,
        now_ns: int,
        late_answers: int | None,
        values: Sequence[float] | None,
    ) -> None:
        """Record a sample whose count advanced by a number of ticks; ``None``: it has no values."""
        self._tick += ticks
        if self._answer:
            self._commands.append((self._answer[0], self._tick, *self._answer[2:]))
            self._answer = ()
        if values is not None:
            late_count = -1 if late_answers is None else late_answers
            self._samples.append((number, self._tick, now_ns * 1e-9, late_count, *values))

    def write(self, path: Path, inputs: int, outputs: int) -> None:
        """Write a file that :func:`read_sample_log` reads."""
        samples = np.array(self._samples, dtype=np.float64).reshape(-1, 4 + outputs)
        commands = np.array(self._commands, dtype=np.float64).reshape(-1, 3 + inputs)
        with path.open("wb") as file:
            np.savez(file, samples=samples, commands=commands)


def read_sample_log(path: Path) -> SampleLog:
    """Read what a device's process left."""
    with np.load(path) as arrays:
        samples, commands = arrays["samples"], arrays["commands"]
    return SampleLog(
        *(samples[:, 0].astype(np.int64), samples[:, 1].astype(np.int64), samples[:, 2]),
        *(samples[:, 3].astype(np.int64), samples[:, 4:]),
        *(commands[:, 0].astype(np.int64), commands[:, 1].astype(np.int64)),
        *(commands[:, 2], commands[:, 3:]),
    )


def delay_text(delay_s: float, *, is_asked: bool) -> str:
    """Say why samples are old although they come.

    delay_s: By how much they were on their way too long.
    is_asked: Whether that is the time since the requests that they answer.
    """
    if is_asked:
        return (
            f"its samples answer requests of {delay_s:.3g} s ago: requests or samples are held on"
            " their way"
        )
    return (
        f"its samples come, {delay_s:.3g} s older by its own clock than the quickest: they are held"
        " on their way, or its clock stood"
    )
