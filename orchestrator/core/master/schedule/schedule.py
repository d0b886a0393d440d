"""A compiled system: plain tables that the engine executes, and where every signal is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final

from orchestrator.core.coupling import Channel, DelayMode, DelayPlan, LoopDelay
from orchestrator.core.master.plan import Iteration, Plan, StepMethod
from orchestrator.core.master.schedule.rows import (
    CompensationRow,
    CopyRow,
    FaultRow,
    HistoryRow,
    MixRow,
    OperationRow,
    ReadRow,
    ValueTableRow,
)
from orchestrator.core.simunits.protocol import signal_order, text_order
from orchestrator.core.structs import Struct
from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    Connector,
    Endpoint,
    System,
    factor_and_offset_of,
)


class Member(Struct):
    """One component's place in the buffers of signals and of texts."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_offset: int
    output_offset: int
    input_size: int
    output_size: int
    ticks: int = 1
    text_inputs: tuple[str, ...] = ()
    text_outputs: tuple[str, ...] = ()
    text_input_offset: int = 0
    text_output_offset: int = 0
    text_output_end: int = 0


class LoopTable(Struct):
    """One loop: what is repeated, and until when.

    method, tolerance, most_iterations: See
        :class:`~orchestrator.core.master.plan.Loops`.
    unknowns: Slots of the outputs that a pass starts from.
    discrete: Likewise Integer and Boolean signals: they must come out unchanged.
    members: Numbers of the components, in order of the pass.
    sources: Names of the outputs that the unknowns belong to, one for each slot, then those of
        discrete ones, then those of texts.
    texts: Likewise the rows of Strings and Binaries.
    components: Names of the components, in order of the pass.
    """

    method: Iteration
    tolerance: float
    most_iterations: int
    unknowns: tuple[int, ...]
    discrete: tuple[int, ...]
    members: tuple[int, ...]
    sources: tuple[str, ...]
    texts: tuple[int, ...]
    components: tuple[str, ...]


class RuleTable(Struct):
    """How long the steps are; times in nanoseconds.

    method, relative, absolute, order: See
        :class:`~orchestrator.core.master.plan.StepSizeControl`.
    least_ns, most_ns, first_ns: Bounds of the step, and the first one.
    checked: Slots of the outputs that the tolerances are for.
    bonds: Two slots for each power bond, of effort and flow.
    """

    method: StepMethod
    relative: float
    absolute: float
    order: int
    least_ns: int
    most_ns: int
    first_ns: int
    checked: tuple[int, ...] = ()
    bonds: tuple[tuple[int, int], ...] = ()


class EventTable(Struct):
    """How units with event mode handle events together.

    members: Their numbers.
    lines: ``(copy, target, kind)`` for each scalar of an undelayed connection between them, or into
        a discrete input of one: row of ``copies``, number in ``members``, and what it carries
        (:class:`~orchestrator.core.master.schedule.events.LineKind`).
    clocks: ``(slot, source)`` of each output clock; ``source`` is a number in ``members``.
    held_back: First row and number of those copies that are made in event mode only.
    splits: Whether a step may end where an event is due.
    early_return: Whether units may end a step before its end, so that all go back and step as far
        as that.
    refusals: Why not, in words.
    """

    members: tuple[int, ...]
    lines: tuple[tuple[int, int, int], ...]
    clocks: tuple[tuple[int, int], ...]
    held_back: tuple[int, int]
    splits: bool = False
    early_return: bool = False
    refusals: tuple[str, ...] = ()


class Schedule(Struct):
    """Operations of one communication step, and what they mean.

    algorithm, mode, step_ns: What it was compiled for.
    signals: Length of the signal buffer (float64).
    members: Units in order of the ``first`` of STEP operations.
    slots: Position and length of every bound connector, by ``component.connector``.
    histories, channels: Pasts of delayed and predicted scalars, and how varying delays are drawn.
    copies, reads, mixes: Lines by scalars; one row of the reads for the four of a quaternion.
    loops: What SOLVE operations repeat: the operations that follow them.
    operations: In order of execution.
    rule: How long the steps are.
    initial_passes: How often initial outputs are exchanged at most until all are consistent.
    read_early: Numbers of the members whose outputs a pass reads before it comes to them.
    plans, loop_delays: How delayed connections are read, and the delay of every loop.
    watched: First history of every connection whose readings are counted.
    texts: Length of the buffer of Strings and Binaries.
    text_copies: ``(source, target)``.
    tables, table_entries: Of LOOKUP, and their entries ``(source, target)``, sorted within a table.
    events: See :class:`EventTable`; ``None`` without units that have event mode.
    faults: Rows of INJECT_FAULT and INJECT_SAMPLE_FAULT.
    compensations: Rows of COMPENSATE and CORRECT.
    """

    algorithm: str
    mode: DelayMode
    step_ns: int
    signals: int
    members: tuple[Member, ...]
    slots: Mapping[str, tuple[int, int]]
    histories: tuple[HistoryRow, ...]
    channels: tuple[Channel, ...]
    copies: tuple[CopyRow, ...]
    reads: tuple[ReadRow, ...]
    mixes: tuple[MixRow, ...]
    loops: tuple[LoopTable, ...]
    operations: tuple[OperationRow, ...]
    rule: RuleTable
    initial_passes: int
    plans: tuple[DelayPlan, ...]
    loop_delays: tuple[LoopDelay, ...]
    watched: Mapping[str, int]
    texts: int = 0
    text_copies: tuple[tuple[int, int], ...] = ()
    tables: tuple[ValueTableRow, ...] = ()
    table_entries: tuple[tuple[float, float], ...] = ()
    events: EventTable | None = None
    faults: tuple[FaultRow, ...] = ()
    compensations: tuple[CompensationRow, ...] = ()
    read_early: tuple[int, ...] = ()

    @property
    def varies(self) -> bool:
        """Whether steps differ in length."""
        return self.rule.method is not StepMethod.FIXED

    def input_of(self, read: int) -> str:
        """Name the input that a row of the reads, or of the tables after them, is for."""
        slot = [*(row.target for row in self.reads), *(row.slot for row in self.tables)][read]
        return next(name for name, (at, size) in self.slots.items() if at <= slot < at + size)


def input_order(schedule: Schedule, member: Member) -> int:
    """Highest derivative of its inputs that a member is given in a step; 0: they are held."""
    inputs = range(member.input_offset, member.input_offset + member.input_size)
    return max(
        (max(row.order, 1) for row in schedule.reads if row.span_ns and row.target in inputs),
        default=0,
    )


def connector_at(system: System, end: Endpoint) -> Connector:
    """Return the connector of a flat system at which a connection ends."""
    return system.components[end.component].connectors[end.connector]


#: ``1.0 * x + NO_OFFSET`` is x to the bit, and -0.0 where x is -0.0, which ``+ 0.0`` makes 0.0.
NO_OFFSET: Final = -0.0


def linear_of(system: System, line: Connection) -> tuple[float, float]:
    """Return unit conversion and the connection's own linear transformation as one."""
    ends = connector_at(system, line.source), connector_at(system, line.target)
    factor, offset = factor_and_offset_of(line, *ends)
    return factor, offset or NO_OFFSET


_NONE: Final[frozenset[str]] = frozenset()


def _by_component(ends: Iterable[Endpoint]) -> dict[str, frozenset[str]]:
    """Names of connectors by the component that has them."""
    names: dict[str, set[str]] = {}
    for end in ends:
        names.setdefault(end.component, set()).add(end.connector)
    return {name: frozenset(connectors) for name, connectors in names.items()}


#: Connectors in the order of the buffer.
Bound = tuple[Connector, ...]


def _bound(
    component: Component, fed: AbstractSet[str], used: AbstractSet[str], read: AbstractSet[str]
) -> tuple[Bound, Bound, Bound, Bound]:
    """Return inputs and outputs that have a place, and text inputs and outputs."""
    bound_in = [c for c in component.of(Causality.INPUT) if c.name in fed]
    bound_out = [c for c in component.of(Causality.OUTPUT) if c.name in used]
    bound_out += [  # whatever else is recorded is read as outputs are
        c
        for c in component.connectors.values()
        if c.name in read and c.causality is not Causality.OUTPUT
    ]
    return (
        signal_order(bound_in),
        signal_order(bound_out),
        text_order(bound_in),
        text_order(bound_out),
    )


class Buffer:
    """Gives every bound connector its place in the buffer of signals, or of texts.

    system, plan: Whose components, in which order.
    rates: Communication steps that one step of a component takes, where it is not 1.
    recorded: Variables to keep although nothing is connected to them (``component.connector``).
    """

    def __init__(
        self, system: System, plan: Plan, rates: Mapping[str, int], recorded: Collection[str]
    ) -> None:
        self.size = 0
        self.text_size = 0
        self.text_slots: dict[str, tuple[int, int]] = {}
        self.members: list[Member] = []
        self.slots: dict[str, tuple[int, int]] = {}
        fed = _by_component(line.target for line in system.connections)
        recorded_ends = [Endpoint.parse(name) for name in recorded]
        used = _by_component(chain((line.source for line in system.connections), recorded_ends))
        recorded_of = _by_component(recorded_ends)
        cache: dict[tuple[object, ...], tuple[tuple[Bound, ...], list[tuple[str, ...]]]] = {}
        for name in (name for group in plan.groups for name in group.members):
            component = system.components[name]
            fed_here, used_here = fed.get(name, _NONE), used.get(name, _NONE)
            read = recorded_of.get(name, _NONE) - fed_here
            alike = id(component.connectors), fed_here, used_here, read
            if alike not in cache:
                bound = _bound(component, fed_here, used_here, read)
                cache[alike] = bound, [tuple(c.name for c in connectors) for connectors in bound]
            (inputs, outputs, text_inputs, text_outputs), names = cache[alike]
            first_input, first_text_input = self.size, self.text_size
            first_output = _allot(self.slots, first_input, name, inputs)
            self.size = _allot(self.slots, first_output, name, outputs)
            first_text_output = _allot(self.text_slots, first_text_input, name, text_inputs)
            self.text_size = _allot(self.text_slots, first_text_output, name, text_outputs)
            self.members.append(
                Member(
                    name,
                    names[0],
                    names[1],
                    first_input,
                    first_output,
                    first_output - first_input,
                    self.size - first_output,
                    rates.get(name, 1),
                    names[2],
                    names[3],
                    first_text_input,
                    first_text_output,
                    self.text_size,
                )
            )


def _allot(
    slots: dict[str, tuple[int, int]], first: int, component: str, connectors: Iterable[Connector]
) -> int:
    """Give connectors their places, one after the other, and return where they end."""
    for connector in connectors:
        slots[f"{component}.{connector.name}"] = first, connector.size
        first += connector.size
    return first
