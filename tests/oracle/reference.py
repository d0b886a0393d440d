"""A pure-Python executor of a schedule, with the engine's semantics: the oracle of its tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from oracle.reference_compensation import compensate
from oracle.reference_events import EarlyReturnError, ReferenceEvents
from oracle.reference_faults import ReferenceFaults
from oracle.reference_history import ReferenceHistory
from oracle.reference_loop import RefusedError, solve
from oracle.reference_reads import read_line
from oracle.reference_step import Chooser
from oracle.reference_waveform import moved

from orchestrator.core.coupling import LineStatistics
from orchestrator.core.master.run.execution import Execution
from orchestrator.core.master.schedule.rows import OperationCode
from orchestrator.core.master.schedule.schedule import Schedule, input_order
from orchestrator.core.system.time import StepLength, end_of_steps

Floats = NDArray[np.float64]
#: States of the units, signals, numbers of samples.
Saved = tuple[list[object], Floats, list[int]]


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
        self.texts = [b""] * self.plan.texts
        for member, unit in zip(self.plan.members, self.units, strict=True):
            if member.text_outputs:
                place = slice(member.text_output_offset, member.text_output_end)
                self.texts[place] = unit.get_texts()
        channels = self.plan.channels
        self.past = [
            ReferenceHistory(
                depth,
                interpolation,
                extrapolation,
                channels[number] if number >= 0 else None,
                execution.start_ns,
                float(self.signals[slot]),
            )
            for slot, depth, interpolation, extrapolation, number in self.plan.histories
        ]
        self.derivatives: Floats = np.zeros((3, self.plan.signals))
        self.time_ns = self.now_ns = execution.start_ns
        self.done = 0
        self.step_ns = self.plan.step_ns
        self.begin = self.signals.copy()
        self.before = self.signals.copy()
        self.last_ns = 0
        self.step_ratio = 0.0
        self.jacobians: list[list[list[float]] | None] = [None] * len(self.plan.loops)
        self.differenced: set[int] = set()
        self.evaluations = 0
        self.on_grid = True
        self.chooser = Chooser(self)
        self._settling = 0
        self.faults = ReferenceFaults(self)
        self.faults.begin()
        events = self.plan.events
        self._events = None if events is None else ReferenceEvents(self, events)

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
            goal = self._goal(goal_ns)
            if self._events is not None:
                taken = self._events.step(self.time_ns, goal)
            else:
                taken = self.chooser.step(self.time_ns, goal)
                self.accept_step()
            self.time_ns += taken
            self.done += 1
            times.append(self.time_ns)
            rows.append(self.signals.copy())
        return np.array(times), np.array(rows)

    def _goal(self, goal_ns: int | None) -> int | None:
        """Return where the next step must end, which may be where a fault begins or ends."""
        if self.plan.varies and self.faults.changes_at(self.time_ns):
            self._settling, self.last_ns = 1, 0
            self.chooser.renew()
        goals = (goal_ns, self.faults.next_change(self.time_ns))
        return min((goal for goal in goals if goal is not None), default=None)

    def accept_step(self) -> None:
        """Let the step just done count."""
        self.before, self.last_ns = self.begin, 0 if self._settling else self.step_ns
        self._settling = 0

    def reset_extrapolation(self) -> None:
        """Take the values after events as those of this moment, as the engine's context."""
        self.last_ns = 0
        for past, row in zip(self.past, self.plan.histories, strict=True):
            if self.on_grid:
                past.amend(float(self.signals[row[0]]))
        for code, first, count, _, _ in self.plan.operations:
            if self.on_grid and code == OperationCode.INJECT_SAMPLE_FAULT:
                for number in range(first, first + count):
                    self.faults.inject_sample_fault(number)

    def save(self) -> Saved:
        """Keep everything that a step changes."""
        states = [unit.get_state() for unit in self.units]
        return states, self.signals.copy(), [past.pushed for past in self.past]

    def restore(self, saved: Saved, but: int = -1) -> None:
        """Go back to what was saved, with all units but one if its number is given."""
        states, signals, pushed = saved
        for number, (unit, state) in enumerate(zip(self.units, states, strict=True)):
            if number != but:
                unit.set_state(state)
        self.signals[:] = signals
        for past, count in zip(self.past, pushed, strict=True):
            past.rewind(count)

    def line_statistics(self) -> dict[str, LineStatistics]:
        """As :meth:`Execution.line_statistics`."""
        watched = self.plan.watched.items()
        return {line: self.past[history].statistics for line, history in watched}

    def steps_ns(self, first: int, end: int) -> int:
        """Return how long the steps ``first`` to ``end - 1`` of the grid are together."""
        step_ns = self.plan.step_ns
        return end_of_steps(end, step_ns) - end_of_steps(first, step_ns)

    def execute_step(self, time_ns: int, step_ns: int) -> None:
        """Do all operations of a step."""
        self.now_ns, self.step_ns = time_ns, step_ns
        self.step_ratio = step_ns / self.last_ns if self.last_ns else 0.0
        self.begin = self.signals.copy()
        self.execute(0, len(self.plan.operations))

    def execute(self, first: int, end: int) -> None:
        """Do the operations ``first`` to ``end - 1``."""
        number = first
        while number < end:
            code, row, count, every, phase = self.plan.operations[number]
            number += 1
            due = self.done % every == phase
            if code == OperationCode.SOLVE:
                if due:
                    solve(self, row, number, number + count)
                number += count
            elif due:
                for one in range(row, row + count):
                    self._do(OperationCode(code), one)

    def _do(self, code: OperationCode, row: int) -> None:
        plan, signals = self.plan, self.signals
        if code is OperationCode.COPY:
            source, target, factor, offset = plan.copies[row]
            signals[target] = factor * signals[source] + offset
        elif code is OperationCode.READ:
            read_line(self, row)
        elif code in (OperationCode.PUSH, OperationCode.PROPOSE, OperationCode.INJECT_SAMPLE_FAULT):
            self._remember(code, row)
        elif code is OperationCode.INJECT_FAULT:
            self.faults.inject(row)
        elif code in (OperationCode.COMPENSATE, OperationCode.CORRECT):
            compensate(self, plan.compensations[row])
        elif code is OperationCode.TEXT:
            source, target = plan.text_copies[row]
            self.texts[target] = self.texts[source]
        elif code is OperationCode.LOOKUP:
            slot, first, count = plan.tables[row]
            signals[slot] = dict(plan.table_entries[first : first + count])[int(signals[slot])]
        elif code in (OperationCode.INTERPOLATE_MEAN, OperationCode.EXTRAPOLATE):
            self._mix(code, *plan.mixes[row])
        else:
            self._step(code, row)

    def _remember(self, code: OperationCode, row: int) -> None:
        end_ns = self.now_ns + self.step_ns
        if code is not OperationCode.PROPOSE and not self.on_grid:
            if code is OperationCode.PUSH:
                self.past[row].take_back(end_ns)
        elif code is OperationCode.INJECT_SAMPLE_FAULT:
            self.faults.inject_sample_fault(row)
        else:
            self.past[row].put(end_ns, float(self.signals[self.plan.histories[row][0]]))

    def _mix(
        self,
        code: OperationCode,
        source: int,
        target: int,
        weight: float,
        factor: float,
        offset: float,
    ) -> None:
        now = self.signals[source]
        if code is OperationCode.INTERPOLATE_MEAN:
            value = moved(self.begin[source], weight * (now - self.begin[source]))
        else:
            value = moved(now, weight * self.step_ratio * (now - self.before[source]))
        self.signals[target] = factor * value + offset

    def _step(self, code: OperationCode, row: int) -> None:
        member, unit = self.plan.members[row], self.units[row]
        middle, end = self.now_ns + self.step_ns // 2, self.now_ns + self.step_ns
        begin = self.now_ns - (member.ticks - 1) * self.step_ns
        if isinstance(self.plan.step_ns, StepLength):
            begin = self.now_ns - self.steps_ns(self.done - member.ticks + 1, self.done)
        if code is OperationCode.FIRST_HALF:
            end = middle
        elif code is OperationCode.SECOND_HALF:
            begin = middle
        if begin == end:
            return  # half of a nanosecond
        self._send(row)
        result = unit.do_step(begin, end - begin)
        if result.failed:
            raise RefusedError(f"{unit.name}: {result.reason}")
        reached, early, _, _ = unit.native.reached
        if early and reached != end:
            raise EarlyReturnError(row, reached)
        if code is not OperationCode.FIRST_HALF:
            self._receive(row)

    def _send(self, row: int) -> None:
        member, unit = self.plan.members[row], self.units[row]
        inputs = slice(member.input_offset, member.input_offset + member.input_size)
        unit.set(self.signals[inputs])
        if order := input_order(self.plan, member):
            given = self.derivatives[:order, inputs].ravel()
            unit.native.set_input_derivatives(given, order)
        if member.text_inputs:
            unit.set_texts(self.texts[member.text_input_offset : member.text_output_offset])

    def _receive(self, row: int) -> None:
        member, unit = self.plan.members[row], self.units[row]
        outputs = self.signals[member.output_offset :][: member.output_size]
        unit.get(outputs)
        if not np.isfinite(outputs).all():
            raise RefusedError(f"{unit.name}: {outputs}")
        if member.text_outputs:
            place = slice(member.text_output_offset, member.text_output_end)
            self.texts[place] = unit.get_texts()


def recorded(execution: Execution) -> dict[str, Floats]:
    """Return what an execution has recorded, by signal."""
    result = execution.recording()
    return {name: result.values[:, i] for i, name in enumerate(result.names)}


def run_reference(execution: Execution, steps: int) -> Floats:
    """Step an execution that was just started, without its engine.

    Returns
    -------
    ndarray of shape (steps + 1, signals)
        The whole signal buffer at the start and after every step.
    """
    return Reference(execution).run(steps)[1]
