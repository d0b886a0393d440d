"""What a run is made of: a system with its tables, its units and the engine, initialised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

from orchestrator.core.coupling import DelayMode, FaultRecord, fault_records, unsolved
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master.run.initialisation import initialise
from orchestrator.core.master.run.recorder import recordable
from orchestrator.core.master.run.run_loop import MOST_STEPS
from orchestrator.core.master.run.step_failure import (
    expect_capabilities,
    verify_rollback,
)
from orchestrator.core.master.schedule.compile import expect_in_reach, schedule_for
from orchestrator.core.master.schedule.events import with_abilities
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.master.settings import ExecutionSettings
from orchestrator.core.simunits import (
    SimulationUnit,
    capabilities_of,
    expect_flawless,
    flaw_notes,
    isolate,
    make_unit,
    resolve,
    under_wine,
)
from orchestrator.core.simunits.value_rules import value_notes
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Connector,
    System,
    Value,
    communication_step_ns,
    kept_notes,
    nanoseconds,
    seconds,
    with_starts,
)
from orchestrator.core.system.naming import is_whole
from orchestrator.core.system.ports import Limits
from orchestrator.core.system.time import exact_ns
from orchestrator.engine import Engine, Outcome, Unit

if TYPE_CHECKING:
    from orchestrator.core.simunits import WorkerProcess


def make_engine(schedule: Schedule, units: Sequence[Unit], threads: int | None) -> Engine:
    """Make the engine that executes a schedule, of the engine's units of its members."""
    members = [
        (unit, member.input_offset, member.output_offset, member.ticks)
        for unit, member in zip(units, schedule.members, strict=True)
    ]
    engine = Engine(
        schedule.signals,
        members,
        schedule.histories,
        [astuple(channel) for channel in schedule.channels],
        schedule.copies,
        schedule.reads,
        schedule.mixes,
        [astuple(loop)[:8] for loop in schedule.loops],
        schedule.operations,
        astuple(schedule.rule),
        0 if threads is None else threads,
        [astuple(row) for row in schedule.faults],
        [astuple(row) for row in schedule.compensations],
    )
    if not schedule.varies:
        rest = exact_ns(schedule.step_ns) - int(schedule.step_ns)
        engine.set_rest(rest.numerator, rest.denominator)
    if schedule.texts:
        places = [(m.text_input_offset, m.text_output_offset) for m in schedule.members]
        engine.set_texts(schedule.texts, schedule.text_copies, places)
    if schedule.tables:
        engine.set_value_tables(schedule.tables, schedule.table_entries)
    if (events := schedule.events) is not None:
        table = events.members, events.lines, events.clocks
        engine.handle_events(*table, events.splits, events.early_return)
    return engine


def prepared(system: System, mode: DelayMode, *, strict: bool) -> tuple[System, list[str]]:
    """Return a system as it is run, checked, and what was chosen for it, in sentences."""
    if strict:
        expect_flawless(system)
    flat, kept = with_starts(resolve(system).flat())
    closed = flat.closed()
    if mode is DelayMode.PLAIN:
        closed = closed.without_zero_delays()  # nothing to take a step's own delay off
    apart, isolated = isolate(closed.check(algebraic_loops=True))
    prepared, windows = under_wine(apart)
    return prepared, [*flaw_notes(prepared), *kept_notes(kept), *isolated, *windows]


#: A row of the engine's watch: slot, least, most, whether each is open, items.
_WatchRow = tuple[int, float, float, bool, bool, list[float]]


class FedRanges:
    """Watches what the engine feeds to inputs that have a range or an enumeration.

    engine: Initialised; what its inputs are by then counts, too.
    """

    def __init__(self, engine: Engine, schedule: Schedule, units: Sequence[SimulationUnit]) -> None:
        self._engine = engine
        self._inputs: list[tuple[str, Connector, Limits | None]] = []
        rows: list[_WatchRow] = []
        for member, unit in zip(schedule.members, units, strict=True):
            slot = member.input_offset
            for connector in unit.inputs:
                limits = unit.description.ranges.get(connector.name)
                items = connector.enumeration.items.values() if connector.enumeration else ()
                if limits is not None or items:
                    ends = limits or Limits()
                    row = ends.least, ends.most, ends.open_below, ends.open_above
                    for element in range(connector.size):
                        index = f"[{element}]" if connector.shape else ""
                        label = f"{unit.name}.{connector.name}{index}"
                        self._inputs.append((label, connector, limits))
                        rows.append((slot + element, *row, [float(item) for item in items]))
                slot += connector.size
        if rows:
            engine.watch(rows)

    @property
    def notes(self) -> Iterator[str]:
        """Say which inputs were fed something else, when first, and what."""
        for number, time_ns, value in self._engine.beyond if self._inputs else ():
            label, connector, limits = self._inputs[number]
            scalar = replace(connector, shape=(), limits=limits)
            plain: Value = int(value) if scalar.enumeration is not None else value
            if (why := scalar.refusal(plain)) is not None:
                yield (
                    f"input '{label}' is fed what it does not take, first at"
                    f" t = {seconds(time_ns):.9g} s: {why}"
                )


class Assembly(Struct, eq=False):
    """A system that is ready for its first step.

    given, system, notes: As it was given, as it is run, and what was chosen for it, in sentences.
    settings: Completed by the system's own.
    start_ns, stop_ns, outputs: Of the settings, in nanoseconds and by their names.
    schedule, faults, units, engine: Units in order of the schedule.
    fed: What inputs were fed that they do not take.
    end: The end of the run that an event at the start asked for.
    """

    given: System
    system: System
    notes: list[str]
    settings: ExecutionSettings
    start_ns: int
    stop_ns: int | None
    outputs: Sequence[str]
    schedule: Schedule
    faults: tuple[FaultRecord, ...]
    units: list[SimulationUnit]
    engine: Engine
    fed: FedRanges
    end: Outcome | None


def assemble(system: System, options: ExecutionSettings) -> Assembly:
    """Check a system, compile its schedule, make its units and initialise them."""
    given, mode, step_ns = system, options.mode, communication_step_ns(system, options.step)
    every, threads = options.every, options.threads
    if not is_whole(every) or not 1 <= every <= MOST_STEPS:
        raise DescriptionError(f"every: expected a whole number, 1 to 2**62, found {every!r}")
    if threads is not None and threads < 1:
        raise DescriptionError(f"threads: expected >= 1, found {threads!r}")
    system, notes = prepared(given, mode, strict=options.strict)
    start_ns = nanoseconds(options.start, "start time")
    stop_ns = None if options.stop is None else nanoseconds(options.stop, "stop time")
    expect_in_reach({"start time": start_ns, "stop time": stop_ns})
    outputs = recordable(system, options.record)
    schedule = schedule_for(system, options, step_ns, outputs)
    if not schedule.loops:
        notes += unsolved(schedule.loop_delays)
    fixed_ns = None if schedule.varies else schedule.step_ns
    faults = fault_records(options.faults, system, start_ns, stop_ns, fixed_ns)
    if options.realtime is not None and not options.realtime.wine:
        from orchestrator.core.master.run.pacing import expect_no_wine

        expect_no_wine(system, step_ns)
    schedule, units = _make_units(system, schedule, early_return=options.early_return)
    for unit in units:
        notes += value_notes(system.components[unit.name], unit.description.ranges)
    try:
        expect_capabilities(schedule, [unit.description.capabilities for unit in units])
        engine = make_engine(schedule, [unit.native for unit in units], threads)
        end = initialise(schedule, units, engine, start_ns, stop_ns)
        fed = FedRanges(engine, schedule, units)
        verify_rollback(schedule, units, engine.signals, start_ns)
    except BaseException:
        for unit in units:
            unit.terminate()
        raise
    times = start_ns, stop_ns
    return Assembly(
        given, system, notes, options, *times, outputs, schedule, faults, units, engine, fed, end
    )


def _make_units(
    system: System, schedule: Schedule, *, early_return: bool
) -> tuple[Schedule, list[SimulationUnit]]:
    """Instantiate all units and bind their connectors.

    Units with event mode are told when they are made whether they may return early, which the
    abilities of all others decide: so those are made first.
    """
    components = [system.components[member.name] for member in schedule.members]
    made: dict[str, SimulationUnit] = {}
    processes: dict[str, WorkerProcess] = {}
    try:
        for component in components:
            if not component.shares_events:
                made[component.name] = make_unit(component, processes=processes)
        abilities = [
            made[c.name].description.capabilities if c.name in made else capabilities_of(c)
            for c in components
        ]
        schedule = with_abilities(system, schedule, abilities, early_return=early_return)
        early = schedule.events is not None and schedule.events.early_return
        for component in components:
            if component.shares_events:
                made[component.name] = make_unit(component, early_return=early)
        units = [made[member.name] for member in schedule.members]
        for member, unit in zip(schedule.members, units, strict=True):
            unit.bind(
                (*member.inputs, *member.text_inputs), (*member.outputs, *member.text_outputs)
            )
    except BaseException:
        for unit in made.values():
            unit.terminate()
        raise
    return schedule, units
