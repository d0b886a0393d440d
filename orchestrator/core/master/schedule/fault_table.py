"""The rows of a schedule's faults, and where in a step they act.

What is received is disturbed when it has arrived; what is sent, when it enters the line: for a line
with a history that is its newest sample, else the value on its way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from orchestrator.core.coupling import DelayMode, DelayPlan
from orchestrator.core.coupling.delay_plan import TimingOf
from orchestrator.core.master.schedule.schedule import Code, Effect, FaultRow
from orchestrator.core.system import (
    Connection,
    DataType,
    Endpoint,
    Extrapolation,
    Fault,
    FaultKind,
    Interpolation,
    System,
    lines_of,
)

#: Later than any time: a fault without an end.
_NEVER = 2**63 - 1
_EFFECTS = {
    FaultKind.STUCK: Effect.STUCK,
    FaultKind.BIAS: Effect.BIAS,
    FaultKind.DRIFT: Effect.DRIFT,
    FaultKind.SCALE: Effect.SCALE,
    FaultKind.NOISE: Effect.NOISE,
    FaultKind.NAN: Effect.BIAS,  # by what is no number
}
Operation = tuple[int, int, int]  # code, first, count


class FaultTable:
    """Collects the rows while the lines of a schedule are laid out.

    Parameters
    ----------
    system
        Whose connections.
    faults
        Checked, in the order in which they act.
    """

    def __init__(self, system: System, faults: Sequence[Fault]) -> None:
        self.rows: list[FaultRow] = []
        self._system = system
        self._of: dict[Endpoint, list[Fault]] = {}
        for fault in faults:
            for line in lines_of(fault, system):
                self._of.setdefault(line.target, []).append(fault)

    def touches(self, line: Connection) -> bool:
        """Whether any fault acts on a connection."""
        return line.target in self._of

    def delays(self, line: Connection) -> list[Fault]:
        """Faults that change the delay of a connection."""
        return [f for f in self._of.get(line.target, ()) if f.kind is FaultKind.DELAY_STEP]

    def longer_ns(self, line: Connection) -> int:
        """By how much the delay of a connection grows at most, in nanoseconds."""
        declared = line.delay.nominal_ns if line.delay else 0
        return max([0, *(fault.delay_ns - declared for fault in self.delays(line))])

    def late_plan(self, line: Connection, timing_of: TimingOf, mode: DelayMode) -> DelayPlan | None:
        """Plan how a connection without a delay is read while a fault gives it one.

        Exact, its target sees what it would see without the fault, later by the fault's delay:
        whatever the rest of a loop adds stays. Plain, it is read as if the delay were declared.
        """
        if line.delay is not None or not self.delays(line):
            return None
        timing = timing_of(line)
        source = self._system.components[line.source.component]
        real = source.connectors[line.source.connector].type is DataType.REAL
        if mode is DelayMode.PLAIN or not real:
            shift = 0 if mode is DelayMode.PLAIN else timing.newest_ns
            return DelayPlan(line, shift, 0.0, 0, Interpolation.HOLD, Extrapolation.HOLD)
        shift = round(timing.target_ns / 2 - timing.held_ns)
        return DelayPlan(line, shift, 0.0, 0, Interpolation.LINEAR, Extrapolation.HOLD)

    def on_readings(self, line: Connection, reads: Sequence[int]) -> list[Operation]:
        """Add what comes before the readings of a delayed connection: another delay."""
        declared = line.delay.nominal_ns if line.delay else 0
        return self._added(
            Code.INJECT_FAULT,
            [
                _row(fault, Effect.CHANGED_DELAY, read, change_ns=declared - fault.delay_ns)
                for fault in self.delays(line)
                for read in reads
            ],
        )

    def on_copies(
        self, line: Connection, slots: Sequence[int], linear: tuple[float, float]
    ) -> list[Operation]:
        """Add what comes after the values of a connection without a delay were brought."""
        rows = [] if line.delay else self._sent(line, slots, *linear)
        return self._added(Code.INJECT_FAULT, rows)

    def on_late(self, fault: Fault, reads: Sequence[int]) -> list[Operation]:
        """Add readings that a fault puts in the place of what a connection has brought."""
        rows = [_row(fault, Effect.DELAYED_READ, read) for read in reads]
        return self._added(Code.INJECT_FAULT, rows)

    def on_input(self, line: Connection, slots: Sequence[int]) -> list[Operation]:
        """Add what comes last: what does not arrive."""
        rows = [
            _row(fault, Effect.DROP, slot)
            for fault in self._of.get(line.target, ())
            if fault.kind is FaultKind.DROP
            for i, slot in enumerate(slots)
            if fault.touches(i)
        ]
        return self._added(Code.INJECT_FAULT, rows)

    def on_past(self, line: Connection, histories: Sequence[int]) -> list[Operation]:
        """Add what comes after the newest values of a connection are in its histories."""
        return self._added(Code.INJECT_SAMPLE_FAULT, self._sent(line, histories, 1.0, 0.0))

    def _sent(
        self, line: Connection, places: Sequence[int], factor: float, offset: float
    ) -> list[FaultRow]:
        rows = []
        for fault in self._of.get(line.target, ()):
            if fault.kind.is_received:
                continue
            for i, place in enumerate(places):
                if fault.touches(i):
                    amount, key = fault.amount_of(i), _key(fault, line, i)
                    if fault.kind is FaultKind.NAN:
                        amount = math.nan
                    if fault.kind is FaultKind.SCALE:
                        amounts = amount, (1.0 - amount) * offset
                    else:
                        amounts = factor * amount, 0.0
                    rows.append(_row(fault, _EFFECTS[fault.kind], place, *amounts, key=key))
        return rows

    def _added(self, code: Code, rows: list[FaultRow]) -> list[Operation]:
        first = len(self.rows)
        self.rows += rows
        return [(code, first, len(rows))] if rows else []


def _row(
    fault: Fault,
    effect: Effect,
    place: int,
    amount: float = 0.0,
    offset: float = 0.0,
    *,
    change_ns: int = 0,
    key: int = 0,
) -> FaultRow:
    until_ns = _NEVER if fault.until_ns is None else fault.until_ns
    return FaultRow(effect, place, fault.begin_ns, until_ns, amount, offset, change_ns, key)


def _key(fault: Fault, line: Connection, element: int) -> int:
    if fault.kind is not FaultKind.NOISE:
        return 0
    from hashlib import blake2b

    text = f"{fault.seed}\0{line.source}\0{element}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
