"""Compilation of a system and an algorithm into a schedule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orchestrator.coupling import DelayMode, plan_delays
from orchestrator.errors import CapabilityError
from orchestrator.master.boundary import around, at_end, interior, with_boundary
from orchestrator.master.buffer import Buffer
from orchestrator.master.coupled import Holding
from orchestrator.master.emission import Emission
from orchestrator.master.events import check_events, event_table
from orchestrator.master.fault_checks import expect_faults
from orchestrator.master.fault_table import FaultTable
from orchestrator.master.lines import Lines
from orchestrator.master.planned import planned
from orchestrator.master.rule import rule_table
from orchestrator.master.schedule import Schedule
from orchestrator.system import (
    Connection,
    DataType,
    Endpoint,
    Fault,
    Interpolation,
    System,
    closed_loops,
)


def compile_schedule(
    system: System,
    algorithm_name: str,
    step_ns: int,
    mode: DelayMode,
    recorded: Collection[str],
    options: Mapping[str, Any] | None = None,
    rates: Mapping[str, int] | None = None,
    faults: Sequence[Fault] = (),
) -> Schedule:
    """Compile a checked system.

    Parameters
    ----------
    system
        Flat, resolved, and checked but for algebraic loops. Its own connectors become two further
        members, see :mod:`~orchestrator.master.boundary`.
    algorithm_name
        A registered algorithm.
    step_ns
        Communication step in nanoseconds, > 0; the first one where the algorithm varies it.
    mode
        How declared delays are realised.
    recorded
        Outputs to keep in the buffer although nothing is connected to them
        (``component.connector``).
    options
        Of the algorithm.
    rates
        Communication steps that one step of a component takes, where it is not 1.
    faults
        What goes wrong, in the order in which it acts on a value.

    Raises
    ------
    DescriptionError
        If the algorithm cannot step this system so; all problems of a kind together.
    """
    rates = rates or {}
    if step_ns <= 0:
        raise CapabilityError(f"communication step: expected > 0 s, found {step_ns / 1e9:g} s")
    if not system.components:
        raise CapabilityError(f"system '{system.name}' has no components: there is nothing to step")
    inside, system = interior(system), with_boundary(system)
    _check_types(system, recorded)
    check_events(system, rates)
    inside, system = _stepped(inside, step_ns), _stepped(system, step_ns)
    plan = around(planned(inside, algorithm_name, options, rates), system)
    expect_faults(inside, algorithm_name, plan, faults)
    holding = Holding(system, plan, dict(rates))
    plans, loop_delays = plan_delays(
        system.connections,
        closed_loops(system),
        mode,
        lambda line: holding.timing(line, step_ns),
    )
    plans = at_end(plans, step_ns, exact=mode is DelayMode.EXACT)
    buffer = Buffer(system, plan, rates, recorded)
    table = FaultTable(system, faults)
    late = {
        line.target: read
        for line in system.connections
        if (read := table.late_plan(line, holding.timing(line, step_ns), mode)) is not None
    }
    lines = Lines(system, plan, buffer, holding, plans, late, table, step_ns)
    emission = Emission(system, plan, buffer, lines, holding)
    events = event_table(system, buffer, lines)  # adds to the copies
    return Schedule(
        algorithm_name,
        mode,
        step_ns,
        buffer.size,
        tuple(buffer.members),
        buffer.slots,
        tuple(lines.histories),
        tuple(lines.channels),
        tuple(lines.copies),
        tuple(lines.reads),
        tuple(lines.mixes),
        tuple(emission.loops),
        tuple(emission.operations),
        rule_table(inside, plan, buffer, step_ns),
        # Enough passes for a chain of all components, and one more where delays cut a ring.
        len(buffer.members) + bool(plans),
        tuple(plans.values()),
        tuple(loop_delays),
        lines.watched,
        tuple(lines.read_shares),
        buffer.text_size,
        tuple(lines.text_copies),
        tuple(lines.tables),
        tuple(lines.table_entries),
        events,
        tuple(table.rows),
    )


def _stepped(system: System, step_ns: int) -> System:
    """Give a system its step, and hold the samples that have nothing between them."""
    experiment = replace(system.experiment, step_ns=step_ns)
    lines = tuple(_held(system, line) for line in system.connections)
    return replace(system, experiment=experiment, connections=lines)


def _held(system: System, line: Connection) -> Connection:
    """Hold the samples of a delayed signal that has no values between: none but Reals have."""
    kind = system.components[line.source.component].connectors[line.source.connector].type
    if line.delay is None or line.interpolation is not None or kind is DataType.REAL:
        return line
    return replace(line, interpolation=Interpolation.HOLD)


def _check_types(system: System, recorded: Collection[str]) -> None:
    def kind(end: Endpoint) -> DataType:
        return system.components[end.component].connectors[end.connector].type

    wrong = [
        f"recording of '{name}': it is a {kind(end)}; only numbers are recorded, so leave it out"
        for name in recorded
        if kind(end := Endpoint.parse(name)).is_text
    ]
    for line in system.connections:
        carried = kind(line.source)
        if carried.is_text and line.delay is not None:
            wrong.append(
                f"connection {line}: a {carried} cannot be delayed: only numbers have a past;"
                " remove the delay, or pass it on in a block"
            )
        if carried.is_text and line.transformation is not None:
            wrong.append(f"connection {line}: a {carried} has no factor or offset; remove them")
    if wrong:
        raise CapabilityError(*wrong)
