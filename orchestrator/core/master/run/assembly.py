"""What a run is made of: a system with its tables, its units and the engine, initialised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from orchestrator.core.coupling import DelayMode, FaultRecord, fault_records, unsolved
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master.run.initialisation import initialise, make_units
from orchestrator.core.master.run.recorder import recordable
from orchestrator.core.master.run.run_loop import MOST_STEPS
from orchestrator.core.master.run.step_failure import expect_capabilities, verify_rollback
from orchestrator.core.master.schedule.compile import compile_schedule, expect_in_reach
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.master.settings import ExecutionSettings
from orchestrator.core.simunits import SimulationUnit, expect_flawless, flaw_notes, isolate, resolve
from orchestrator.core.system import (
    System,
    communication_step_ns,
    kept_notes,
    nanoseconds,
    with_starts,
)
from orchestrator.core.system.time import exact_ns
from orchestrator.engine import Engine, Outcome


def make_engine(schedule: Schedule, units: Sequence[SimulationUnit], threads: int | None) -> Engine:
    """Make the engine that executes a schedule."""
    members = [
        (unit.native, member.input_offset, member.output_offset, member.ticks)
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
    rest = exact_ns(schedule.step_ns) - int(schedule.step_ns)
    if not schedule.varies:
        engine.set_rest(rest.numerator, rest.denominator)
    events = schedule.events
    if schedule.texts:
        places = [(m.text_input_offset, m.text_output_offset) for m in schedule.members]
        engine.set_texts(schedule.texts, schedule.text_copies, places)
    if schedule.tables:
        engine.set_value_tables(schedule.tables, schedule.table_entries)
    if events is not None:
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
    prepared, isolated = isolate(closed.check(algebraic_loops=True))
    return prepared, [*flaw_notes(prepared), *kept_notes(kept), *isolated]


def _expect_counts(settings: ExecutionSettings) -> None:
    every, threads = settings.every, settings.threads
    if isinstance(every, bool) or not isinstance(every, int) or not 1 <= every <= MOST_STEPS:
        raise DescriptionError(f"every: expected a whole number, 1 to 2**62, found {every!r}")
    if threads is not None and threads < 1:
        raise DescriptionError(f"threads: expected >= 1, found {threads!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """A system that is ready for its first step.

    given, system, notes: As it was given, as it is run, and what was chosen for it, in sentences.
    settings: Completed by the system's own.
    start_ns, stop_ns, outputs: Of the settings, in nanoseconds and by their names.
    schedule, faults, units, engine: Units in order of the schedule.
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
    end: Outcome | None

    @property
    def facts(self) -> dict[str, str]:
        """What the run is made from, for comparing checkpoints."""
        from orchestrator.core.master.run.checkpoint import facts

        times, chosen = (self.start_ns, self.stop_ns), self.settings
        options = sorted(chosen.algorithm_options.items())
        text = ", ".join(f"{key} = {value!r}" for key, value in options)
        text = text if chosen.early_return else f"{text}; no early return"
        made = times, self.outputs, chosen.every, text, tuple(chosen.faults)
        return facts(self.system, self.schedule, self.units, *made)


def assemble(system: System, options: ExecutionSettings) -> Assembly:
    """Check a system, compile its schedule, make its units and initialise them."""
    given, mode, step_ns = system, options.mode, communication_step_ns(system, options.step)
    _expect_counts(options)
    system, notes = prepared(given, mode, strict=options.strict)
    start_ns = nanoseconds(options.start, "start time")
    stop_ns = None if options.stop is None else nanoseconds(options.stop, "stop time")
    expect_in_reach({"start time": start_ns, "stop time": stop_ns})
    outputs = recordable(system, options.record)
    schedule = compile_schedule(
        system,
        options.algorithm,
        step_ns,
        mode,
        outputs,
        options.algorithm_options,
        options.rates,
        options.faults,
    )
    if not schedule.loops:
        notes += unsolved(schedule.loop_delays)
    fixed_ns = None if schedule.varies else schedule.step_ns
    faults = fault_records(options.faults, system, start_ns, stop_ns, fixed_ns)
    schedule, units = make_units(system, schedule, early_return=options.early_return)
    try:
        expect_capabilities(schedule, [unit.description.capabilities for unit in units])
        engine = make_engine(schedule, units, options.threads)
        end = initialise(schedule, units, engine, start_ns, stop_ns)
        verify_rollback(schedule, units, engine.signals, start_ns)
    except BaseException:
        for unit in units:
            unit.terminate()
        raise
    times = start_ns, stop_ns
    return Assembly(
        given, system, notes, options, *times, outputs, schedule, faults, units, engine, end
    )
