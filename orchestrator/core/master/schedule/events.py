"""What goes from unit to unit in event mode, and what cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.plan import StepMethod
from orchestrator.core.master.schedule.connection_tables import ConnectionTables
from orchestrator.core.master.schedule.schedule import Buffer, EventTable, Schedule, connector_at
from orchestrator.core.simunits import Capabilities
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Connection,
    DataType,
    Endpoint,
    MappingTransformation,
    System,
    Variability,
)


class LineKind(IntEnum):
    """What a connection carries in event mode; the numbers are those of the engine (events.hpp)."""

    CONTINUOUS = 0
    DISCRETE = 1
    CLOCK = 2
    CLOCKED = 3


class EventStatistics(Struct):
    """What event mode did so far.

    instants: How often units went through event mode together.
    updates: Updates of discrete states in all of them.
    split_steps: Communication points that were put between those of the grid.
    early_returns: Steps that were done again, as far as a unit had returned.
    late, latest_ns: Events known beforehand that were handled after their time, at the next
        communication point, and by how many nanoseconds at most.
    """

    instants: int
    updates: int
    split_steps: int
    early_returns: int
    late: int
    latest_ns: int


def check_events(system: System, rates: Mapping[str, int]) -> None:
    """Refuse what clocks and discrete values cannot do."""
    problems = [problem for line in system.connections for problem in _line_problems(system, line)]
    problems += [
        f"component '{name}' has an event mode and takes {ticks} communication steps at once:"
        " between them its time differs from that of the others, so it cannot share their"
        " events; remove its rate, or take a longer communication step"
        for name, ticks in rates.items()
        if ticks != 1 and name in system.components and system.components[name].shares_events
    ]
    if problems:
        raise CapabilityError(*problems)


def _line_problems(system: System, line: Connection) -> list[str]:
    ends = line.source, line.target
    is_clock = connector_at(system, line.source).type is DataType.CLOCK
    at_events = [end for end in ends if _at_events(system, end)]
    if not (is_clock or at_events):
        return []
    location = f"connection {line}"
    problems = []
    if line.delay is not None:
        end_text = "a clock" if is_clock else f"'{at_events[0]}', which changes at events only,"
        problems.append(
            f"{location}: {end_text} cannot be delayed, since it has no values between events;"
            " remove the delay, or delay it in a component"
        )
    if is_clock and line.transformation is not None:
        problems.append(f"{location}: a clock has no factor or offset; remove them")
    if at_events and isinstance(line.transformation, MappingTransformation):
        problems.append(
            f"{location}: a table of values cannot be applied in event mode, where"
            f" '{at_events[0]}' changes; map it in a block"
        )
    problems += [
        f"{location}: clock '{end}' never ticks: its component is not a Co-Simulation FMU with"
        " hasEventMode, or is run by another backend or in a process of its own; change that, or"
        " remove the connection"
        for end in ends
        if is_clock and end not in at_events
    ]
    return problems


def _at_events(system: System, end: Endpoint) -> bool:
    return system.components[end.component].changes_at_events(end.connector)


def _kind(system: System, line: Connection) -> LineKind:
    if not _at_events(system, line.target):
        return LineKind.CONTINUOUS
    target = connector_at(system, line.target)
    if target.type is DataType.CLOCK:
        return LineKind.CLOCK
    return LineKind.CLOCKED if target.variability is Variability.CLOCKED else LineKind.DISCRETE


def event_table(system: System, buffer: Buffer, tables: ConnectionTables) -> EventTable | None:
    """Make the table of event mode; ``None`` if no unit has one."""
    components = system.components
    numbers = [i for i, m in enumerate(buffer.members) if components[m.name].shares_events]
    if not numbers:
        return None
    position = {buffer.members[number].name: i for i, number in enumerate(numbers)}
    between = [
        (_kind(system, line), line)
        for line in system.connections
        if line.delay is None
        and line.target.component in position
        and not connector_at(system, line.target).type.is_text
    ]
    held_back = [(kind, line) for kind, line in between if kind is not LineKind.CONTINUOUS]
    others = [
        (kind, line)
        for kind, line in between
        if kind is LineKind.CONTINUOUS and line.source.component in position
    ]
    first = len(tables.copies)
    rows = [
        (copy, position[line.target.component], int(kind))
        for kind, line in (*held_back, *others)
        for copy in tables.copy_at_events(line)
    ]
    count = sum(kind != LineKind.CONTINUOUS for _, _, kind in rows)
    clocks = [
        (slot, source)
        for name, source in position.items()
        for output in buffer.members[numbers[source]].outputs
        if components[name].connectors[output].type is DataType.CLOCK
        for slot in range(
            buffer.slots[f"{name}.{output}"][0], sum(buffer.slots[f"{name}.{output}"])
        )
    ]
    return EventTable(tuple(numbers), tuple(rows), tuple(clocks), (first, count))


def with_abilities(
    system: System, schedule: Schedule, abilities: Sequence[Capabilities], *, early_return: bool
) -> Schedule:
    """Decide whether steps may be split at events, and whether units may return early."""
    if schedule.events is None:
        return schedule
    pairs = list(zip(schedule.members, abilities, strict=True))
    fixed = [
        f"'{m.name}' takes only equal steps (canHandleVariableCommunicationStepSize is not true)"
        for m, can in pairs
        if not can.can_vary_step
    ]
    fixed += [
        f"'{m.name}' takes {m.ticks} communication steps at once" for m, _ in pairs if m.ticks != 1
    ]
    refusals = fixed + [
        f"'{m.name}' cannot go back to a saved state" for m, can in pairs if not can.can_roll_back
    ]
    refusals += [f"'{m.name}' is a device" for m, can in pairs if not can.is_repeatable]
    if schedule.rule.method is not StepMethod.FIXED:
        refusals.append(f"algorithm '{schedule.algorithm}' chooses the steps itself")
    if schedule.channels:
        refusals.append("a delay of the system varies, and sent samples cannot be withdrawn")
    iterated = {number for loop in schedule.loops for number in loop.members}
    refusals += [
        f"'{m.name}' is in a loop, whose steps algorithm '{schedule.algorithm}' repeats with"
        " other inputs"
        for i, (m, can) in enumerate(pairs)
        if i in iterated and can.has_event_mode and can.might_return_early
    ]
    if not early_return:
        refusals.append("the option early_return is off")
    sources = {line.source.component for line in system.connections}
    is_useful = any(
        system.components[m.name].shares_events and can.might_return_early and m.name in sources
        for m, can in pairs
    )
    if not is_useful:
        refusals.append(
            "no component that may return early (mightReturnEarlyFromDoStep) is connected to one"
            " that could use it"
        )
    events = replace(
        schedule.events, splits=not fixed, early_return=not refusals, refusals=tuple(refusals)
    )
    return replace(schedule, events=events)
