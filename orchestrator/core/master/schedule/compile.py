"""Compilation of a system and an algorithm into a schedule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orchestrator.core.coupling import DelayMode, Timing, channel_of, plan_delays
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.garbage import collection_paused
from orchestrator.core.master.algorithms.fault_checks import expect_faults
from orchestrator.core.master.algorithms.plan_validation import validate_plan
from orchestrator.core.master.schedule.buffer import Buffer
from orchestrator.core.master.schedule.connection_tables import ConnectionTables
from orchestrator.core.master.schedule.events import check_events, event_table
from orchestrator.core.master.schedule.fault_table import FaultTable
from orchestrator.core.master.schedule.input_hold import (
    InputHold,
    around,
    at_end,
    interior,
    with_boundary,
)
from orchestrator.core.master.schedule.operation_emitter import Emission
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.master.schedule.step_size_control import rule_table
from orchestrator.core.system import (
    Connection,
    DataType,
    Endpoint,
    Fault,
    Interpolation,
    System,
    closed_loops,
    lines_of,
    out_of_reach,
)


def expect_in_reach(times: Mapping[str, int | None]) -> None:
    """Refuse times, in nanoseconds by what they are, that a run has no room for."""
    problems = [
        text for what, ns in times.items() if ns is not None for text in out_of_reach(what, ns)
    ]
    if problems:
        raise DescriptionError(*problems)


def expect_schedule_in_reach(
    system: System, step_ns: int, rates: Mapping[str, int], faults: Sequence[Fault]
) -> None:
    """Refuse steps, delays and faults that a run has no room for."""
    times: dict[str, int | None] = {"communication step": step_ns}
    for name, rate in rates.items():
        times[f"step of component '{name}'"] = rate * step_ns
    for line in system.connections:
        times |= _of_line(line)
    for fault in faults:
        name = f"fault '{fault.name}' on '{fault.on}'"
        times |= {f"begin of {name}": fault.begin_ns, f"delay of {name}": fault.delay_ns}
    expect_in_reach(times)


def _of_line(line: Connection) -> dict[str, int | None]:
    if line.delay is None:
        return {}
    where = f"connection {line.source} -> {line.target}"
    times: dict[str, int | None] = {f"{where}: delay": line.delay.nominal_ns}
    channel = channel_of(line)
    if channel is not None:
        times[f"{where}: longest delay of a sample"] = channel.longest_ns
    if channel is not None and channel.times_ns:
        times[f"{where}: begin of its trace"] = channel.times_ns[0]
        times[f"{where}: end of its trace"] = channel.times_ns[-1]
    return times


@collection_paused()
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
        members, see :mod:`~orchestrator.core.master.schedule.input_hold`.
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
    expect_schedule_in_reach(system, step_ns, rates, faults)
    inside, system = interior(system), with_boundary(system)
    _check_types(system)
    check_events(system, rates)
    inside, system = _stepped(inside, step_ns), _stepped(system, step_ns)
    plan = around(validate_plan(inside, algorithm_name, options, rates), system)
    expect_faults(inside, algorithm_name, plan, faults)
    faulty = {line.target for fault in faults for line in lines_of(fault, system)}
    input_hold = InputHold(
        system, plan, dict(rates), faulty=faulty, waveform=mode is DelayMode.WAVEFORM
    )

    def timing_of(line: Connection) -> Timing:
        return input_hold.timing(line, step_ns)

    plans, loop_delays = plan_delays(
        system.connections,
        closed_loops(system),
        mode,
        timing_of,
    )
    plans = at_end(plans, step_ns, exact=mode is not DelayMode.PLAIN)
    buffer = Buffer(system, plan, rates, recorded)
    fault_table = FaultTable(system, faults)
    late = {
        line.target: read
        for line in system.connections
        if (read := fault_table.late_plan(line, timing_of, mode)) is not None
    }
    rule = rule_table(inside, plan, buffer, step_ns, timing_of)
    tables = ConnectionTables(
        system, plan, buffer, input_hold, plans, late, fault_table, step_ns, rule
    )
    emission = Emission(system, plan, buffer, tables, input_hold)
    events = event_table(system, buffer, tables)  # adds to the copies
    return Schedule(
        algorithm_name,
        mode,
        step_ns,
        buffer.size,
        tuple(buffer.members),
        buffer.slots,
        tuple(tables.histories),
        tuple(tables.channels),
        tuple(tables.copies),
        tuple(tables.reads),
        tuple(tables.mixes),
        tuple(emission.loops),
        tuple(emission.operations),
        rule,
        # Enough passes for a chain of all components, and one more where delays cut a ring.
        len(buffer.members) + bool(plans),
        tuple(plans.values()),
        tuple(loop_delays),
        tables.watched,
        buffer.text_size,
        tuple(tables.text_copies),
        tuple(tables.tables),
        tuple(tables.table_entries),
        events,
        tuple(fault_table.rows),
        tuple(tables.compensations),
        tuple(emission.read_early),
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


def _check_types(system: System) -> None:
    def kind(end: Endpoint) -> DataType:
        return system.components[end.component].connectors[end.connector].type

    wrong: list[str] = []
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
