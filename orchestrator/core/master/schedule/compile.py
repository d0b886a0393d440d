"""Compilation of a system and an algorithm into a schedule, and the operations of one step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from orchestrator.core.coupling import DelayMode, DelayPlan, Timing, channel_of, plan_delays
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, with_article
from orchestrator.core.garbage import collection_paused
from orchestrator.core.master.plan import Group, Plan
from orchestrator.core.master.schedule.compensation_table import FaultRows, rule_table
from orchestrator.core.master.schedule.connection_tables import ConnectionTables, Rows
from orchestrator.core.master.schedule.events import check_events, event_table
from orchestrator.core.master.schedule.input_hold import (
    InputHold,
    around,
    at_end,
    interior,
    with_boundary,
)
from orchestrator.core.master.schedule.rows import OperationCode, OperationRow
from orchestrator.core.master.schedule.schedule import (
    Buffer,
    LoopTable,
    RuleTable,
    Schedule,
    connector_at,
)
from orchestrator.core.master.settings import ExecutionSettings, fault_refusals, validate_plan
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Connection,
    DataType,
    Endpoint,
    Fault,
    Interpolation,
    System,
    closed_loops,
    lines_of,
    range_errors,
)


class Emission:
    """Writes the operations of a plan, group after group.

    system, plan: What is stepped how.
    buffer, tables, input_hold: Places of the signals, tables of the connections, and at what inputs
        are held.
    """

    def __init__(
        self,
        system: System,
        plan: Plan,
        buffer: Buffer,
        tables: ConnectionTables,
        input_hold: InputHold,
    ) -> None:
        self._system = system
        self._plan = plan
        self._slots = {**buffer.slots, **buffer.text_slots}
        self._tables = tables
        self._input_hold = input_hold
        self._halved = {name for name in system.components if input_hold.halved(name)}
        self._numbers = {member.name: i for i, member in enumerate(buffer.members)}
        #: By target, the places of the connections that bring values at steps.
        self._at_steps: dict[str, list[int]] = {}
        for number, line in enumerate(system.connections):
            end = line.target
            if not system.components[end.component].changes_at_events(end.connector):
                self._at_steps.setdefault(end.component, []).append(number)
        self.operations: list[OperationRow] = []
        self.loops: list[LoopTable] = []
        #: Numbers of the members whose outputs are read before the operations come to them.
        self.read_early = sorted(self._numbers[name] for name in self._sources_read_early())
        for group in plan.groups:
            if group.loop:
                self._iterate(group)
            else:
                self._exchange(group.members)
                self._step(group.members)
            for ticks, names in self._by_ticks(group.members):
                self._add(tables.push(names), ticks, ticks - 1)
        self._add(tables.correct())

    def _ticks(self, name: str) -> int:
        return self._tables.ticks[name]

    def _by_ticks(self, names: Iterable[str]) -> list[tuple[int, list[str]]]:
        ordered = sorted(names, key=self._ticks)  # stable
        return [(ticks, list(some)) for ticks, some in groupby(ordered, self._ticks)]

    def _add(self, rows: Iterable[Rows], every: int = 1, phase: int = 0) -> None:
        self.operations += [OperationRow(*row, every, phase) for row in rows]

    def _into(self, names: Iterable[str]) -> list[Connection]:
        """Connections that are exchanged before a step; others wait for event mode."""
        numbers = sorted(number for name in names for number in self._at_steps.get(name, ()))
        return [self._system.connections[number] for number in numbers]

    def _exchange(self, names: Iterable[str]) -> None:
        names = list(names)
        halved = [name for name in names if name in self._halved]
        self._add(self._tables.exchange(self._into(halved), first_half=True))
        self._add((OperationCode.FIRST_HALF, self._numbers[name], 1) for name in halved)
        for ticks, some in self._by_ticks(names):
            phase = ticks - 1 if self._plan.latch_at_end else 0
            self._add(self._tables.exchange(self._into(some)), ticks, phase)

    def _step(self, names: Iterable[str]) -> None:
        kinds = groupby(names, lambda name: (self._ticks(name), name in self._halved))
        for (ticks, halved), some in kinds:
            numbers = [self._numbers[name] for name in some]
            code = OperationCode.SECOND_HALF if halved else OperationCode.STEP
            self._add([(code, numbers[0], len(numbers))], ticks, ticks - 1)

    def _sources_read_early(self) -> set[str]:
        """Components that lines lead out of before they are stepped, but for what loops solve for.

        An iteration begins at 0, where a component's own start may be one it does not find from.
        Lines to connectors that change at events are copied before a pass, so their sources are
        read early too: an FMU refuses the 0 of a signal that nobody has written, where 0 is outside
        of its limits or no item of its enumeration.
        """
        sources = {
            line.source.component
            for line in self._system.connections
            if self._system.components[line.target.component].changes_at_events(
                line.target.connector
            )
        }
        solved: set[str] = set()
        stepped: set[str] = set()
        for group in self._plan.groups:
            position = {name: i for i, name in enumerate(group.members)} if group.loop else {}
            for line in self._into(group.members):
                source = line.source.component
                if source not in position and source not in stepped:
                    sources.add(source)
                elif source in position and _is_cut(line, position):
                    solved.add(source)
            stepped.update(group.members)
        return sources - solved

    def _iterate(self, group: Group) -> None:
        """Write a loop: every component of it exchanges and steps, again and again."""
        assert self._plan.loops is not None  # noqa: S101 - a plan with loops says how
        start = len(self.operations)
        self._add([(OperationCode.SOLVE, len(self.loops), 0)])
        position = {name: i for i, name in enumerate(group.members)}
        inside = [line for line in self._into(group.members) if line.source.component in position]
        self._add(self._tables.propose(line for line in inside if _is_cut(line, position)))
        for name in group.members:
            self._exchange([name])
            self._step([name])
            ahead = (line for line in inside if line.source.component == name)
            self._add(self._tables.propose(line for line in ahead if not _is_cut(line, position)))
        body = len(self.operations) - start - 1
        self.operations[start] = OperationRow(OperationCode.SOLVE, len(self.loops), body, 1, 0)
        self.loops.append(self._table(group))

    def _table(self, group: Group) -> LoopTable:
        """What a pass starts from: outputs of components that come later in it."""
        how = self._plan.loops
        assert how is not None  # noqa: S101
        position = {name: i for i, name in enumerate(group.members)}
        sources = {
            line.source: connector_at(self._system, line.source)
            for line in self._into(group.members)
            if (line.delay is None or self._input_hold.proposed(line)) and _is_cut(line, position)
        }
        slots: dict[str, list[int]] = {"real": [], "discrete": [], "text": []}
        names: dict[str, list[str]] = {"real": [], "discrete": [], "text": []}
        for end, connector in sources.items():
            first, size = self._slots[str(end)]
            is_real, is_text = connector.type is DataType.REAL, connector.type.is_text
            kind = "real" if is_real else "text" if is_text else "discrete"
            slots[kind] += range(first, first + size)
            names[kind] += [str(end) if size == 1 else f"{end}[{i}]" for i in range(size)]
        return LoopTable(
            how.method,
            how.tolerance,
            how.most_iterations,
            tuple(slots["real"]),
            tuple(slots["discrete"]),
            tuple(self._numbers[name] for name in group.members),
            tuple(names["real"] + names["discrete"] + names["text"]),
            tuple(slots["text"]),
            group.members,
        )


def _is_cut(line: Connection, position: Mapping[str, int]) -> bool:
    """Whether a pass through a loop starts from what a line brings: its source comes later."""
    return position.get(line.source.component, -1) >= position[line.target.component]


def expect_in_reach(times: Mapping[str, int | None]) -> None:
    """Refuse times, in nanoseconds by what they are, that a run has no room for."""
    problems = [
        text for label, ns in times.items() if ns is not None for text in range_errors(label, ns)
    ]
    if problems:
        raise DescriptionError(*problems)


def _expect_schedule_in_reach(
    system: System, step_ns: int, rates: Mapping[str, int], faults: Sequence[Fault]
) -> None:
    """Refuse steps, delays and faults that a run has no room for."""
    times: dict[str, int | None] = {"communication step": step_ns}
    for name, rate in rates.items():
        times[f"step of component '{name}'"] = rate * step_ns
    for line in system.connections:
        location = f"connection {line.source} -> {line.target}"
        if line.delay is not None:
            times[f"{location}: delay"] = line.delay.nominal_ns
        if (channel := channel_of(line)) is not None:
            times[f"{location}: longest delay of a sample"] = channel.longest_ns
            if channel.times_ns:
                times[f"{location}: begin of its trace"] = channel.times_ns[0]
                times[f"{location}: end of its trace"] = channel.times_ns[-1]
    for fault in faults:
        name = f"fault '{fault.name}' on '{fault.on}'"
        times |= {f"begin of {name}": fault.begin_ns, f"delay of {name}": fault.delay_ns}
    expect_in_reach(times)


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

    system: Flat, resolved, and checked but for algebraic loops. Its own connectors become two
        further members, see :mod:`~orchestrator.core.master.schedule.input_hold`.
    algorithm_name: A registered algorithm.
    step_ns: Communication step in nanoseconds, > 0; the first one where the algorithm varies it.
    mode: How declared delays are realised.
    recorded: Outputs to keep in the buffer although nothing is connected to them
        (``component.connector``).
    options: Of the algorithm.
    rates: Communication steps that one step of a component takes, where it is not 1.
    faults: What goes wrong, in the order in which it acts on a value.
    Raises DescriptionError: if the algorithm cannot step this system so; all problems of a kind
        together.
    """
    rates = rates or {}
    if step_ns <= 0:
        raise CapabilityError(f"communication step: expected > 0 s, found {step_ns / 1e9:g} s")
    if not system.components:
        raise CapabilityError(f"system '{system.name}' has no components: add one before the run")
    _expect_schedule_in_reach(system, step_ns, rates, faults)
    inside, system = interior(system), with_boundary(system)
    _check_types(system)
    check_events(system, rates)
    inside, system = _stepped(inside, step_ns), _stepped(system, step_ns)
    plan = around(validate_plan(inside, algorithm_name, options, rates), system)
    if refusals := fault_refusals(inside, algorithm_name, plan, faults):
        raise CapabilityError(*refusals)
    faulty = {line.target for fault in faults for line in lines_of(fault, system)}
    input_hold = InputHold(
        system, plan, dict(rates), faulty=faulty, waveform=mode is DelayMode.WAVEFORM
    )

    def timing_of(line: Connection) -> Timing:
        return input_hold.timing(line, step_ns)

    plans, loop_delays = plan_delays(system.connections, closed_loops(system), mode, timing_of)
    plans = at_end(plans, step_ns, exact=mode is not DelayMode.PLAIN)
    buffer = Buffer(system, plan, rates, recorded)
    fault_table = FaultRows(system, faults)
    late_plans = {
        line.target: read
        for line in system.connections
        if (read := fault_table.late_plan(line, timing_of, mode)) is not None
    }
    rule = rule_table(inside, plan, buffer, step_ns, timing_of)
    schedule = lay_out(
        system, plan, buffer, input_hold, plans, late_plans, fault_table, step_ns, rule
    )
    loops = tuple(loop_delays)
    return replace(schedule, algorithm=algorithm_name, mode=mode, loop_delays=loops)


def lay_out(
    system: System,
    plan: Plan,
    buffer: Buffer,
    input_hold: InputHold,
    delays: Mapping[Endpoint, DelayPlan],
    late_plans: Mapping[Endpoint, DelayPlan],
    faults: FaultRows,
    step_ns: int,
    rule: RuleTable,
    *,
    follows_steps: bool = True,
) -> Schedule:
    """Lay out the tables of a plan; see :class:`ConnectionTables` and :class:`Emission`."""
    tables = ConnectionTables(
        system,
        plan,
        buffer,
        input_hold,
        delays,
        late_plans,
        faults,
        step_ns,
        rule,
        follows_steps=follows_steps,
    )
    emission = Emission(system, plan, buffer, tables, input_hold)
    events = event_table(system, buffer, tables)  # adds to the copies
    return Schedule(
        algorithm="",
        mode=DelayMode.MEAN,
        step_ns=step_ns,
        signals=buffer.size,
        members=tuple(buffer.members),
        slots=buffer.slots,
        histories=tuple(tables.histories),
        channels=tuple(tables.channels),
        copies=tuple(tables.copies),
        reads=tuple(tables.reads),
        mixes=tuple(tables.mixes),
        loops=tuple(emission.loops),
        operations=tuple(emission.operations),
        rule=rule,
        # Enough passes for a chain of all components, and one more where delays cut a ring.
        initial_passes=len(buffer.members) + bool(delays),
        plans=tuple(delays.values()),
        loop_delays=(),
        watched=tables.watched,
        texts=buffer.text_size,
        text_copies=tuple(tables.text_copies),
        tables=tuple(tables.tables),
        table_entries=tuple(tables.table_entries),
        events=events,
        faults=tuple(faults.rows),
        compensations=tuple(tables.compensations),
        read_early=tuple(emission.read_early),
    )


def schedule_for(
    system: System, settings: ExecutionSettings, step_ns: int, recorded: Collection[str]
) -> Schedule:
    """Compile a checked system with the settings of a run; see :func:`compile_schedule`."""
    how = settings.algorithm_options, settings.rates, settings.faults
    return compile_schedule(system, settings.algorithm, step_ns, settings.mode, recorded, *how)


def _stepped(system: System, step_ns: int) -> System:
    """Give a system its step, and hold the samples that have nothing between them."""
    experiment = replace(system.experiment, step_ns=step_ns)
    lines = tuple(  # none but Reals have values between two samples
        line
        if line.delay is None
        or line.interpolation is not None
        or connector_at(system, line.source).type is DataType.REAL
        else replace(line, interpolation=Interpolation.HOLD)
        for line in system.connections
    )
    return replace(system, experiment=experiment, connections=lines)


def _check_types(system: System) -> None:
    problems: list[str] = []
    for line in system.connections:
        carried = connector_at(system, line.source).type
        if carried.is_text and line.delay is not None:
            problems.append(
                f"connection {line}: {with_article(carried)} cannot be delayed; remove the delay,"
                " or delay the signal in a block"
            )
        if carried.is_text and line.transformation is not None:
            problems.append(
                f"connection {line}: {with_article(carried)} has no factor or offset; remove them"
            )
    if problems:
        raise CapabilityError(*problems)
