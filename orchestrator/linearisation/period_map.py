"""The linear map of one period of a schedule, made by the engine itself.

The units of a run are replaced by their linear models; reading, holding, extrapolating, iterating
and remembering are done by the engine on the tables of the run. So what the map says of a loop is
what this schedule does to it, whatever algorithm made it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from orchestrator.diagnostics import CapabilityError
from orchestrator.engine import Engine, EngineState, LinearUnit
from orchestrator.linearisation.multipliers import Multipliers, multipliers
from orchestrator.linearisation.state_space import Floats
from orchestrator.linearisation.unit_model import UnitModel
from orchestrator.master.algorithms.plan import Iteration
from orchestrator.master.run.engine_tables import make_engine
from orchestrator.master.run.step_failure import loop_message
from orchestrator.master.schedule.compensation_row import CompensationMethod
from orchestrator.master.schedule.schedule import (
    Code,
    LoopTable,
    Member,
    Schedule,
    input_order,
)
from orchestrator.system import REACH_NS

#: Iterated loops of linear units are solved to this share of their signals.
_SOLVED = 1e-13


@dataclass(frozen=True)
class _Entry:
    """One number of the state of a run, and the components that it belongs to."""

    owners: frozenset[str]
    label: str


@dataclass(frozen=True, slots=True)
class _Native:
    """A unit of the engine in the place of a simulation unit."""

    native: LinearUnit


class PeriodMap:
    """What one period of a schedule does to everything that a run remembers: its monodromy matrix.

    Parameters
    ----------
    schedule
        Of steps that are all of one length.
    models
        Of each of its members, by name.

    Raises
    ------
    CapabilityError
        If the schedule does what no linear map can: steps of varying length, tables of values,
        quaternions on an arc.
    """

    def __init__(
        self,
        schedule: Schedule,
        models: Mapping[str, UnitModel],
    ) -> None:
        _expect_linear(schedule)
        self._schedule = _numbers_only(schedule)
        self._units = [_linear_unit(m, models[m.name], schedule) for m in schedule.members]
        self._engine: Engine = make_engine(
            self._schedule,
            [_Native(unit) for unit in self._units],  # type: ignore[misc]
            1,
        )
        self.steps = math.lcm(*(member.ticks for member in schedule.members))
        #: Length of the period in seconds.
        self.period = self.steps * schedule.step_ns / 1e9
        self._engine.start(0, schedule.step_ns)
        deepest = max((row[1] for row in schedule.histories), default=0)
        self._run(self.steps * (deepest // self.steps + 2))
        self._base = self._engine.save()
        self._places = [np.asarray(unit.values).size for unit in self._units]
        self._entries = [*self._entries_of_units(models), *self._entries_of_signals()]
        self._rows = np.flatnonzero([entry is not None for entry in self._entries])
        self._newest = _newest(self._schedule, self._base)
        self._rest = self._after(np.zeros(self._rows.size))

    @property
    def size(self) -> int:
        """Number of numbers that a run remembers."""
        return int(self._rows.size)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of these numbers."""
        return tuple(entry.label for entry in self._entries if entry is not None)

    def within(self, components: Iterable[str]) -> NDArray[np.intp]:
        """Return the numbers that only these components and the lines between them remember."""
        names = set(components)
        kept = [entry for entry in self._entries if entry is not None]
        return np.flatnonzero([bool(entry.owners) and entry.owners <= names for entry in kept])

    def apply(self, before: Floats) -> Floats:
        """Return what a deviation of shape (size,) is after one period."""
        return self._after(before) - self._rest

    def matrix(self, rows: NDArray[np.intp] | None = None) -> Floats:
        """Return the map among some of the numbers, by default all: float64 of shape (k, k)."""
        chosen = np.arange(self.size) if rows is None else rows
        whole = np.empty((chosen.size, chosen.size))
        before = np.zeros(self.size)
        for column, number in enumerate(chosen):
            before[number] = 1.0
            whole[:, column] = self.apply(before)[chosen]
            before[number] = 0.0
        return whole

    def modes(self, rows: NDArray[np.intp] | None = None) -> Multipliers:
        """Return the eigenvalues of one period, the largest first, and how well they are known.

        Numbers that no operation ever writes, such as what holds a line that is not smoothed, are
        no modes.
        """
        whole = self.matrix(rows)
        chosen = np.arange(self.size) if rows is None else rows
        written = ~((whole == np.eye(chosen.size)).all(axis=1) & (chosen >= sum(self._places)))
        while True:
            inner = whole[np.ix_(written, written)]
            matters = inner.any(axis=0) & inner.any(axis=1)
            if matters.all():
                break
            written[np.flatnonzero(written)[~matters]] = False
        return multipliers(inner)

    def _after(self, before: Floats) -> Floats:
        """Set what a run remembers, do one period, and read it."""
        everything = np.zeros(len(self._entries))
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
        for unit, size in zip(self._units, self._places, strict=True):
            unit.values[:] = everything[at : at + size]
            at += size
        base = self._base
        signals = everything[at : at + base.signals.size]
        at += base.signals.size
        samples = base.samples.copy()
        aged = everything[at : at + samples.size]
        samples[_by_age(self._schedule, self._newest, samples.size)] = aged
        at += samples.size
        memory = base.memory.copy()
        held = 2 * signals.size
        memory[2 : 2 + held] = everything[at : at + held]
        self._engine.restore(
            EngineState(base.done, base.time_ns, signals.copy(), samples, base.marks, memory)
        )

    def _read(self) -> Floats:
        state = self._engine.save()
        newest = _newest(self._schedule, state)
        samples = state.samples[_by_age(self._schedule, newest, state.samples.size)]
        held = 2 * state.signals.size
        return np.concatenate(
            [
                *(unit.values for unit in self._units),
                state.signals,
                samples,
                state.memory[2 : 2 + held],
            ]
        )

    def _entries_of_units(self, models: Mapping[str, UnitModel]) -> Iterable[_Entry]:
        for member, size in zip(self._schedule.members, self._places, strict=True):
            owner = frozenset({member.name})
            states = models[member.name].states
            outputs = (f"{member.name}: output {i + 1}" for i in range(size - len(states)))
            yield from (_Entry(owner, label) for label in (*states, *outputs))

    def _entries_of_signals(self) -> Iterable[_Entry | None]:
        owners = _owners_of_signals(self._schedule)
        readers = _readers(self._schedule, owners)
        yield from (_signal(owner, i, "signal") for i, owner in enumerate(owners))
        for number, (slot, depth, *_) in enumerate(self._schedule.histories):
            owner = owners[slot]
            names = frozenset() if owner is None else frozenset({owner, *readers.get(number, ())})
            for age in range(max(depth, 2)):
                yield _Entry(names, f"{owner}: sample {age} back of line {number}")
            # What the receiver holds (of varying delays only), its draw, and where a smoothed
            # reading began and ended.
            yield None
            yield None
            yield from (_Entry(names, f"{owner}: smoothed line {number}") for _ in range(2))
        for what in ("signal at the begin", "signal a step before"):
            yield from (_signal(owner, i, what) for i, owner in enumerate(owners))


def _signal(owner: str | None, slot: int, what: str) -> _Entry | None:
    return None if owner is None else _Entry(frozenset({owner}), f"{owner}: {what} {slot}")


def _owners_of_signals(schedule: Schedule) -> list[str | None]:
    owners: list[str | None] = [None] * schedule.signals
    for member in schedule.members:
        for first, size in (
            (member.input_offset, member.input_size),
            (member.output_offset, member.output_size),
        ):
            owners[first : first + size] = [member.name] * size
    for row in schedule.compensations:
        owners[row.memory : row.memory + row.numbers] = [owners[row.target]] * row.numbers
    return owners


def _readers(schedule: Schedule, owners: Sequence[str | None]) -> dict[int, set[str]]:
    """Return who reads each history, by its number."""
    found: dict[int, set[str]] = {}
    for history, target, *_ in schedule.reads:
        owner = owners[target]
        if owner is not None:
            found.setdefault(history, set()).add(owner)
    return found


def _newest(schedule: Schedule, state: EngineState) -> list[int]:
    """Return the number of the newest sample of each history."""
    numbers, at = [], 0
    for _, depth, _, _, channel in schedule.histories:
        numbers.append(int(state.marks[at]))
        at += 10 + max(depth, 2) * (1 if channel < 0 else 2)
    return numbers


def _by_age(schedule: Schedule, newest: Sequence[int], size: int) -> NDArray[np.intp]:
    """Return where the samples of all histories are, from the newest to the oldest of each."""
    places: list[int] = []
    at = 0
    for (_, depth, *_), last in zip(schedule.histories, newest, strict=True):
        kept = max(depth, 2)
        places += [at + (last - age) % kept for age in range(kept)]
        places += range(at + kept, at + kept + 4)
        at += kept + 4
    if at != size:
        raise AssertionError(f"histories of {at} numbers, of which the engine keeps {size}")
    return np.array(places, dtype=np.intp)


def _linear_unit(member: Member, model: UnitModel, schedule: Schedule) -> LinearUnit:
    """Make the engine's unit, for whole steps and for halves where the schedule makes them."""
    order = input_order(schedule, member)
    step_ns = member.ticks * schedule.step_ns
    lengths = [step_ns]
    if any(row[0] in {Code.FIRST_HALF, Code.SECOND_HALF} for row in schedule.operations):
        lengths += [schedule.step_ns // 2, schedule.step_ns - schedule.step_ns // 2]
    rows = [(length, model.transition(length, order=order)) for length in dict.fromkeys(lengths)]
    expected = (
        len(model.states) + member.output_size,
        len(model.states) + member.input_size * (1 + order),
    )
    for _, matrix in rows:
        if matrix.shape != expected:
            raise AssertionError(f"'{member.name}': {matrix.shape}, expected {expected}")
    return LinearUnit(
        member.name,
        len(model.states),
        member.input_size,
        member.output_size,
        order,
        [(length, matrix.ravel().tolist()) for length, matrix in rows],
    )


def _expect_linear(schedule: Schedule) -> None:
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
            " map does"
        )
    if any(row.method is CompensationMethod.DIRECT_RESPONSE for row in schedule.compensations):
        raise CapabilityError(
            "a connection has the compensation 'corrector', which asks a unit for derivatives: the"
            " linear models of whole steps have none"
        )
    if schedule.watched:
        lines = ", ".join(schedule.watched)
        raise CapabilityError(f"read on an arc or with delays that vary, as no linear map: {lines}")


def _numbers_only(schedule: Schedule) -> Schedule:
    """Leave out texts, events and faults, and solve loops as far as numbers go."""
    operations = tuple(row for row in schedule.operations if row[0] != Code.TEXT)
    loops = tuple(replace(_solvable(loop), tolerance=_SOLVED) for loop in schedule.loops)
    return replace(
        schedule, operations=operations, loops=loops, texts=0, text_copies=(), events=None
    )


def _solvable(loop: LoopTable) -> LoopTable:
    """Solve by differences what is solved by derivatives, which linear units do not give."""
    if loop.method is not Iteration.NEWTON_BY_DERIVATIVES:
        return loop
    return replace(loop, method=Iteration.NEWTON)
