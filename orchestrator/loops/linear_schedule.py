"""A schedule whose units are linear models: what stands in their place, and what cannot."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master import Iteration, Schedule
from orchestrator.core.master.run.engine_tables import make_engine
from orchestrator.core.master.schedule.compensation_row import CompensationMethod
from orchestrator.core.master.schedule.schedule import Code, LoopTable, Member, input_order
from orchestrator.engine import Engine, LinearUnit
from orchestrator.loops.unit_model import UnitModel

#: Iterated loops of linear units are solved to this share of their signals.
_SOLVED = 1e-13


@dataclass(frozen=True, slots=True)
class _Native:
    """A unit of the engine in the place of a simulation unit."""

    native: LinearUnit


def linear_engine(schedule: Schedule, units: list[LinearUnit]) -> Engine:
    """Make the engine of a schedule with linear units in the place of its own."""
    return make_engine(schedule, [_Native(unit) for unit in units], 1)  # type: ignore[misc]


def linear_unit(member: Member, model: UnitModel, schedule: Schedule) -> LinearUnit:
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
        _direct(member, model) if _is_corrected(member, schedule) else (),
    )


def _is_corrected(member: Member, schedule: Schedule) -> bool:
    return any(
        row.method is CompensationMethod.DIRECT_RESPONSE and schedule.members[row.answer] is member
        for row in schedule.compensations
    )


def _direct(member: Member, model: UnitModel) -> list[float]:
    """What outputs are at once of inputs, row by row: by that they are corrected after a step."""
    if model.continuous is None:
        raise CapabilityError(
            f"a line to component '{member.name}' has the compensation 'corrector', which asks it"
            " for derivatives of its outputs at one moment: the component has no model in"
            " continuous time that says them"
        )
    return [float(value) for value in model.continuous.d.ravel()]


def expect_linear(schedule: Schedule) -> None:
    """Expect a schedule that is a linear map.

    Raises
    ------
    CapabilityError
        If it does what no linear map does: steps of varying length, tables of values, arcs.
    """
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


def numbers_only(schedule: Schedule) -> Schedule:
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
