"""Rows of the schedule for compensated connections, faults, and steps of chosen length.

A fault disturbs what is received when it has arrived; what is sent, when it enters the line:
for a line with a history that is its newest sample, else the value on its way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from orchestrator.core.coupling import DelayMode, DelayPlan, Timing
from orchestrator.core.coupling.delay_plan import TimingOf
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.plan import Plan, StepMethod, stepping_order
from orchestrator.core.master.schedule.rows import (
    CompensationMethod,
    CompensationRow,
    Effect,
    FaultRow,
    OperationCode,
)
from orchestrator.core.master.schedule.schedule import (
    NO_OFFSET,
    Buffer,
    RuleTable,
    connector_at,
    linear_of,
)
from orchestrator.core.system import (
    REACH_NS,
    Compensation,
    Connection,
    DataType,
    Endpoint,
    Extrapolation,
    Fault,
    FaultKind,
    Interpolation,
    LinearTransformation,
    System,
    is_power,
    lines_of,
)


def rule_table(
    system: System,
    plan: Plan,
    buffer: Buffer,
    step_ns: int,
    timing_of: Callable[[Connection], Timing],
) -> RuleTable:
    """Make the engine's table of a plan's control.

    A step that may be as long as 100 times the first is yet no longer than the shortest delay of
    what is not sampled at its end: a signal that has to be read ahead of its newest sample is not
    seen by the estimate of the error, and jumps as soon as it is known.
    """
    control = plan.step_size_control
    if control is None:
        return RuleTable(StepMethod.FIXED, 0.0, 1.0, 1, step_ns, step_ns, step_ns)
    most_ns = min(100 * step_ns if control.most_ns is None else control.most_ns, REACH_NS)
    if control.most_ns is None and control.least_ns > most_ns:
        most_ns = control.least_ns  # the message then names what was given
    if not control.least_ns <= step_ns <= most_ns:
        raise CapabilityError(
            f"communication step of {step_ns / 1e6:g} ms, the first one: expected between the"
            f" shortest of {control.least_ns / 1e6:g} ms and the longest of {most_ns / 1e6:g} ms"
        )
    if control.most_ns is None:
        checked_names = [
            line.delay.nominal_ns
            for line in system.connections
            if line.delay
            and line.delay.nominal_ns >= control.least_ns
            and timing_of(line).newest_ns < timing_of(line).target_ns
        ]
        most_ns = min(most_ns, *checked_names) if checked_names else most_ns
    checked = sorted(
        {
            slot
            for line in system.connections
            if connector_at(system, line.source).type is DataType.REAL
            for slot in _span(buffer, line)
        }
    )
    bonds: list[tuple[int, int]] = []
    if control.method is StepMethod.ECCO:
        for first, second in power_bonds(system):
            bonds += zip(_span(buffer, first), _span(buffer, second), strict=True)
        if not bonds:
            raise CapabilityError(
                f"system '{system.name}' has no power bond: two undelayed opposite connections"
                " between the same two components, the product of whose units is a power, such as"
                " N and m/s; declare the units or power ports, or choose another algorithm"
            )
    how = control.method, control.relative, control.absolute, control.order
    bounds = control.least_ns, most_ns, min(step_ns, most_ns)
    return RuleTable(*how, *bounds, tuple(checked), tuple(bonds))


def power_bonds(system: System) -> list[tuple[Connection, Connection]]:
    """Find the pairs of opposite connections whose product is a power.

    Where power ports are declared at both ends of connections, these are the bonds, and no others:
    an effort and its flow, undelayed, without a transformation but a change of sign. Otherwise an
    undelayed connection from a component to another, and one back, of the same shape, the product
    of whose source units is a power. Connections with a linear transformation of their own do not
    count then, since their two ends carry different values.
    """
    undelayed = [c for c in system.connections if c.delay is None]
    declared = _declared_bonds(system, undelayed)
    if declared:
        return declared
    lines = [c for c in undelayed if c.transformation is None]
    return [
        (first, second)
        for first, second in combinations(lines, 2)
        if first.source.component == second.target.component
        and first.target.component == second.source.component
        and connector_at(system, first.source).shape == connector_at(system, second.source).shape
        and is_power(connector_at(system, first.source), connector_at(system, second.source))
    ]


def _declared_bonds(system: System, lines: list[Connection]) -> list[tuple[Connection, Connection]]:
    partner: dict[Endpoint, Endpoint] = {}
    for component in system.components.values():
        for port in component.power_ports.values():
            for effort, flow in zip(port.effort, port.flow, strict=True):
                partner[Endpoint(component.name, effort)] = Endpoint(component.name, flow)
    signs = (None, LinearTransformation(-1.0))
    by_ends = {(c.source, c.target): c for c in lines if c.transformation in signs}
    bonds = []
    for (source, target), line in by_ends.items():
        if source in partner and target in partner:
            back = by_ends.get((partner[target], partner[source]))
            bonds += [] if back is None else [(line, back)]
    return bonds


def _span(buffer: Buffer, line: Connection) -> range:
    first, size = buffer.slots[str(line.source)]
    return range(first, first + size)


_ORDERS = {None: 0, Extrapolation.HOLD: 0, Extrapolation.LINEAR: 1, Extrapolation.QUADRATIC: 2}


class CompensationTable:
    """Makes the rows of compensated connections, and allots what they remember.

    system: Whose connections.
    buffer: Places of its signals; it grows by what is remembered, behind all of them.
    """

    def __init__(self, system: System, buffer: Buffer) -> None:
        self._system = system
        self._buffer = buffer
        self._opposite: dict[Connection, list[Connection]] = {}
        if any(line.compensation is Compensation.ENERGY for line in system.connections):
            for first, second in power_bonds(system):
                self._opposite.setdefault(first, []).append(second)
                self._opposite.setdefault(second, []).append(first)

    def of(self, line: Connection) -> Iterator[CompensationRow]:
        """Make the rows of a connection, one for each scalar; none if it is not compensated."""
        if line.compensation is not None and line.compensation.makes_up_integral:
            how = _ORDERS[line.extrapolation], *linear_of(self._system, line)
            method = CompensationMethod.ENERGY_INTEGRAL
            for source, target in self._scalars(line):
                yield CompensationRow(method, source, target, self._remember(), *how)
        elif line.compensation is Compensation.ENERGY:
            yield from self._taking_energy_back(line)

    def corrections(self) -> Iterator[CompensationRow]:
        """Make the rows by which outputs are corrected after a step, sources before targets."""
        lines = [c for c in self._system.connections if c.compensation is Compensation.CORRECTOR]
        if not lines:
            return
        order = [name for ring in stepping_order(self._system) for name in ring]
        position = {name: i for i, name in enumerate(order)}
        numbers = {member.name: i for i, member in enumerate(self._buffer.members)}
        for line in sorted(lines, key=lambda line: position[line.target.component]):
            how = 0, 0, *linear_of(self._system, line), numbers[line.target.component]
            for source, target in self._scalars(line):
                yield CompensationRow(CompensationMethod.DIRECT_RESPONSE, source, target, *how)

    def _taking_energy_back(self, line: Connection) -> Iterator[CompensationRow]:
        bonds = self._opposite.get(line, [])
        if len(bonds) != 1:
            bonds_text = (
                f"of {len(bonds)} ({', '.join(map(str, bonds))})" if bonds else "no part of one"
            )
            raise CapabilityError(
                f"connection {line}: compensation 'energy' returns the energy that a power bond"
                f" creates, and the connection is {bonds_text}: expected one undelayed opposite"
                " connection between the same two components, the product of whose units is a"
                " power, such as N and m/s, or declared power ports"
            )
        (opposite,) = bonds
        if opposite.compensation is Compensation.ENERGY:
            raise CapabilityError(
                f"connections {line} and {opposite}: both lines of a power bond have the"
                " compensation 'energy', and would return the same energy twice; remove it from"
                " one of them"
            )
        if opposite.compensation is not None or opposite.is_predicted:
            raise CapabilityError(
                f"connection {line}: compensation 'energy' needs a held opposite line of its"
                f" power bond, and {opposite} is"
                f" {'compensated' if opposite.compensation else 'extrapolated'}; remove that"
            )
        factor, offset = linear_of(self._system, line)
        answer_factor, shifted = linear_of(self._system, opposite)
        for at, moved in ((line, offset), (opposite, shifted)):
            if moved:
                raise CapabilityError(
                    f"connection {at}: an offset of {moved:g} and compensation 'energy' cannot be"
                    " combined, since the power at the two ends differs; remove one of them"
                )
        pairs = zip(self._scalars(line), self._scalars(opposite), strict=True)
        for (source, target), (answer, answered) in pairs:
            how = source, target, self._remember(), 0, factor, offset
            back = answer, answered, answer_factor
            yield CompensationRow(CompensationMethod.RESIDUAL_ENERGY, *how, *back)

    def _scalars(self, line: Connection) -> Iterator[tuple[int, int]]:
        source, size = self._buffer.slots[str(line.source)]
        target, _ = self._buffer.slots[str(line.target)]
        return ((source + i, target + i) for i in range(size))

    def _remember(self) -> int:
        first = self._buffer.size
        self._buffer.size += CompensationRow.numbers
        return first


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


class FaultRows:
    """Collects the rows while the lines of a schedule are laid out.

    system: Whose connections.
    faults: Checked, in the order in which they act.
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
        real = connector_at(self._system, line.source).type is DataType.REAL
        if mode is DelayMode.PLAIN or not real:
            shift = 0 if mode is DelayMode.PLAIN else timing.newest_ns
            return DelayPlan(line, shift, 0.0, 0, Interpolation.HOLD, Extrapolation.HOLD)
        shift = round(timing.target_ns / 2 - timing.held_ns)
        return DelayPlan(line, shift, 0.0, 0, Interpolation.LINEAR, Extrapolation.HOLD)

    def on_readings(self, line: Connection, reads: Sequence[int]) -> list[Operation]:
        """Add what comes before the readings of a delayed connection: another delay."""
        declared = line.delay.nominal_ns if line.delay else 0
        rows = [
            _row(fault, Effect.CHANGED_DELAY, read, change_ns=declared - fault.delay_ns)
            for fault in self.delays(line)
            for read in reads
        ]
        return self._added(OperationCode.INJECT_FAULT, rows)

    def on_copies(
        self, line: Connection, slots: Sequence[int], linear: tuple[float, float]
    ) -> list[Operation]:
        """Add what comes after the values of a connection without a delay were brought."""
        rows = [] if line.delay else self._sent(line, slots, *linear)
        return self._added(OperationCode.INJECT_FAULT, rows)

    def on_late(self, fault: Fault, reads: Sequence[int]) -> list[Operation]:
        """Add readings that a fault puts in the place of what a connection has brought."""
        rows = [_row(fault, Effect.DELAYED_READ, read) for read in reads]
        return self._added(OperationCode.INJECT_FAULT, rows)

    def on_input(self, line: Connection, slots: Sequence[int]) -> list[Operation]:
        """Add what comes last: what does not arrive."""
        acting = self._acting(line, slots)
        rows = [
            _row(fault, Effect.DROP, at) for fault, _, at in acting if fault.kind is FaultKind.DROP
        ]
        return self._added(OperationCode.INJECT_FAULT, rows)

    def on_past(self, line: Connection, histories: Sequence[int]) -> list[Operation]:
        """Add what comes after the newest values of a connection are in its histories."""
        return self._added(OperationCode.INJECT_SAMPLE_FAULT, self._sent(line, histories, 1.0, 0.0))

    def _sent(
        self, line: Connection, slots: Sequence[int], factor: float, offset: float
    ) -> list[FaultRow]:
        rows = []
        for fault, i, slot in self._acting(line, slots):
            if not fault.kind.is_received:
                amount = math.nan if fault.kind is FaultKind.NAN else fault.amount_of(i)
                amounts = factor * amount, 0.0
                if fault.kind is FaultKind.SCALE:
                    amounts = amount, (1.0 - amount) * offset or NO_OFFSET
                key = _key(fault, line, i)
                rows.append(_row(fault, _EFFECTS[fault.kind], slot, *amounts, key=key))
        return rows

    def _acting(self, line: Connection, slots: Sequence[int]) -> Iterator[tuple[Fault, int, int]]:
        """Faults of a connection, with number and place of each element that they act on."""
        for fault in self._of.get(line.target, ()):
            yield from ((fault, i, slot) for i, slot in enumerate(slots) if fault.touches(i))

    def _added(self, code: OperationCode, rows: list[FaultRow]) -> list[Operation]:
        first = len(self.rows)
        self.rows += rows
        return [(code, first, len(rows))] if rows else []


def _row(
    fault: Fault,
    effect: Effect,
    slot: int,
    amount: float = 0.0,
    offset: float = 0.0,
    *,
    change_ns: int = 0,
    key: int = 0,
) -> FaultRow:
    until_ns = _NEVER if fault.until_ns is None else fault.until_ns
    return FaultRow(effect, slot, fault.begin_ns, until_ns, amount, offset, change_ns, key)


def _key(fault: Fault, line: Connection, element: int) -> int:
    if fault.kind is not FaultKind.NOISE:
        return 0
    from hashlib import blake2b

    text = f"{fault.seed}\0{line.source}\0{element}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
