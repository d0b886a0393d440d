"""A pure-Python executor of a schedule, with the engine's semantics: the oracle of its tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.master.execution import Execution
from orchestrator.master.reference_loop import RefusedError, solve
from orchestrator.master.reference_step import Chooser
from orchestrator.master.schedule import Code, Reading, Schedule

Floats = NDArray[np.float64]


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


class Reference:
    """Executes the schedule of an execution that was just started, without its engine.

    Parameters
    ----------
    execution
        Whose units are stepped; its own engine must not be used any more.
    """

    def __init__(self, execution: Execution) -> None:
        self.units = execution.units
        self.plan: Schedule = execution.schedule
        self.signals: Floats = np.zeros(self.plan.signals)
        for name, (slot, size) in self.plan.slots.items():
            self.signals[slot : slot + size] = np.ravel(execution.get(name))
        self.past = [
            _Past(reading, self.plan.step_ns, self.signals[slot])
            for slot, _, reading in self.plan.histories
        ]
        self.start_ns = self.time_ns = self.now_ns = execution.start_ns
        self.done = 0
        self.step_ns = self.plan.step_ns
        self.begin = self.signals.copy()
        self.before = self.signals.copy()
        self.last_ns = 0
        self.stretch = 0.0
        self.jacobians: list[list[list[float]] | None] = [None] * len(self.plan.loops)
        self.evaluations = 0
        self._chooser = Chooser(self)

    def run(self, steps: int, goal_ns: int | None = None) -> tuple[NDArray[np.int64], Floats]:
        """Do some steps, no further than a goal.

        Returns
        -------
        times_ns
            int64 array of shape (steps + 1,).
        rows
            float64 array of shape (steps + 1, signals): the buffer at the start and after each.
        """
        times, rows = [self.time_ns], [self.signals.copy()]
        for _ in range(steps):
            if self.plan.varies and goal_ns is not None and self.time_ns >= goal_ns:
                break
            taken = self._chooser.step(self.time_ns, goal_ns)
            self.before, self.last_ns = self.begin, self.step_ns
            self.time_ns += taken
            self.done += 1
            times.append(self.time_ns)
            rows.append(self.signals.copy())
        return np.array(times), np.array(rows)

    def sweep(self, time_ns: int, step_ns: int) -> None:
        """Do all operations of a step."""
        self.now_ns, self.step_ns = time_ns, step_ns
        self.stretch = step_ns / self.last_ns if self.last_ns else 0.0
        self.begin = self.signals.copy()
        self.execute(0, len(self.plan.operations))

    def execute(self, first: int, end: int) -> None:
        """Do the operations ``first`` to ``end - 1``."""
        number = first
        while number < end:
            code, row, count, every, phase = self.plan.operations[number]
            number += 1
            due = self.done % every == phase
            if code == Code.SOLVE:
                if due:
                    solve(self, row, number, number + count)
                number += count
            elif due:
                for one in range(row, row + count):
                    self._do(Code(code), one)

    def _do(self, code: Code, row: int) -> None:
        plan, signals = self.plan, self.signals
        if code is Code.COPY:
            source, target, factor, offset = plan.copies[row]
            signals[target] = factor * signals[source] + offset
        elif code is Code.READ:
            history, target, shift, factor, offset = plan.reads[row]
            elapsed = self.now_ns - self.start_ns
            signals[target] = factor * self.past[history].read(elapsed + shift) + offset
        elif code is Code.PUSH:
            self.past[row].samples.append(float(signals[plan.histories[row][0]]))
        elif code in (Code.BLEND, Code.EXTEND):
            source, target, weight, factor, offset = plan.mixes[row]
            now = signals[source]
            if code is Code.BLEND:
                value = self.begin[source] + weight * (now - self.begin[source])
            else:
                value = now + weight * self.stretch * (now - self.before[source])
            signals[target] = factor * value + offset
        else:
            self._step(code, row)

    def _step(self, code: Code, row: int) -> None:
        member, unit = self.plan.members[row], self.units[row]
        middle, end = self.now_ns + self.step_ns // 2, self.now_ns + self.step_ns
        begin = self.now_ns - (member.ticks - 1) * self.step_ns
        if code is Code.FIRST_HALF:
            end = middle
        elif code is Code.SECOND_HALF:
            begin = middle
        if begin == end:
            return  # half of a nanosecond
        unit.set(self.signals[member.input_offset :][: member.input_size])
        result = unit.do_step(begin, end - begin)
        if result.failed:
            raise RefusedError(f"{unit.name}: {result.reason}")
        if code is Code.FIRST_HALF:
            return
        outputs = self.signals[member.output_offset :][: member.output_size]
        unit.get(outputs)
        if not np.isfinite(outputs).all():
            raise RefusedError(f"{unit.name}: {outputs}")


def run_reference(execution: Execution, steps: int) -> Floats:
    """Step an execution that was just started, without its engine.

    Returns
    -------
    ndarray of shape (steps + 1, signals)
        The whole signal buffer at the start and after every step.
    """
    return Reference(execution).run(steps)[1]
