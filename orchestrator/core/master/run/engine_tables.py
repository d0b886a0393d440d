"""Make the engine of a schedule from its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system.step_length import exact_ns
from orchestrator.engine import Engine


def make_engine(schedule: Schedule, units: Sequence[SimulationUnit], threads: int | None) -> Engine:
    """Make the engine that executes a schedule.

    Parameters
    ----------
    schedule, units
        What is executed, and the units in order of its members.
    threads
        Most threads; ``None``: as many as there are processors.
    """
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
