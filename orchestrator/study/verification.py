"""What a verification says: runs of different steps, compared at the times that all have."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import counted, enumerated
from orchestrator.core.display import text_table
from orchestrator.core.recording import Result
from orchestrator.core.simunits import resolve
from orchestrator.core.structs import Struct
from orchestrator.core.system import DataType, Fault, FaultKind, System, lines_of, seconds
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.core.system.time import time_text

Floats = NDArray[np.float64]


class Flag(StrEnum):
    """What is to be known of an output's figures.

    ``not converging``: H/2 and H/4 differ no less than H and H/2. ``round-off``: the finer runs
    are equal but for rounding, or the output is nothing else. ``discrete``: an Integer or Boolean,
    whose samples are counted. ``random``: it depends on draws for each sample.
    ``jump``: it differs most where it jumps, as the jump comes at another time.
    """

    NOT_CONVERGING = "not converging"
    ROUND_OFF = "round-off"
    DISCRETE = "discrete"
    RANDOM = "random"
    JUMP = "jump"


class OutputFigures(Struct):
    """Figures of one output; ``None`` where there is none.

    name, unit: The output, ``component.connector`` with ``[i]`` for an element.
    largest, rms: Between H and H/2, then between H/2 and H/4 if that was run: the largest
        difference at any time, and the root of the mean of its square over time, in the output's
        unit.
    span: Greatest value less the least, of the run in which that is most.
    order: Observed: the binary logarithm of the ratio of the two ``rms``.
    error: Of the run with H, by Richardson's extrapolation from the two ``rms``, in the same norm.
    differing: Numbers of samples that are not equal, between the same runs.
    first_s: Time of the first sample at which H and H/2 are not equal, s.
    jump_s: Time of the jump at which it differs most, s.
    flags: See :class:`Flag`.
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


#: Outputs, remarks and failures that a prompt shows.
_SHOWN, _TOLD = 15, 3


@dataclass(frozen=True, slots=True, eq=False)
class Verification:
    """A run with H, compared with those with H/2 and H/4 at the times that all have.

    Arrays have one column for each output, in the order of ``names``; ``verification[name]`` is
    all of one output, and iterating gives all outputs, the one that differs most first.

    name: Of the case.
    steps_ns: Communication steps of the runs that are compared, in nanoseconds: H, H/2, H/4.
    time_ns: Times at which they are compared, in nanoseconds; int64 array of shape (n,).
    names, units: Outputs, and their units by name.
    largest, rms: float64 arrays of shape (runs - 1, outputs): differences between H and H/2, and
        between H/2 and H/4, the largest and the root of the mean of the squares over time.
    span: float64 array of shape (outputs,): greatest value less the least.
    order, error: float64 arrays of shape (outputs,): the observed order, and the extrapolated error
        of the run with H in the norm of ``rms``; NaN where there is none.
    differing: int64 array of shape (runs - 1, outputs): numbers of samples that are not equal.
    first, jump: float64 arrays of shape (outputs,): times in s of the first sample that differs
        between H and H/2, and of the jump at which an output differs most; NaN where there is none.
    flags: Of each output; see :class:`Flag`.
    remarks: What to know of the comparison, in sentences.
    failures: Why a finer run is missing, in sentences.
    results: The run with H, then the stored runs.
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

    def __repr__(self) -> str:
        """Return a table of the outputs that differ most."""
        steps = enumerated(time_text(step) for step in self.steps_ns)
        rows = [
            (
                figures.name,
                figures.unit or "-",
                *(f"{value:.3g}" for value in figures.largest),
                "-" if figures.order is None else f"{figures.order:.2f}",
                "-" if figures.error is None else f"{figures.error:.3g}",
                ", ".join(figures.flags),
            )
            for figures in islice(self, _SHOWN)
        ]
        differences = [f"H/{2**i} - H/{2 ** (i + 1)}" for i in range(len(self.largest))]
        table = text_table(("output", "unit", *differences, "order", "error", "flags"), rows)
        hidden = len(self.names) - len(rows)
        more = [f"and {counted(hidden, 'output')} more"] if hidden and rows else []
        heading = f"Verification of '{self.name}': steps {steps}, largest differences"
        return "\n".join([heading, table, *more, *self.remarks[:_TOLD], *self.failures[:_TOLD]])

    def __getitem__(self, name: str) -> OutputFigures:
        """Return the figures of one output; an unknown name is an UnknownNameError."""
        if name not in self.names:
            raise unknown_name_error(f"verification of '{self.name}'", "output", name, self.names)
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
            _finite_or_none(self.order[i]),
            _finite_or_none(self.error[i]),
            tuple(self.differing[:, i].tolist()),
            _finite_or_none(self.first[i]),
            _finite_or_none(self.jump[i]),
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


def _finite_or_none(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


#: Increments to each side that tell how fast a signal changes there without a jump.
_ASIDE = 8
#: Size of a jump, in medians of the increments around it.
_STEEP = 8.0


def jump_between(coarse: Floats, fine: Floats) -> int | None:
    """Return the sample of the jump at which two runs differ most; ``None`` if there is none.

    They differ for as long as one of them has jumped and the other has not: the jump is looked for
    around the largest difference, as far as at least half of it lasts, in both runs.

    coarse, fine: Arrays of shape (n,), at the same times.
    """
    distance = np.abs(coarse - fine)
    at = int(np.argmax(distance))
    less = np.flatnonzero(distance < 0.5 * distance[at])
    cut = int(np.searchsorted(less, at))
    begin = int(less[cut - 1]) + 1 if cut else 0
    end = int(less[cut]) if cut < len(less) else len(distance)
    for run in (coarse, fine):
        increments = np.abs(np.diff(run))
        near = np.arange(max(begin - 1, 0), min(end, len(increments)))
        large = near[increments[near] >= 0.5 * distance[at]]
        if not len(large):
            continue
        padded = np.pad(increments, _ASIDE, constant_values=np.nan)
        around = np.lib.stride_tricks.sliding_window_view(padded, 2 * _ASIDE + 1)[large]
        jumps = large[increments[large] > _STEEP * np.nanmedian(around, axis=1)]
        if len(jumps):
            return int(jumps[np.argmax(increments[jumps])]) + 1
    return None


#: Differences below this share of an output's largest value are rounding; so is an output all of
#: whose values are below it as a share of the largest ones of its component, and that differs by
#: as much as it spans: one that is zero, such as the total momentum of bodies.
ROUND_OFF = 1e-12
_AS_MUCH = 0.1


class Kinds(Struct):
    """Outputs that have no order: Integers and Booleans, and outputs that depend on draws."""

    discrete: Collection[str] = ()
    random: Collection[str] = ()


def compare(results: Sequence[Result], kinds: Kinds) -> Verification:
    """Compare a run with H with one or two of H/2 and H/4; see :class:`Verification`."""
    coarse = results[0]
    time_ns = reduce(np.intersect1d, (result.time_ns for result in results))
    shared = set.intersection(*(set(result.names) for result in results))
    names = tuple(name for name in coarse.names if name in shared)
    values = [_values(result, time_ns, names) for result in results]
    differences = [b - a for a, b in zip(values[1:], values[:-1], strict=True)]
    rms = [np.sqrt(np.mean(d * d, axis=0)) for d in differences]
    largest = np.array([np.abs(d).max(axis=0) for d in differences])
    span = np.max([np.ptp(v, axis=0) for v in values], axis=0)
    magnitude = np.max([np.abs(v).max(axis=0) for v in values], axis=0)
    floor = ROUND_OFF * _largest_in(magnitude, [name.partition("[")[0] for name in names])
    components = [name.partition(".")[0] for name in names]
    zero = magnitude <= ROUND_OFF * _largest_in(magnitude, components)
    zero &= np.any(largest >= _AS_MUCH * span, axis=0)
    plain = [name not in kinds.discrete and name not in kinds.random for name in names]
    order, error = _extrapolated(rms, floor, ~zero & np.array(plain, dtype=bool))
    floor[zero] = np.inf
    seconds = time_ns / 1e9
    unequal = [d != 0.0 for d in differences]
    first = np.full(len(names), np.nan)
    jump = np.full(len(names), np.nan)
    for i, name in enumerate(names):
        if unequal and unequal[0][:, i].any():
            first[i] = seconds[np.argmax(unequal[0][:, i])]
            if name not in kinds.discrete and rms[0][i] > floor[i]:
                at = jump_between(values[0][:, i], values[1][:, i])
                jump[i] = np.nan if at is None else seconds[at]
    shape = len(differences), len(names)
    return Verification(
        coarse.name,
        tuple(result.step_ns for result in results),
        time_ns,
        names,
        {name: unit for name, unit in coarse.units.items() if name in shared},
        largest.reshape(shape),
        np.array(rms).reshape(shape),
        span,
        order,
        error,
        np.array([u.sum(axis=0) for u in unequal], dtype=np.int64).reshape(shape),
        first,
        jump,
        tuple(
            _flags(name, kinds, [r[i] for r in rms], floor[i], jump[i])
            for i, name in enumerate(names)
        ),
    )


def _values(result: Result, time_ns: NDArray[np.int64], names: Sequence[str]) -> Floats:
    """Rows of some times and columns of some names."""
    indices = {name: i for i, name in enumerate(result.names)}
    columns = [indices[name] for name in names]
    rows: Floats = result.values[np.searchsorted(result.time_ns, time_ns)][:, columns]
    return rows


def _largest_in(values: Floats, groups: Sequence[str]) -> Floats:
    """Replace each value by the largest of its group."""
    largest: dict[str, float] = {}
    for group, value in zip(groups, values.tolist(), strict=True):
        largest[group] = max(value, largest.get(group, 0.0))
    return np.array([largest[group] for group in groups], dtype=float)


def _extrapolated(
    rms: Sequence[Floats], floor: Floats, plain: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Observed order, and Richardson's error of the coarsest run; NaN where there is none.

    With errors c H^p the differences are c H^p (1 - 2^-p) and that over 2^p: their ratio is 2^p,
    and the error of the run with H is the first difference times 2^p / (2^p - 1). Where the finer
    runs are equal but for rounding, the first difference is the error itself.
    """
    order = np.full(len(floor), np.nan)
    error = np.full(len(floor), np.nan)
    if len(rms) == 2:
        first, second = rms
        falls = plain & (second > floor) & (second < first)
        ratio = first[falls] / second[falls]
        order[falls] = np.log2(ratio)
        error[falls] = first[falls] * ratio / (ratio - 1.0)
        settled = plain & (second <= floor)
        error[settled] = first[settled]
    return order, error


def _flags(
    name: str, kinds: Kinds, rms: Sequence[float], floor: float, jump: float
) -> tuple[Flag, ...]:
    flags = [Flag.DISCRETE] if name in kinds.discrete else []
    if name in kinds.random:
        flags.append(Flag.RANDOM)
    if not flags and len(rms) == 2:
        if rms[1] <= floor:
            flags.append(Flag.ROUND_OFF)
        elif rms[1] >= rms[0]:
            flags.append(Flag.NOT_CONVERGING)
    if not np.isnan(jump):
        flags.append(Flag.JUMP)
    return tuple(flags)


def kinds_of(system: System, names: Collection[str], faults: Sequence[Fault]) -> Kinds:
    """Sort recorded signals into kinds.

    Draws of a varying delay are made for each sample, those of a noise at each communication
    point: a run with other steps has others. Whatever lies behind such a connection is random.
    """
    flat = resolve(system).flat()
    varying = [line for line in flat.connections if line.delay and line.delay.variation]
    noisy = [line for f in faults if f.kind is FaultKind.NOISE for line in lines_of(f, flat)]
    random_components = {line.target.component for line in (*varying, *noisy)}
    if random_components:
        import networkx as nx

        graph = flat.graph
        random_components |= {
            name for start in random_components for name in nx.descendants(graph, start)
        }
    counted = {
        f"{name}.{connector.name}"
        for name, component in flat.components.items()
        for connector in component.connectors.values()
        if connector.type is not DataType.REAL
    }
    discrete = (name for name in names if name in counted or name.rpartition("[")[0] in counted)
    random = (name for name in names if name.partition(".")[0] in random_components)
    return Kinds(frozenset(discrete), frozenset(random))
