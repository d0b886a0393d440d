"""Initialisation of the units of a schedule: consistent signals at the start time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orchestrator.engine import Engine
from orchestrator.errors import StepError
from orchestrator.master.schedule import Code, Member, Schedule
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
    for _ in range(schedule.initial_passes):
        before, texts_before = signals.copy(), engine.texts
        for code, first, count in schedule.operations:
            if code == Code.STEP:
                _evaluate(units[first], schedule.members[first], engine, start_ns)
            elif code != Code.PUSH:
                engine.start(start_ns, schedule.step_ns)  # the past is what the signals are now
                engine.lines(code, first, count)
        if np.array_equal(before, signals) and engine.texts == texts_before:
            break
    for name, (slot, size) in schedule.slots.items():
        if not np.isfinite(signals[slot : slot + size]).all():
            raise StepError(
                f"'{name}' is not finite (NaN or infinite) at the start, t = {start_ns / 1e9:.9g} s"
            )
    engine.start(start_ns, schedule.step_ns)
    for unit in units:
        unit.exit_initialisation()


def _evaluate(unit: SimulationUnit, member: Member, engine: Engine, start_ns: int) -> None:
    """Let the outputs of a unit follow its inputs at the start."""
    signals = engine.signals
    unit.set(signals[member.input_offset :][: member.input_size])
    if member.text_inputs:
        unit.set_texts(engine.texts[member.text_input_offset : member.text_output_offset])
    unit.initialise_outputs(start_ns)
    unit.get(signals[member.output_offset :][: member.output_size])
    if member.text_outputs:
        engine.put_texts(member.text_output_offset, unit.get_texts())
