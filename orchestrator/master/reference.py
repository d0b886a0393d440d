"""A pure-Python executor of a schedule, with the engine's semantics: the oracle of its tests."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orchestrator.coupling import LineStatistics
from orchestrator.master.execution import Execution
from orchestrator.master.past import Past, on_arc
from orchestrator.master.reference_events import EarlyReturnError, ReferenceEvents
from orchestrator.master.reference_loop import RefusedError, solve
from orchestrator.master.reference_step import Chooser
from orchestrator.master.schedule import Beyond, Code, Reading, Schedule

Floats = NDArray[np.float64]
#: States of the units, signals, numbers of samples.
Mark = tuple[list[object], Floats, list[int]]


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
            Past(
                depth,
                reading,
                beyond,
                channels[number] if number >= 0 else None,
                execution.start_ns,
                float(self.signals[slot]),
            )
            for slot, depth, reading, beyond, number in self.plan.histories
        ]
        self.slopes: Floats = np.zeros(self.plan.signals)
        self.time_ns = self.now_ns = execution.start_ns
        self.done = 0
        self.step_ns = self.plan.step_ns
        self.begin = self.signals.copy()
        self.before = self.signals.copy()
        self.last_ns = 0
        self.stretch = 0.0
        self.jacobians: list[list[list[float]] | None] = [None] * len(self.plan.loops)
        self.differenced: set[int] = set()
        self.evaluations = 0
        self.on_grid = True
        self.chooser = Chooser(self)
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
            if self._events is not None:
                taken = self._events.step(self.time_ns, goal_ns)
            else:
                taken = self.chooser.step(self.time_ns, goal_ns)
                self.accept()
            self.time_ns += taken
            self.done += 1
            times.append(self.time_ns)
            rows.append(self.signals.copy())
        return np.array(times), np.array(rows)

    def accept(self) -> None:
        """Let the step just done count."""
        self.before, self.last_ns = self.begin, self.step_ns

    def jump(self) -> None:
        """Take the values after events as those of this moment; see Engine::jump."""
        self.last_ns = 0
        for past, row in zip(self.past, self.plan.histories, strict=True):
            if self.on_grid:
                past.amend(float(self.signals[row[0]]))

    def mark(self) -> Mark:
        """Keep everything that a sweep changes."""
        states = [unit.get_state() for unit in self.units]
        return states, self.signals.copy(), [past.pushed for past in self.past]

    def rewind(self, mark: Mark, but: int = -1) -> None:
        """Go back to a mark, with all units but one if its number is given."""
        states, signals, pushed = mark
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
            later = round_half_away(plan.read_shares[row] * (self.step_ns - plan.step_ns))
            self._read(later, *plan.reads[row])
        elif code is Code.PUSH and not self.on_grid:
            return
        elif code is Code.PUSH:
            value = float(signals[plan.histories[row][0]])
            self.past[row].push(self.now_ns + self.step_ns, value)
        elif code is Code.TEXT:
            source, target = plan.text_copies[row]
            self.texts[target] = self.texts[source]
        elif code is Code.TABULATE:
            slot, first, count = plan.tables[row]
            signals[slot] = dict(plan.table_entries[first : first + count])[int(signals[slot])]
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

    def differentiate(self, first: int, end: int, tangent: Floats) -> None:
        """Let a change of signals go through operations: see tangent.cpp of the engine."""
        for code, begin, count, _, _ in self.plan.operations[first:end]:
            for row in range(begin, begin + count):
                if code == Code.COPY:
                    source, target, factor, _ = self.plan.copies[row]
                    tangent[target] = factor * tangent[source]
                elif code == Code.BLEND:
                    source, target, weight, factor, _ = self.plan.mixes[row]
                    tangent[target] = factor * weight * tangent[source]
                elif code == Code.READ:
                    tangent[self.plan.reads[row][1]] = 0.0
                elif code == Code.TABULATE:
                    tangent[self.plan.tables[row][0]] = 0.0
                elif code in (Code.STEP, Code.SECOND_HALF):
                    member, native = self.plan.members[row], self.units[row].native
                    outputs = np.zeros(member.output_size)
                    native.derivative(tangent[member.input_offset :][: member.input_size], outputs)
                    tangent[member.output_offset :][: member.output_size] = outputs

    def _read(
        self,
        later: int,
        history: int,
        target: int,
        shift: int,
        span: int,
        factor: float,
        offset: float,
    ) -> None:
        past, begin = self.past[history], self.now_ns + shift + later
        if past.reading is Reading.SLERP:
            found = [p.around(begin, self.now_ns) for p in self.past[history : history + 4]]
            share = min(max(found[0].share(begin), 0.0), 1.0)
            turned = on_arc([f.low.value for f in found], [f.high.value for f in found], share)
            self.signals[target : target + 4] = [factor * x + offset for x in turned]
            return
        smoothed = past.beyond is Beyond.SMOOTHED
        value = 0.0 if smoothed else past.read(begin, self.now_ns)
        if smoothed or span:
            end = past.read(begin + span, self.now_ns)
            if smoothed:
                value = past.smooth(self.now_ns, end)
            if span:
                self.slopes[target] = factor * ((end - value) / (float(span) / 1e9))
            else:
                value = 0.5 * (value + end)
        self.signals[target] = factor * value + offset

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
        self._send(row)
        result = unit.do_step(begin, end - begin)
        if result.failed:
            raise RefusedError(f"{unit.name}: {result.reason}")
        reached, early, _, _ = unit.native.reached
        if early and reached != end:
            raise EarlyReturnError(row, reached)
        if code is not Code.FIRST_HALF:
            self._receive(row)

    def _send(self, row: int) -> None:
        member, unit = self.plan.members[row], self.units[row]
        inputs = slice(member.input_offset, member.input_offset + member.input_size)
        unit.set(self.signals[inputs])
        reads = self.plan.reads
        if any(span and inputs.start <= at < inputs.stop for _, at, _, span, _, _ in reads):
            unit.native.set_slopes(self.slopes[inputs])
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


def round_half_away(value: float) -> int:
    """Round as C does it: a half goes away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def run_reference(execution: Execution, steps: int) -> Floats:
    """Step an execution that was just started, without its engine.

    Returns
    -------
    ndarray of shape (steps + 1, signals)
        The whole signal buffer at the start and after every step.
    """
    return Reference(execution).run(steps)[1]
