"""What a verification says: differences between runs with H, H/2 and H/4, output by output."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.recording import Result
from orchestrator.core.system import seconds
from orchestrator.core.system.naming import lacking

Floats = NDArray[np.float64]


class Flag(StrEnum):
    """What is to be known of an output's figures.

    ``not converging``: H/2 and H/4 differ no less than H and H/2. ``round-off``: the finer runs
    are equal but for rounding, or the output is nothing else. ``discrete``: an Integer or Boolean,
    whose samples are counted. ``random``: it depends on draws that each sample makes anew.
    ``jump``: it differs most where it jumps, as the jump comes at another time.
    """

    NOT_CONVERGING = "not converging"
    ROUND_OFF = "round-off"
    DISCRETE = "discrete"
    RANDOM = "random"
    JUMP = "jump"


@dataclass(frozen=True, slots=True)
class OutputFigures:
    """Figures of one output; ``None`` where there is none.

    Parameters
    ----------
    name, unit
        The output, ``component.connector`` with ``[i]`` for an element.
    largest, rms
        Between H and H/2, then between H/2 and H/4 if that was run: the largest difference at any
        time, and the root of the mean of its square over time, in the output's unit.
    span
        Greatest value less the least, of the run in which that is most.
    order
        Observed: the binary logarithm of the ratio of the two ``rms``.
    error
        Of the run with H, by Richardson's extrapolation from the two ``rms``, in the same norm.
    differing
        Numbers of samples that are not equal, between the same runs.
    first_s
        Time of the first sample at which H and H/2 are not equal, s.
    jump_s
        Time of the jump at which it differs most, s.
    flags
        See :class:`Flag`.
    """

    name: str
    unit: str
    largest: tuple[float, ...]
    rms: tuple[float, ...]
    span: float
    order: float | None
    error: float | None
    differing: tuple[int, ...]
    first_s: float | None
    jump_s: float | None
    flags: tuple[Flag, ...]

    @property
    def shares(self) -> tuple[float | None, ...]:
        """The largest differences as shares of the span; ``None`` of an output that is constant."""
        return tuple(self._share(value) for value in self.largest)

    @property
    def error_share(self) -> float | None:
        """The extrapolated error as a share of the span."""
        return None if self.error is None else self._share(self.error)

    def _share(self, value: float) -> float | None:
        if value == 0.0:
            return 0.0
        return value / self.span if self.span > 0.0 else None

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "output": self.name,
            "unit": self.unit,
            "largest": list(self.largest),
            "share_of_span": list(self.shares),
            "rms": list(self.rms),
            "span": self.span,
            "order": self.order,
            "error_rms": self.error,
            "differing_samples": list(self.differing),
            "first_difference_s": self.first_s,
            "jump_s": self.jump_s,
            "flags": [str(flag) for flag in self.flags],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Verification:
    """A run with H, compared with those with H/2 and H/4 at the times that all have.

    Arrays have one column for each output, in the order of ``names``; ``verification[name]`` is
    all of one output, and iterating gives all outputs, the one that differs most first.

    Parameters
    ----------
    name
        Of the case.
    steps_ns
        Communication steps of the runs that are compared, in nanoseconds: H, H/2, H/4.
    time_ns
        Times at which they are compared, in nanoseconds; int64 array of shape (n,).
    names, units
        Outputs, and their units by name.
    largest, rms
        float64 arrays of shape (runs - 1, outputs): differences between H and H/2, and between
        H/2 and H/4, the largest and the root of the mean of the squares over time.
    span
        float64 array of shape (outputs,): greatest value less the least.
    order, error
        float64 arrays of shape (outputs,): the observed order, and the extrapolated error of the
        run with H in the norm of ``rms``; NaN where there is none.
    differing
        int64 array of shape (runs - 1, outputs): numbers of samples that are not equal.
    first, jump
        float64 arrays of shape (outputs,): times in s of the first sample that differs between H
        and H/2, and of the jump at which an output differs most; NaN where there is none.
    flags
        Of each output; see :class:`Flag`.
    remarks
        What to know of the comparison, in sentences.
    failures
        Why a finer run is missing, in sentences.
    results
        The run with H; with those that were kept behind it.
    """

    name: str
    steps_ns: tuple[int, ...]
    time_ns: NDArray[np.int64]
    names: tuple[str, ...]
    units: dict[str, str]
    largest: Floats
    rms: Floats
    span: Floats
    order: Floats
    error: Floats
    differing: NDArray[np.int64]
    first: Floats
    jump: Floats
    flags: tuple[tuple[Flag, ...], ...]
    remarks: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    results: tuple[Result, ...] = field(default=(), repr=False)

    @property
    def result(self) -> Result:
        """The run with H, as :func:`~orchestrator.simulate` gives it."""
        return self.results[0]

    def __getitem__(self, name: str) -> OutputFigures:
        """Return the figures of one output; an unknown name is an UnknownNameError."""
        if name not in self.names:
            raise lacking(f"verification of '{self.name}'", "output", name, self.names)
        return self._figures(self.names.index(name))

    def __iter__(self) -> Iterator[OutputFigures]:
        """Yield all outputs, the one that differs most between H and H/2 first.

        That is by the share of its span, of an Integer or Boolean by the share of its samples.
        """
        figures = [self._figures(i) for i in range(len(self.names))] if len(self.largest) else []
        yield from sorted(figures, key=self._concern, reverse=True)

    def _concern(self, figures: OutputFigures) -> float:
        if Flag.DISCRETE in figures.flags:
            return figures.differing[0] / len(self.time_ns)
        if Flag.ROUND_OFF in figures.flags and figures.error is None:
            return 0.0  # it is zero
        share = figures.shares[0]
        return math.inf if share is None else share

    def _figures(self, i: int) -> OutputFigures:
        return OutputFigures(
            self.names[i],
            self.units.get(self.names[i], ""),
            tuple(self.largest[:, i].tolist()),
            tuple(self.rms[:, i].tolist()),
            float(self.span[i]),
            _known(self.order[i]),
            _known(self.error[i]),
            tuple(self.differing[:, i].tolist()),
            _known(self.first[i]),
            _known(self.jump[i]),
            self.flags[i],
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data, the output that differs most first."""
        return {
            "steps_s": [seconds(step) for step in self.steps_ns],
            "compared_times": len(self.time_ns),
            "outputs": [figures.as_json() for figures in self],
            "remarks": list(self.remarks),
            "failures": list(self.failures),
        }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
