"""Tables of the connections of a schedule: copies, readings of the past, and histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized

from orchestrator.core.coupling import Channel, DelayPlan, channel_of
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.plan import Plan
from orchestrator.core.master.schedule.compensation_table import CompensationTable, FaultRows
from orchestrator.core.master.schedule.input_hold import SINK, InputHold
from orchestrator.core.master.schedule.rows import (
    CompensationRow,
    CopyRow,
    Extrapolation,
    HistoryRow,
    MixRow,
    OperationCode,
    ReadRow,
    ValueTableRow,
)
from orchestrator.core.master.schedule.rows import Interpolation as HistoryInterpolation
from orchestrator.core.master.schedule.schedule import Buffer, RuleTable, linear_of
from orchestrator.core.system import (
    Connection,
    Endpoint,
    Interpolation,
    MappingTransformation,
    System,
)

#: Most samples that the histories of all delays may hold together (800 MB, with their times).
MOST_SAMPLES = 50_000_000
Rows = tuple[int, int, int]  # code, first, count


class ConnectionTables:
    """Tables of the connections of one schedule.

    system, plan: Whose connections, and what the algorithm decided; sources in the order of the
        groups.
    buffer, input_hold: Where the signals lie, and at what undelayed inputs are held.
    delays: How delayed connections are read, by target.
    late: How connections without a delay are read while a fault gives them one, by target.
    faults: What goes wrong; rows are added to it.
    step_ns, rule: The communication step, and how long others may be: a history is as deep as they
        need.
    follows_steps: Whether delayed lines are read later in longer steps.
    Raises CapabilityError: if the pasts of all delays would not fit into memory.
    """

    def __init__(
        self,
        system: System,
        plan: Plan,
        buffer: Buffer,
        input_hold: InputHold,
        delays: Mapping[Endpoint, DelayPlan],
        late_plans: Mapping[Endpoint, DelayPlan],
        faults: FaultRows,
        step_ns: int,
        rule: RuleTable,
        *,
        follows_steps: bool = True,
    ) -> None:
        self._system = system
        self._follows_steps = follows_steps
        self._slots = buffer.slots
        self._holding = input_hold
        self._plans = delays
        self._late = late_plans
        self._remembered = {**delays, **late_plans}
        self._faults = faults
        self._faulty: dict[Endpoint, tuple[list[Rows], list[Rows]]] = {}
        self._step_ns = step_ns
        self.ticks = {member.name: member.ticks for member in buffer.members}
        self._text_slots = buffer.text_slots
        self.text_copies: list[tuple[int, int]] = []
        self.tables: list[ValueTableRow] = []
        self.table_entries: list[tuple[int, int]] = []
        self.histories: list[HistoryRow] = []
        self.channels: list[Channel] = []
        self.watched: dict[str, int] = {}
        self.copies: list[CopyRow] = []
        self.reads: list[ReadRow] = []
        self._rows: dict[str, list[tuple[Endpoint, int]]] = {}
        self._first_history: dict[Endpoint, int] = {}
        self.mixes: list[MixRow] = []
        self.compensations: list[CompensationRow] = []
        self._compensated = CompensationTable(system, buffer)
        #: By how much steps may be shorter and longer than the first.
        self._excesses_ns: tuple[int, ...] = (0,)
        least_ns = step_ns
        if plan.step_size_control is not None:
            self._excesses_ns = (-step_ns, rule.most_ns - step_ns)
            least_ns = max(1, rule.least_ns // 2)  # doubling makes two of the shortest step
        self._lay_out_histories(plan, least_ns)

    def _lay_out_histories(self, algorithm: Plan, step_ns: int) -> None:
        """Allot the rows of one source's histories side by side, in order of the groups."""
        out_of: dict[str, list[Endpoint]] = {}
        for target, plan in self._remembered.items():
            out_of.setdefault(plan.connection.source.component, []).append(target)
        for name in (name for group in algorithm.groups for name in group.members):
            for target in out_of.get(name, ()):
                self._rows.setdefault(name, []).append((target, len(self.histories)))
                self._first_history[target] = len(self.histories)
                self._lay_out(self._remembered[target], step_ns)
        samples = sum(row.depth for row in self.histories)
        if samples > MOST_SAMPLES:
            raise CapabilityError(
                f"the delays of system '{self._system.name}' hold {samples} samples at a step of"
                f" {step_ns / 1e6:g} ms; expected at most {MOST_SAMPLES}: check the delays,"
                " or take a longer step"
            )

    def _lay_out(self, plan: DelayPlan, step_ns: int) -> None:
        """Allot the histories of one connection, one for each scalar."""
        channel = channel_of(plan.connection)
        moved = self._read_share(plan)
        back = self._faults.longer_ns(plan.connection) - plan.shift_ns
        back = max(0, *(back - round(moved * excess) for excess in self._excesses_ns))
        # The newest, those on both sides of the reading, two before for curves, and three that may
        # be taken back.
        spare = 8
        number = -1
        if channel is not None:
            back += max(0, channel.longest_ns - channel.nominal_ns)
            spare = 12  # some may be lost
            number = len(self.channels)
            self.channels.append(channel)
        if channel is not None or plan.interpolation is Interpolation.SLERP:
            self.watched[str(plan.connection)] = len(self.histories)
        slot, size = self._slots[str(plan.connection.source)]
        interpolation = HistoryInterpolation[plan.interpolation.name]
        extrapolation = Extrapolation[plan.extrapolation.name]
        spare += self.ticks[plan.connection.target.component]  # read that much later, at most
        depth = -(-back // step_ns) + spare
        row = depth, interpolation, extrapolation, number
        self.histories += [HistoryRow(slot + i, *row) for i in range(size)]

    def exchange(self, lines: Iterable[Connection], *, first_half: bool = False) -> list[Rows]:
        """Return the operations that bring values along these connections, for a step or a half."""
        lines = list(lines)
        input_hold = self._holding.of_first_half if first_half else self._holding.of
        first_copy, first_read = len(self.copies), len(self.reads)
        first_text, first_table = len(self.text_copies), len(self.tables)
        first_compensation = len(self.compensations)
        mixed: dict[OperationCode, list[MixRow]] = {}
        operations: list[Rows] = []
        for line in lines:
            if str(line.target) in self._text_slots:
                source, size = self._text_slots[str(line.source)]
                target, _ = self._text_slots[str(line.target)]
                self.text_copies += [(source + i, target + i) for i in range(size)]
                continue
            factor, offset = linear_of(self._system, line)
            target, size = self._slots[str(line.target)]
            self._tabulate(line, target, size)
            plan = self._plans.get(line.target)
            if plan is not None:
                rows = self._read(plan, plan.shift_ns)
                operations += self._faults.on_readings(line, rows)
                continue
            source = self._slots[str(line.source)][0]
            held = input_hold(line)
            if held.code is OperationCode.COPY:
                self.copies += [
                    CopyRow(source + i, target + i, factor, offset) for i in range(size)
                ]
            else:
                mixed.setdefault(held.code, []).extend(
                    MixRow(source + i, target + i, held.weight, factor, offset) for i in range(size)
                )
        operations += _since(OperationCode.COPY, self.copies, first_copy)
        operations += _since(OperationCode.READ, self.reads, first_read)
        for code, some in mixed.items():
            operations.append((code, len(self.mixes), len(some)))
            self.mixes += some
        operations += _since(OperationCode.TEXT, self.text_copies, first_text)
        self.compensations += [row for line in lines for row in self._compensated.of(line)]
        operations += _since(OperationCode.COMPENSATE, self.compensations, first_compensation)
        faulty = [line for line in lines if self._faults.touches(line)]
        operations += [row for line in faulty for row in self._inject(line, sent=True)]
        operations += _since(OperationCode.LOOKUP, self.tables, first_table)
        return operations + [row for line in faulty for row in self._inject(line, sent=False)]

    def correct(self) -> list[Rows]:
        """Return the operation that corrects outputs when all have stepped, if there are such."""
        first = len(self.compensations)
        self.compensations += self._compensated.corrections()
        return _since(OperationCode.CORRECT, self.compensations, first)

    def _read(self, plan: DelayPlan, shift_ns: int) -> range:
        """Add the readings of a connection, and return their rows."""
        line = plan.connection
        target, size = self._slots[str(line.target)]
        if plan.interpolation is Interpolation.SLERP:
            size = 1  # one row stands for all four
        first, past = len(self.reads), self._first_history[line.target]
        shift = shift_ns - self._holding.read_ahead(line.target.component) * self._step_ns
        share = self._read_share(plan) if self._follows_steps else 0.0
        factor, offset = linear_of(self._system, line)
        self.reads += [
            ReadRow(
                past + i,
                target + i,
                shift,
                plan.span_ns,
                factor,
                offset,
                share,
                plan.order,
                int(plan.keeps_end),
            )
            for i in range(size)
        ]
        return range(first, first + size)

    def _inject(self, line: Connection, *, sent: bool) -> list[Rows]:
        """Return what faults do to what is sent, or received; the same where it comes twice."""
        if str(line.target) in self._text_slots:
            return []
        if line.target not in self._faulty:
            first, size = self._slots[str(line.target)]
            slots, late_plan = range(first, first + size), self._late.get(line.target)
            self._faulty[line.target] = (
                self._faults.on_copies(line, slots, linear_of(self._system, line)),
                self._faults.on_input(line, slots),
            )
            for fault in self._faults.delays(line):
                if late_plan is None:
                    break
                reads = self._read(late_plan, late_plan.shift_ns - fault.delay_ns)
                self._faulty[line.target][0].extend(self._faults.on_late(fault, reads))
        return self._faulty[line.target][0 if sent else 1]

    def copy_at_events(self, line: Connection) -> range:
        """Add the copies of a connection that event mode makes, and return their rows."""
        linear = linear_of(self._system, line)
        source, size = self._slots[str(line.source)]
        target, _ = self._slots[str(line.target)]
        first = len(self.copies)
        self.copies += [CopyRow(source + i, target + i, *linear) for i in range(size)]
        return range(first, first + size)

    def _read_share(self, plan: DelayPlan) -> float:
        """By how much later a line is read for each nanosecond that a step is longer.

        What is held is read at the begin of the step; what is interpolated in a place of the step
        that is the same for all lengths; an output of the system at its end.
        """
        delay = plan.connection.delay
        if plan.connection.target.component == SINK:
            return 1.0
        predicted = delay is None and plan.connection.target in self._plans
        if predicted or plan.interpolation is Interpolation.HOLD:
            return 0.0
        return (plan.shift_ns + (delay.nominal_ns if delay else 0)) / self._step_ns

    def _tabulate(self, line: Connection, target: int, size: int) -> None:
        """Let a table of values follow on what brings them."""
        if isinstance(line.transformation, MappingTransformation):
            entries = sorted(line.transformation.entries)
            first = len(self.table_entries)
            self.table_entries += entries
            self.tables += [ValueTableRow(target + i, first, len(entries)) for i in range(size)]

    def propose(self, lines: Iterable[Connection]) -> list[Rows]:
        """Return the operations that give these lines the newest values as those at the end."""
        return [
            (
                OperationCode.PROPOSE,
                self._first_history[line.target],
                self._slots[str(line.source)][1],
            )
            for line in lines
            if line.target in self._plans and self._holding.proposed(line)
        ]

    def push(self, group: Iterable[str]) -> list[Rows]:
        """Return the operations that append the newest outputs of these components.

        There is one for each run of histories: those of components with another step may stand in
        between.
        """
        held = [row for name in group for row in self._rows.get(name, ())]
        lines = {target: self._remembered[target].connection for target, _ in held}
        sizes = {target: self._slots[str(line.source)][1] for target, line in lines.items()}
        operations: list[Rows] = []
        end = -1
        for target, first in held:
            if first == end:
                code, begin, count = operations[-1]
                operations[-1] = (code, begin, count + sizes[target])
            else:
                operations.append((OperationCode.PUSH, first, sizes[target]))
            end = first + sizes[target]
        for target, first in held:
            histories = range(first, first + sizes[target])
            operations += self._faults.on_past(lines[target], histories)
        return operations


def _since(code: OperationCode, table: Sized, first: int) -> list[Rows]:
    """Return the operation on the rows that a table has from ``first`` on, if there are any."""
    return [(code, first, len(table) - first)] if len(table) > first else []
