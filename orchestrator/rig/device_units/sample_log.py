"""Every sample of a device, and which command was sent when: written by the device's process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SampleLog:
    """What a device's process received and sent.

    Parameters
    ----------
    numbers
        Shape (n,): of each sample, as the run counts them (``samples``).
    ticks
        Shape (n,), increasing: the device's own count of each, lost ones included.
    arrivals
        s, shape (n,), by ``CLOCK_MONOTONIC``.
    late_answers
        Shape (n,): how many answers the device had found late until then; -1: it does not say.
    values
        Shape (n, outputs).
    given
        Shape (m,): the number of each command that was sent, 1 for the first of the run, 0 before.
    answered
        Shape (m,): the tick of the sample that each command answered; -1: it answered none.
    sent
        s, shape (m,), by ``CLOCK_MONOTONIC``.
    commands
        Shape (m, inputs): what was sent.
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

    Parameters
    ----------
    answers
        Whether the device takes a command as the answer to a sample only.
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
