"""Initialisation of the units of a schedule: consistent signals at the start time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orchestrator.engine import Engine
from orchestrator.errors import StepError
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
    repeated until it changes nothing; algebraic loops were refused before, so each pass settles
    at least one more unit, and as many passes as there are units suffice.

    Raises
    ------
    StepError
        If a unit fails, or an output is not finite in the end.
    """
    for unit in units:
        unit.setup(start_ns, stop_ns)
    signals = engine.signals
    unread = -1
    for _ in range(schedule.initial_passes):
        before = signals.copy()
        unread = -1
        for code, first, count in schedule.operations:
            if code == Code.STEP:
                member, unit = schedule.members[first], units[first]
                unit.set(signals[member.input_offset :][: member.input_size])
                unit.initialise_outputs(start_ns)
                unit.get(signals[member.output_offset :][: member.output_size])
            elif code != Code.PUSH:
                engine.start(start_ns, schedule.step_ns)  # the past is what the signals are now
                unread = max(unread, engine.lines(code, first, count))
        if np.array_equal(before, signals):
            break
    _expect_sound(schedule, engine, start_ns, unread)
    engine.start(start_ns, schedule.step_ns)
    for unit in units:
        unit.exit_initialisation()


def _expect_sound(schedule: Schedule, engine: Engine, start_ns: int, unread: int) -> None:
    """Refuse signals that are not finite, and a line that could not be read in the last pass."""
    at = f"at the start, t = {start_ns / 1e9:.9g} s"
    if unread >= 0:
        raise StepError(f"input '{schedule.input_of(unread)}' {at}: {engine.unread}")
    for name, (slot, size) in schedule.slots.items():
        if not np.isfinite(engine.signals[slot : slot + size]).all():
            raise StepError(f"'{name}' is not finite (NaN or infinite) {at}")
