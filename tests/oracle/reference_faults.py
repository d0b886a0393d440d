"""Faults in plain Python: see core/fault.cpp and exchange.cpp of the engine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oracle.reference_draws import normal_draw
from oracle.reference_reads import read_line

from orchestrator.core.master.schedule.rows import Effect, FaultRow, OperationCode

if TYPE_CHECKING:
    from oracle.reference import Reference


class ReferenceFaults:
    """All faults of a schedule, with what they remember."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._rows = reference.plan.faults
        self._held = [0.0] * len(self._rows)
        self._held_at = [math.inf] * len(self._rows)
        #: By how much later a reading is made in the exchange at hand.
        self.delay_changes: dict[int, int] = {}

    def begin(self) -> None:
        """Take the initialised signals for what comes before the first step."""
        signals, now = self._reference.signals, self._reference.time_ns
        for code, first, count, _, _ in self._reference.plan.operations:
            for number in range(first, first + count):
                if code == OperationCode.INJECT_FAULT and self._rows[number].effect is Effect.DROP:
                    self._held[number] = float(signals[self._rows[number].place])
                elif code == OperationCode.INJECT_SAMPLE_FAULT:
                    past = self._reference.past[self._rows[number].place]
                    past.begin(self._apply(number, past.newest.value, now))

    def inject(self, number: int) -> None:
        """Let a fault act on an input or a reading."""
        reference, row = self._reference, self._rows[number]
        if row.effect is Effect.CHANGED_DELAY:
            if _acts(row, reference.now_ns):
                self.delay_changes[row.place] = row.change_ns
        elif row.effect is Effect.DELAYED_READ:
            if _acts(row, reference.now_ns):
                read_line(reference, row.place)
        else:
            value = float(reference.signals[row.place])
            reference.signals[row.place] = self._apply(number, value, reference.now_ns)

    def inject_sample_fault(self, number: int) -> None:
        """Let a fault act on the newest sample of a history."""
        past = self._reference.past[self._rows[number].place]
        newest = past.newest
        past.amend(self._apply(number, newest.value, newest.time_ns))

    def gain(self, number: int) -> tuple[int, float]:
        """Slot on which a fault acts, and by how much its value then changes with itself."""
        row, now = self._rows[number], self._reference.now_ns
        place = row.place
        if row.effect is Effect.DELAYED_READ:
            place = self._reference.plan.reads[row.place][1]
        if not _acts(row, now):
            return place, 1.0
        if row.effect in (Effect.DROP, Effect.DELAYED_READ):
            return place, 0.0
        if row.effect is Effect.STUCK:
            return place, 0.0 if row.begin_ns <= self._held_at[number] < now else 1.0
        return place, row.amount if row.effect is Effect.SCALE else 1.0

    def next_change(self, time_ns: int) -> int | None:
        """Return the first time after this one at which a fault begins or ends."""
        times = (time for row in self._rows for time in (row.begin_ns, row.until_ns))
        return min((time for time in times if time > time_ns), default=None)

    def changes_at(self, time_ns: int) -> bool:
        """Whether a fault begins or ends at a time."""
        return any(time_ns in (row.begin_ns, row.until_ns) for row in self._rows)

    def _apply(self, number: int, value: float, time_ns: int) -> float:
        row = self._rows[number]
        acts = _acts(row, time_ns)
        if row.effect is Effect.DROP:
            if not acts:
                self._held[number] = value
            return self._held[number]
        if acts and row.effect is Effect.STUCK:
            if not row.begin_ns <= self._held_at[number] < time_ns:
                self._held[number], self._held_at[number] = value, time_ns
            return self._held[number]
        return _changed(row, value, time_ns) if acts else value


def _changed(row: FaultRow, value: float, time_ns: int) -> float:
    """Return what a fault that remembers nothing makes of a value."""
    match row.effect:
        case Effect.SCALE:
            return row.amount * value + row.offset
        case Effect.DRIFT:
            return value + row.amount * ((time_ns - row.begin_ns) / 1e9)
        case Effect.NOISE:
            return value + row.amount * normal_draw(row.key, time_ns)
    return value + row.amount


def _acts(row: FaultRow, time_ns: int) -> bool:
    return row.begin_ns <= time_ns < row.until_ns
