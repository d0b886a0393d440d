"""Initialisation of the units of a schedule: consistent signals at the start time."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.engine import Engine
from orchestrator.master.schedule import Code, Schedule
from orchestrator.simunits import SimulationUnit


def initialise(
    schedule: Schedule,
    units: Sequence[SimulationUnit],
    engine: Engine,
    start_ns: int,
    stop_ns: int | None,
) -> None:
    """Set the units up and exchange initial values until all are consistent.

    Before the start a delayed signal has the value that it has at the start. The exchange is
    repeated as often as the longest ring of components is long; algebraic loops were refused
    before, so each pass settles at least one more unit.
    """
    for unit in units:
        unit.setup(start_ns, stop_ns)
    signals = engine.signals
    for _ in range(schedule.initial_passes):
        for code, first, count in schedule.operations:
            if code == Code.STEP:
                member, unit = schedule.members[first], units[first]
                unit.set(signals[member.input_offset :][: member.input_size])
                unit.initialise_outputs(start_ns)
                unit.get(signals[member.output_offset :][: member.output_size])
            elif code != Code.PUSH:
                engine.start(start_ns, schedule.step_ns)  # the past is what the signals are now
                engine.lines(code, first, count)
    engine.start(start_ns, schedule.step_ns)
    for unit in units:
        unit.exit_initialisation()
