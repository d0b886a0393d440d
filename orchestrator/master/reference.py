"""A pure-Python executor of a schedule, with the engine's semantics: the oracle of its tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.master.execution import Execution
from orchestrator.master.schedule import Code, Reading, Schedule


class _Past:
    """Every sample of one delayed signal, by step number."""

    def __init__(self, reading: int, step_ns: int, first: float) -> None:
        self.reading = reading
        self.step_ns = step_ns
        self.samples = [first]

    def read(self, elapsed_ns: int) -> float:
        """Value at a time since the start; see History::read of the engine."""
        newest = len(self.samples) - 1
        if elapsed_ns < 0 or newest == 0:
            return self.samples[0]
        index, rest = divmod(elapsed_ns, self.step_ns)
        if self.reading == Reading.HOLD:
            return self.samples[min(index, newest)]
        if index > newest - 1:
            index, rest = newest - 1, elapsed_ns - (newest - 1) * self.step_ns
        low, high = self.samples[index], self.samples[index + 1]
        return low + rest / self.step_ns * (high - low)


def run_reference(execution: Execution, steps: int) -> NDArray[np.float64]:
    """Step an execution that was just started, without its engine.

    Returns
    -------
    ndarray of shape (steps + 1, signals)
        The whole signal buffer at the start and after every step.
    """
    plan: Schedule = execution.schedule
    signals = np.zeros(plan.signals)
    for name, (slot, size) in plan.slots.items():
        signals[slot : slot + size] = np.ravel(execution.get(name))
    texts = [b""] * plan.texts
    for member, unit in zip(plan.members, execution.units, strict=True):
        if member.text_outputs:
            texts[member.text_output_offset : member.text_output_end] = unit.get_texts()
    past = [_Past(reading, plan.step_ns, signals[slot]) for slot, _, reading in plan.histories]
    rows = [signals.copy()]
    for number in range(steps):
        elapsed = number * plan.step_ns
        for code, first, count in plan.operations:
            for row in range(first, first + count):
                _execute(execution, Code(code), row, signals, texts, past, elapsed)
        rows.append(signals.copy())
    return np.array(rows)


def _execute(
    execution: Execution,
    code: Code,
    row: int,
    signals: NDArray[np.float64],
    texts: list[bytes],
    past: list[_Past],
    elapsed_ns: int,
) -> None:
    plan = execution.schedule
    if code is Code.COPY:
        source, target, factor, offset = plan.copies[row]
        signals[target] = factor * signals[source] + offset
    elif code is Code.READ:
        history, target, shift, factor, offset = plan.reads[row]
        signals[target] = factor * past[history].read(elapsed_ns + shift) + offset
    elif code is Code.PUSH:
        past[row].samples.append(float(signals[plan.histories[row][0]]))
    elif code is Code.TEXT:
        source, target = plan.text_copies[row]
        texts[target] = texts[source]
    else:
        member, unit = plan.members[row], execution.units[row]
        unit.set(signals[member.input_offset :][: member.input_size])
        if member.text_inputs:
            unit.set_texts(texts[member.text_input_offset : member.text_output_offset])
        result = unit.do_step(execution.start_ns + elapsed_ns, plan.step_ns)
        if result.failed:
            raise RuntimeError(f"{unit.name}: {result.reason}")
        unit.get(signals[member.output_offset :][: member.output_size])
        if member.text_outputs:
            texts[member.text_output_offset : member.text_output_end] = unit.get_texts()
