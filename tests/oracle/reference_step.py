"""Choice of the step in plain Python: see step_control.cpp and its methods of the engine."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING

from oracle.reference_loop import LoopError

from orchestrator.core.master.plan import StepMethod

if TYPE_CHECKING:
    from oracle.reference import Reference, Saved

_SAFETY, _MOST_SHRINK, _MOST_GROWTH = 0.9, 0.2, 3.0
_REFUSED = 0.25
_ECCO_SAFETY, _PROPORTIONAL, _INTEGRAL = 0.8, 0.2, 0.15


class Chooser:
    """Does one step that counts, as long as the rule of the schedule wants it."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._rule = reference.plan.rule
        self._next = self._rule.first_ns
        if self._rule.method is StepMethod.EMBEDDED:
            self._set_next(self._rule.first_ns / 100.0)
        self._last_error = 1.0
        self._energies = [0.0] * len(self._rule.bonds)
        self.rejected = 0

    def renew(self) -> None:
        """Try the next step no longer than the first; see StepControl::renew of the engine."""
        first: float = self._rule.first_ns
        if self._rule.method is StepMethod.EMBEDDED:
            self._set_next(first / 100.0)
        else:
            self._set_next(min(self._next, first))

    def step(self, time_ns: int, goal_ns: int | None) -> int:
        """Step, and return the length in nanoseconds."""
        if self._rule.method is StepMethod.FIXED:
            done = self._reference.done
            taken = self._reference.steps_ns(done, done + 1)
            self._reference.execute_step(time_ns, taken)
            return taken
        length = self._length(time_ns, goal_ns)
        if self._rule.method is StepMethod.ECCO:
            return self._ecco(time_ns, length)
        saved = self._reference.save()
        while True:
            error = self._attempt(time_ns, length, saved)
            if error <= 1.0:
                self._set_next(length * self._factor(error))
                return length
            self.rejected += 1
            if length <= self._rule.least_ns:
                raise RuntimeError(f"step {length} {error}")
            self._set_next(length * (_REFUSED if error == inf else self._factor(error)))
            length = max(1, min(self._next, length - 1))
            self._reference.restore(saved)

    def _attempt(self, time_ns: int, length: int, saved: Saved) -> float:
        try:
            if self._rule.method is StepMethod.DOUBLING:
                return self._doubled(time_ns, length, saved)
            return self._predicted(time_ns, length)
        except LoopError:
            return inf

    def _length(self, time_ns: int, goal_ns: int | None) -> int:
        if goal_ns is None or goal_ns - time_ns >= 2 * self._next:
            return self._next
        left = goal_ns - time_ns
        return left if left <= self._next else left - left // 2

    def _set_next(self, ns: float) -> None:
        self._next = round(min(max(ns, self._rule.least_ns), self._rule.most_ns))

    def _factor(self, excess: float) -> float:
        found: float = _SAFETY * max(excess, 1e-10) ** (-1.0 / (self._rule.order + 1))
        return min(max(found, _MOST_SHRINK), _MOST_GROWTH)

    def _excess(self, errors: list[float]) -> float:
        signals, rule = self._reference.signals, self._rule
        found: float = max(
            abs(error) / (rule.absolute + rule.relative * abs(float(signals[slot])))
            for error, slot in zip(errors, rule.checked, strict=True)
        )
        return found

    def _doubled(self, time_ns: int, length: int, saved: Saved) -> float:
        reference, checked = self._reference, list(self._rule.checked)
        reference.execute_step(time_ns, length)
        whole = reference.signals[checked].copy()
        reference.restore(saved)
        half = length // 2
        if half:
            reference.execute_step(time_ns, half)
        reference.execute_step(time_ns + half, length - half)
        scale = 2.0**self._rule.order - 1.0
        return self._excess(((reference.signals[checked] - whole) / scale).tolist())

    def _predicted(self, time_ns: int, length: int) -> float:
        reference = self._reference
        reference.execute_step(time_ns, length)
        if not reference.step_ratio:
            return 0.0
        errors = []
        for slot in self._rule.checked:
            begin = reference.begin[slot]
            predicted = begin + reference.step_ratio * (begin - reference.before[slot])
            errors.append(float(reference.signals[slot] - predicted))
        return self._excess(errors)

    def _ecco(self, time_ns: int, length: int) -> int:
        reference, rule = self._reference, self._rule
        reference.execute_step(time_ns, length)
        seconds, total = length / 1e9, 0.0
        for k, (one, other) in enumerate(rule.bonds):
            here = float(reference.begin[other] * reference.signals[one])
            there = float(reference.begin[one] * reference.signals[other])
            residual = (here - there) * seconds
            self._energies[k] += 0.5 * (here + there) * seconds
            allowed = rule.absolute + rule.relative * abs(self._energies[k])
            total += (residual / allowed) * (residual / allowed)
        found = sqrt(total / len(rule.bonds))
        error = max(found, 1e-6) if found < 1e12 else 1e12
        change = (
            _ECCO_SAFETY * error ** (-_INTEGRAL - _PROPORTIONAL) * self._last_error**_PROPORTIONAL
        )
        self._last_error = error
        self._set_next(length * min(max(change, 0.2), 1.5))
        return length
