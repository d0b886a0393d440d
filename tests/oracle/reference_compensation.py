"""Compensated inputs in plain Python: see compensation.cpp of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from oracle.reference_waveform import moved

from orchestrator.core.master.schedule.rows import CompensationMethod, CompensationRow
from orchestrator.core.system.time import StepLength

if TYPE_CHECKING:
    from oracle.reference import Reference


def compensate(reference: Reference, row: CompensationRow) -> None:
    """Correct one input after its line has brought a value, or outputs after the step."""
    rounded = 1 if isinstance(reference.plan.step_ns, StepLength) else 0
    steady = abs(reference.last_ns - reference.step_ns) <= rounded
    if row.method is CompensationMethod.ENERGY_INTEGRAL:
        _make_up_integral(reference, row, steady=steady)
    elif row.method is CompensationMethod.RESIDUAL_ENERGY:
        _take_back_energy(reference, row, steady=steady)
    else:
        _correct_outputs(reference, row)


def _make_up_integral(reference: Reference, row: CompensationRow, *, steady: bool) -> None:
    signals = reference.signals
    missing, held, *past = (float(x) for x in signals[row.memory : row.memory + 5])
    now = row.factor * float(reference.begin[row.source]) + row.offset
    if steady:
        missing = missing + (_mean(row.order, now, past) - held)
    else:
        missing = 0.0
        past = [now, now, now]
    signals[row.target] = moved(float(signals[row.target]), missing)
    slope = float(reference.derivatives[0, row.target])
    held = float(signals[row.target]) + 0.5 * slope * (float(reference.step_ns) / 1e9)
    signals[row.memory : row.memory + 5] = missing, held, now, past[0], past[1]


def _mean(order: int, now: float, past: list[float]) -> float:
    if order == 0:
        return (now + past[0]) / 2.0
    if order == 1:
        return (5.0 * now + 8.0 * past[0] - past[1]) / 12.0
    return (9.0 * now + 19.0 * past[0] - 5.0 * past[1] + past[2]) / 24.0


def _take_back_energy(reference: Reference, row: CompensationRow, *, steady: bool) -> None:
    signals, begin, before = reference.signals, reference.begin, reference.before
    if not steady:
        signals[row.memory] = 0.0
        return
    seconds = float(reference.step_ns) / 1e9
    given, given_before = row.factor * begin[row.source], row.factor * before[row.source]
    taken = begin[row.answer]
    here = begin[row.target] * ((before[row.answer] + taken) / 2.0)
    there = ((given_before + given) / 2.0) * (begin[row.answered] / row.answer_factor)
    energy = signals[row.memory] = signals[row.memory] + (here - there) * seconds
    most = abs(given - given_before)
    work = taken * seconds
    if work != 0.0:
        change = min(max(-energy / work, -most), most)
        signals[row.target] = moved(float(signals[row.target]), change)


def _correct_outputs(reference: Reference, row: CompensationRow) -> None:
    """Correct what an input acts on at once: see output_correction.cpp."""
    signals, member = reference.signals, reference.plan.members[row.answer]
    sloped = any(span and target == row.target for _, target, _, span, *_ in reference.plan.reads)
    slope = float(reference.derivatives[0, row.target]) if sloped else 0.0
    held = float(signals[row.target]) + float(reference.step_ns) / 1e9 * slope
    change = np.zeros(member.input_size)
    change[row.target - member.input_offset] = (
        row.factor * float(signals[row.source]) + row.offset
    ) - held
    outputs = np.zeros(member.output_size)
    reference.units[row.answer].native.derivative(change, outputs)
    place = slice(member.output_offset, member.output_offset + member.output_size)
    signals[place] = np.where(outputs == 0.0, signals[place], signals[place] + outputs)
    for past, (slot, *_) in zip(reference.past, reference.plan.histories, strict=True):
        if place.start <= slot < place.stop:
            past.amend(float(signals[slot]))
