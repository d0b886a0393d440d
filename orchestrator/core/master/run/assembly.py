"""Assembly of a run: its system is compiled, its units are made and initialised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

from orchestrator.core.coupling import DelayMode, fault_records, unsolved
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master.run.initialisation import initialise
from orchestrator.core.master.run.recorder import recordable
from orchestrator.core.master.run.run_state import MOST_STEPS, FedRanges, RunState
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
from orchestrator.core.system import (
    System,
    communication_step_ns,
    kept_notes,
    nanoseconds,
    with_starts,
)
from orchestrator.core.system.checks import unit_notes
from orchestrator.core.system.levels import expect_fitting_levels
from orchestrator.core.system.naming import is_whole
from orchestrator.core.system.time import exact_ns
from orchestrator.engine import Engine, Unit

if TYPE_CHECKING:
    from orchestrator.core.simunits import WorkerProcess


#: More than any machine that Softdock runs on has processors.
_MOST_THREADS = 1024


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
        fraction = exact_ns(schedule.step_ns) - int(schedule.step_ns)
        engine.set_rest(fraction.numerator, fraction.denominator)
    if schedule.texts:
        offsets = [(m.text_input_offset, m.text_output_offset) for m in schedule.members]
        engine.set_texts(schedule.texts, schedule.text_copies, offsets)
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
    resolved = resolve(system)
    flat, starts = with_starts(resolved.flat())
    closed = flat.closed()
    if mode is DelayMode.PLAIN:
        closed = closed.without_zero_delays()  # nothing to take a step's own delay off
    parted, isolated = isolate(closed.check(algebraic_loops=True))
    expect_fitting_levels(resolved)
    prepared, windows = under_wine(parted)
    units = unit_notes(prepared.components.values())
    return prepared, [*flaw_notes(prepared), *units, *kept_notes(starts), *isolated, *windows]


def assemble(system: System, options: ExecutionSettings) -> RunState:
    """Check a system, compile its schedule, make its units and initialise them."""
    original, mode, step_ns = system, options.mode, communication_step_ns(system, options.step)
    every, threads = options.every, options.threads
    if not is_whole(every) or not 1 <= every <= MOST_STEPS:
        raise DescriptionError(f"every: expected a whole number, 1 to 2**62, found {every!r}")
    if threads is not None and not (is_whole(threads) and 1 <= threads <= _MOST_THREADS):
        raise DescriptionError(
            f"threads: expected a whole number, 1 to {_MOST_THREADS}, found {threads!r}"
        )
    system, notes = prepared(original, mode, strict=options.strict)
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
    for component in system.components.values():
        notes += value_notes(component)
    schedule, units = _make_units(system, schedule, early_return=options.early_return)
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
    return RunState(
        original, system, notes, options, *times, outputs, schedule, faults, units, engine, fed, end
    )


def _make_units(
    system: System, schedule: Schedule, *, early_return: bool
) -> tuple[Schedule, list[SimulationUnit]]:
    """Instantiate all units and bind their connectors.

    Units with event mode learn when they are created whether they may return early, which the
    abilities of all others decide: so those are made first.
    """
    components = [system.components[member.name] for member in schedule.members]
    made_units: dict[str, SimulationUnit] = {}
    processes: dict[str, WorkerProcess] = {}
    try:
        for component in components:
            if not component.shares_events:
                made_units[component.name] = make_unit(component, processes=processes)
        abilities = [
            made_units[c.name].description.capabilities
            if c.name in made_units
            else capabilities_of(c)
            for c in components
        ]
        schedule = with_abilities(system, schedule, abilities, early_return=early_return)
        returns_early = schedule.events is not None and schedule.events.early_return
        for component in components:
            if component.shares_events:
                made_units[component.name] = make_unit(component, early_return=returns_early)
        units = [made_units[member.name] for member in schedule.members]
        for member, unit in zip(schedule.members, units, strict=True):
            unit.bind(
                (*member.inputs, *member.text_inputs), (*member.outputs, *member.text_outputs)
            )
    except BaseException:
        for unit in made_units.values():
            unit.terminate()
        raise
    return schedule, units
