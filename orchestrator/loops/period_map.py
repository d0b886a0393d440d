"""The linear map of one period of a schedule, made by the engine itself.

The units of a run are replaced by their linear models; reading, holding, extrapolating, iterating
and remembering are done by the engine on the tables of the run. So what the map says of a loop is
what this schedule does to it, whatever algorithm made it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master import Iteration, Schedule
from orchestrator.core.master.run.assembly import make_engine
from orchestrator.core.master.run.step_failure import loop_message
from orchestrator.core.master.schedule.rows import CompensationMethod, OperationCode
from orchestrator.core.master.schedule.schedule import LoopTable, Member, input_order
from orchestrator.core.structs import replace
from orchestrator.core.system import REACH_NS
from orchestrator.core.system.time import exact_ns
from orchestrator.engine import Engine, EngineState, LinearUnit
from orchestrator.loops.multipliers import (
    MemoryKind,
    Multipliers,
    large_multipliers,
    lasting_numbers,
    multipliers,
    newest_samples,
    numbers_of,
    places_by_age,
)
from orchestrator.loops.state_space import UnitModel

if TYPE_CHECKING:
    from scipy.sparse import csc_array


#: Iterated loops of linear units are solved to this share of their signals.
_SOLVED = 1e-13


def linear_unit(member: Member, model: UnitModel, schedule: Schedule) -> LinearUnit:
    """Make the engine's unit, for whole steps and for halves where the schedule makes them."""
    order = input_order(schedule, member)
    lengths = _whole_lengths(member.ticks * exact_ns(schedule.step_ns))
    if any(
        row.code in {OperationCode.FIRST_HALF, OperationCode.SECOND_HALF}
        for row in schedule.operations
    ):
        steps = _whole_lengths(exact_ns(schedule.step_ns))
        lengths += [half for step_ns in steps for half in (step_ns // 2, step_ns - step_ns // 2)]
    rows = [(length, model.transitions(length, order=order)) for length in dict.fromkeys(lengths)]
    is_corrected = any(
        row.method is CompensationMethod.DIRECT_RESPONSE and schedule.members[row.answer] is member
        for row in schedule.compensations
    )
    expected = (
        len(model.states) + member.output_size,
        len(model.states) + member.input_size * (1 + order),
    )
    for matrix in (matrix_of_step for _, matrices in rows for matrix_of_step in matrices):
        if matrix.shape != expected:
            raise AssertionError(f"'{member.name}': {matrix.shape}, expected {expected}")
    return LinearUnit(
        member.name,
        len(model.states),
        member.input_size,
        member.output_size,
        order,
        [(length, np.ravel(matrices).tolist()) for length, matrices in rows],
        _direct(member, model) if is_corrected else (),
        model.phases,
        float(member.ticks * exact_ns(schedule.step_ns)),
    )


def _whole_lengths(exact: Fraction) -> list[int]:
    """Return the lengths of steps in nanoseconds whose ends are rounded to whole ones."""
    return list(dict.fromkeys((math.floor(exact), math.ceil(exact))))


def _direct(member: Member, model: UnitModel) -> list[float]:
    """What outputs are at once of inputs, row by row: by that they are corrected after a step."""
    if model.continuous is None:
        raise CapabilityError(
            f"a connection to component '{member.name}' has the compensation 'corrector', which"
            " asks it for derivatives of its outputs at one moment: the component has no model in"
            " continuous time that says them"
        )
    return [float(value) for value in model.continuous.d.ravel()]


def expect_linear(schedule: Schedule) -> None:
    """Expect a schedule that is a linear map."""
    if schedule.varies:
        raise CapabilityError(
            f"algorithm '{schedule.algorithm}' chooses the lengths of its steps: no one map is that"
            " of a period; choose an algorithm with steps of one length"
        )
    if schedule.tables:
        raise CapabilityError("a connection has a table of values, which no linear map has")
    if any(row.method is CompensationMethod.RESIDUAL_ENERGY for row in schedule.compensations):
        raise CapabilityError(
            "a connection has the compensation 'energy', which divides by a signal, as no linear"
            " map does: measure the growth of runs instead (softdock sweep)"
        )
    if schedule.watched:
        lines = ", ".join(schedule.watched)
        raise CapabilityError(f"read on an arc or with delays that vary, as no linear map: {lines}")


def _solvable(loop: LoopTable) -> LoopTable:
    """Solve a loop as far as numbers go, by no derivatives, which linear units do not give."""
    by_derivatives = loop.method is Iteration.NEWTON_BY_DERIVATIVES
    method = Iteration.NEWTON if by_derivatives else loop.method
    return replace(loop, method=method, tolerance=_SOLVED)


Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Its multiples, as fractions, are never alike: they distinguish numbers that are tried together.
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
#: So few are not tried together once that has failed.
_FEW = 8


def entries_of(
    apply: Callable[[Floats], Floats], groups: Sequence[Places], successors: Places
) -> tuple[Places, Places, Floats]:
    """Return rows, columns and values of all that is not zero in the columns of some numbers.

    apply: The map, of vectors of shape (size,).
    groups: Numbers that are tried together at first; each number at most once.
    successors: Where each number goes if it is handed on, shape (size,); -1: nowhere.
    """
    pending = [group for group in groups if group.size]
    rows: list[Places] = []
    columns: list[Places] = []
    values: list[Floats] = []

    def take(into: Places, out_of: Places, factors: Floats) -> None:
        rows.append(into)
        columns.append(out_of)
        values.append(factors)

    def handed_on(before: Floats) -> Floats:
        after, forwarded = np.zeros(before.size), successors >= 0
        after[successors[forwarded]] = before[forwarded]
        return after

    while pending:
        group = pending.pop()
        before = np.zeros(successors.size)
        before[group] = 1.0 if group.size == 1 else 1.0 + _GOLDEN * np.arange(group.size) % 1.0
        after = apply(before)
        into = np.flatnonzero(after)
        if not into.size:
            continue
        if group.size == 1:
            take(into, np.repeat(group, into.size), after[into])
        elif np.array_equal(before, after):
            take(group, group, np.ones(group.size))
        elif np.array_equal(handed_on(before), after):
            forwarded = group[successors[group] >= 0]
            take(successors[forwarded], forwarded, np.ones(forwarded.size))
        elif group.size <= _FEW:
            pending += np.split(group, group.size)
        else:
            pending += [group[: group.size // 2], group[group.size // 2 :]]
    if not rows:
        nothing: Places = np.zeros(0, dtype=np.intp)
        return nothing, nothing, np.zeros(0)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


#: Up to this size all eigenvalues are computed; beyond, only the requested largest ones.
DENSE = 500


#: Steps of a period, at most: of units that sample with different periods.
MOST_STEPS = 10_000


def common_steps(schedule: Schedule, models: Mapping[str, UnitModel]) -> int:
    """Return the number of communication steps after which all units do the same again.

    Raises CapabilityError: if that takes too many steps; it names the units that sample.
    """
    steps = math.lcm(*(m.ticks * models[m.name].phases for m in schedule.members))
    sampled = [
        f"'{m.name}' (every {m.ticks * models[m.name].phases} steps)"
        for m in schedule.members
        if models[m.name].phases > 1
    ]
    if sampled and steps > MOST_STEPS:
        raise CapabilityError(
            f"components that sample, {', '.join(sampled)}, have a common period of {steps}"
            f" communication steps, more than {MOST_STEPS}; choose sample periods or a step with a"
            " shorter one"
        )
    return steps


class PeriodMap:
    """What one period of a schedule does to everything that a run remembers: its monodromy matrix.

    schedule: Of steps that are all of one length.
    models: Of each of its members, by name.
    only: A step of the period, from 0 on: the map is that of this step alone, among the same
        numbers; ``None``: of all of them.
    Raises CapabilityError: if the schedule does what no linear map can: steps of varying length,
        tables of values, quaternions on an arc.
    """

    def __init__(
        self,
        schedule: Schedule,
        models: Mapping[str, UnitModel],
        only: int | None = None,
    ) -> None:
        expect_linear(schedule)
        self._schedule = replace(  # without texts, events and faults
            schedule,
            operations=tuple(row for row in schedule.operations if row.code != OperationCode.TEXT),
            loops=tuple(map(_solvable, schedule.loops)),
            texts=0,
            text_copies=(),
            events=None,
        )
        self._units = [linear_unit(m, models[m.name], schedule) for m in schedule.members]
        self._engine: Engine = make_engine(self._schedule, self._units, 1)
        period = common_steps(schedule, models)
        self.steps = period if only is None else 1
        #: Length of the period, or of the step, in seconds.
        self.period = float(self.steps * exact_ns(schedule.step_ns) / 10**9)
        self._engine.start(0, schedule.step_ns)
        deepest = max((row.depth for row in schedule.histories), default=0)
        self._run(period * (deepest // period + 2) + (only or 0))
        self._base = self._engine.save()
        self._values = [np.asarray(unit.values) for unit in self._units]
        self._places = [values.size for values in self._values]
        every = list(numbers_of(self._schedule, models, self._places))
        self._numbers = [number for number in every if number is not None]
        self._rows = np.flatnonzero([number is not None for number in every])
        self._all = len(every)
        self._ages = self._samples_of(self._base)
        self._ages_after: NDArray[np.intp] | None = None
        self._rest = self._after(np.zeros(self._rows.size))

    @property
    def size(self) -> int:
        """Number of numbers that a run remembers."""
        return len(self._numbers)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of these numbers."""
        return tuple(number.label for number in self._numbers)

    def within(self, components: Iterable[str]) -> NDArray[np.intp]:
        """Return the numbers that only these components and the lines between them remember."""
        names = set(components)
        return np.flatnonzero([bool(n.owners) and n.owners <= names for n in self._numbers])

    def apply(self, before: Floats) -> Floats:
        """Return what a deviation of shape (size,) is after one period."""
        return self._after(before) - self._rest

    def matrix(self, rows: NDArray[np.intp] | None = None) -> Floats:
        """Return the map among some of the numbers, by default all: float64 of shape (k, k)."""
        indices = np.arange(self.size) if rows is None else rows
        into, out_of, values = self._among(indices)
        matrix = np.zeros((indices.size, indices.size))
        matrix[into, out_of] = values
        return matrix

    def _among(self, indices: Places) -> tuple[Places, Places, Floats]:
        """Return what is not zero among some of the numbers, by their places there."""
        position = np.full(self.size, -1, dtype=np.intp)
        position[indices] = np.arange(indices.size)
        rows, columns = position[self._entries[0]], position[self._entries[1]]
        inner = (rows >= 0) & (columns >= 0)
        return rows[inner], columns[inner], self._entries[2][inner]

    def modes(self, rows: NDArray[np.intp] | None = None, *, largest: int = 0) -> Multipliers:
        """Return the eigenvalues of one period, the largest first, and how well they are known.

        Numbers that no operation ever writes, such as what holds a line that is not smoothed, are
        no modes.
        """
        indices = np.arange(self.size) if rows is None else rows
        if largest and indices.size > DENSE:
            inner = self._sparse_inner(indices)
            if inner.shape[0] > DENSE:
                return large_multipliers(inner, largest)
            return multipliers(inner.toarray())
        matrix = self.matrix(indices)
        written = ~((matrix == np.eye(indices.size)).all(axis=1) & (indices >= sum(self._places)))
        matrix = matrix[np.ix_(written, written)]
        lasting = lasting_numbers(matrix, matrix[:, :0], matrix[:0])
        return multipliers(matrix[np.ix_(lasting, lasting)])

    def _sparse_inner(self, indices: NDArray[np.intp]) -> csc_array:
        """Return what :meth:`modes` takes the eigenvalues of, of many numbers."""
        from scipy.sparse import coo_array

        *coordinates, values = self._among(indices)
        matrix = coo_array((values, tuple(coordinates)), shape=(indices.size, indices.size)).tocsc()
        alone = (np.diff(matrix.tocsr().indptr) == 1) & (matrix.diagonal() == 1.0)
        lasting = np.flatnonzero(~(alone & (indices >= sum(self._places))))
        matrix = matrix[lasting][:, lasting]
        while True:
            matters = (np.diff(matrix.tocsr().indptr) > 0) & (np.diff(matrix.tocsc().indptr) > 0)
            if matters.all():
                return matrix.tocsc()
            remaining = np.flatnonzero(matters)
            matrix = matrix[remaining][:, remaining]

    def _after(self, before: Floats) -> Floats:
        """Set what a run remembers, do one period, and read it."""
        everything = np.zeros(self._all)
        everything[self._rows] = before
        self._write(everything)
        self._run(self.steps)
        return self._read()[self._rows]

    def _run(self, steps: int) -> None:
        outcome = self._engine.run(steps, REACH_NS)
        if outcome.loop >= 0:
            _, _, passes, residual = self._engine.loops[outcome.loop]
            loop = self._schedule.loops[outcome.loop]
            raise CapabilityError(loop_message(loop, residual, passes, "of the linear models"))
        if outcome.failed:
            raise AssertionError(f"linear units did not do a step: {outcome.failure.text}")

    def _write(self, everything: Floats) -> None:
        at = 0
        for values, size in zip(self._values, self._places, strict=True):
            values[:] = everything[at : at + size]
            at += size
        base = self._base
        signals = everything[at : at + base.signals.size]
        at += base.signals.size
        samples = base.samples.copy()
        aged = everything[at : at + samples.size]
        samples[self._ages] = aged
        at += samples.size
        memory = base.memory.copy()
        held = 2 * signals.size
        memory[2 : 2 + held] = everything[at : at + held]
        self._engine.restore(
            EngineState(base.done, base.time_ns, signals.copy(), samples, base.marks, memory)
        )

    def _read(self) -> Floats:
        state = self._engine.save()
        if self._ages_after is None:
            self._ages_after = self._samples_of(state)  # the same after each period from the base
        samples = state.samples[self._ages_after]
        held = 2 * state.signals.size
        return np.concatenate(
            [
                *self._values,
                state.signals,
                samples,
                state.memory[2 : 2 + held],
            ]
        )

    def _samples_of(self, state: EngineState) -> NDArray[np.intp]:
        newest = newest_samples(self._schedule, state)
        return places_by_age(self._schedule, newest, state.samples.size)

    @cached_property
    def _entries(self) -> tuple[Places, Places, Floats]:
        """All that is not zero: numbers of a kind are tried together, samples become older."""
        groups: dict[MemoryKind, list[int]] = {}
        successors = np.full(self.size, -1, dtype=np.intp)
        for i, number in enumerate(self._numbers):
            groups.setdefault(number.kind, []).append(i)
            if number.kind is MemoryKind.SAMPLE and number.age + self.steps < number.depth:
                successors[i] = i + self.steps
        tried = [np.array(group, dtype=np.intp) for group in groups.values()]
        return entries_of(self.apply, tried, successors)
