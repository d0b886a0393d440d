"""A pure-Python executor of a schedule, with the engine's semantics: the oracle of its tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.coupling import LineStatistics
from orchestrator.master.execution import Execution
from orchestrator.master.past import Past, on_arc
from orchestrator.master.schedule import Beyond, Code, Reading, Schedule


class Reference:
    """Steps an execution that was just started, without its engine.

    Parameters
    ----------
    execution
        Whose schedule and units are used up by this.
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self.schedule: Schedule = execution.schedule
        self._signals = np.zeros(self.schedule.signals)
        self._slopes = np.zeros(self.schedule.signals)
        self._now_ns = execution.start_ns
        for name, (slot, size) in self.schedule.slots.items():
            self._signals[slot : slot + size] = np.ravel(execution.get(name))
        channels = self.schedule.channels
        self._pasts = [
            Past(
                depth,
                reading,
                beyond,
                channels[number] if number >= 0 else None,
                self._now_ns,
                float(self._signals[slot]),
            )
            for slot, depth, reading, beyond, number in self.schedule.histories
        ]

    def run(self, steps: int) -> NDArray[np.float64]:
        """Do some steps.

        Returns
        -------
        ndarray of shape (steps + 1, signals)
            The whole signal buffer before and after every step.
        """
        rows = [self._signals.copy()]
        for _ in range(steps):
            for code, first, count in self.schedule.operations:
                for row in range(first, first + count):
                    self._execute(Code(code), row)
            self._now_ns += self.schedule.step_ns
            rows.append(self._signals.copy())
        return np.array(rows)

    def line_statistics(self) -> dict[str, LineStatistics]:
        """As :meth:`Execution.line_statistics`."""
        watched = self.schedule.watched.items()
        return {line: self._pasts[history].statistics for line, history in watched}

    def _execute(self, code: Code, row: int) -> None:
        plan = self.schedule
        if code is Code.COPY:
            source, target, factor, offset = plan.copies[row]
            self._signals[target] = factor * self._signals[source] + offset
        elif code is Code.READ:
            self._read(*plan.reads[row])
        elif code is Code.PUSH:
            value = float(self._signals[plan.histories[row][0]])
            self._pasts[row].push(self._now_ns + plan.step_ns, value)
        else:
            self._step(row)

    def _read(
        self, history: int, target: int, shift: int, span: int, factor: float, offset: float
    ) -> None:
        past, begin = self._pasts[history], self._now_ns + shift
        if past.reading is Reading.SLERP:
            found = [p.around(begin, self._now_ns) for p in self._pasts[history : history + 4]]
            share = min(max(found[0].share(begin), 0.0), 1.0)
            turned = on_arc([f.low.value for f in found], [f.high.value for f in found], share)
            self._signals[target : target + 4] = [factor * x + offset for x in turned]
            return
        smoothed = past.beyond is Beyond.SMOOTHED
        value = past.ended if smoothed else past.read(begin, self._now_ns)
        if smoothed or span:
            end = past.read(begin + span, self._now_ns)
            if span:
                self._slopes[target] = factor * ((end - value) / (float(span) / 1e9))
            past.ended = end
            if not span:
                value = 0.5 * (value + end)
        self._signals[target] = factor * value + offset

    def _step(self, row: int) -> None:
        plan = self.schedule
        member, unit = plan.members[row], self._execution.units[row]
        inputs = slice(member.input_offset, member.input_offset + member.input_size)
        unit.set(self._signals[inputs])
        if any(span and inputs.start <= at < inputs.stop for _, at, _, span, _, _ in plan.reads):
            unit.native.set_slopes(self._slopes[inputs])
        result = unit.do_step(self._now_ns, plan.step_ns)
        if result.failed:
            raise RuntimeError(f"{unit.name}: {result.reason}")
        unit.get(self._signals[member.output_offset :][: member.output_size])


def run_reference(execution: Execution, steps: int) -> NDArray[np.float64]:
    """Step an execution that was just started, without its engine: see :meth:`Reference.run`."""
    return Reference(execution).run(steps)
