"""Compilation of a system and an algorithm into a schedule."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from orchestrator.coupling import DelayMode, DelayPlan, LoopDelay, plan_delays
from orchestrator.errors import CapabilityError, PluginError
from orchestrator.master.algorithms import Groups, algorithm
from orchestrator.master.schedule import Code, Member, Reading, Schedule
from orchestrator.simunits.unit import signal_order
from orchestrator.system import (
    Causality,
    Connection,
    Connector,
    DataType,
    Endpoint,
    System,
    closed_loops,
    conversion,
)

#: Most samples that the histories of all delays may hold together (800 MB).
MOST_SAMPLES = 100_000_000


def compile_schedule(
    system: System,
    algorithm_name: str,
    step_ns: int,
    mode: DelayMode,
    recorded: Collection[str],
) -> Schedule:
    """Compile a checked system.

    Parameters
    ----------
    system
        Resolved and checked.
    algorithm_name
        A registered algorithm.
    step_ns
        Communication step in nanoseconds, > 0.
    mode
        How declared delays are realised.
    recorded
        Outputs to keep in the buffer although nothing is connected to them
        (``component.connector``).
    """
    if step_ns <= 0:
        raise CapabilityError(f"communication step: expected > 0 s, found {step_ns / 1e9:g} s")
    if not system.components:
        raise CapabilityError(f"system '{system.name}' has no components: there is nothing to step")
    _check_types(system, recorded)
    groups = algorithm(algorithm_name)(system)
    if sorted(name for group in groups for name in group) != sorted(system.components):
        raise PluginError(
            f"algorithm '{algorithm_name}' returned the groups {groups}; expected every component"
            f" once: {', '.join(system.components)}"
        )
    place = {name: i for i, group in enumerate(groups) for name in group}

    def steps_before(line: Connection) -> bool:
        return place[line.source.component] < place[line.target.component]

    plans, loops = plan_delays(
        system.connections, closed_loops(system), step_ns, mode, steps_before
    )
    builder = _Builder(system, groups, plans, mode, step_ns)
    builder.lay_out(recorded)
    builder.emit()
    return builder.schedule(algorithm_name, loops)


def _check_types(system: System, recorded: Collection[str]) -> None:
    ends = [(line.source, f"connection {line}") for line in system.connections]
    ends += [(Endpoint.parse(name), f"recording of '{name}'") for name in recorded]
    wrong = [
        f"{where}: '{end}' is a String; connections and recordings carry Real, Integer and Boolean"
        " signals"
        for end, where in ends
        if system.components[end.component].connectors[end.connector].type is DataType.STRING
    ]
    if wrong:
        raise CapabilityError(*wrong)


class _Builder:
    """Collects the tables of one schedule."""

    def __init__(
        self,
        system: System,
        groups: Groups,
        plans: dict[Endpoint, DelayPlan],
        mode: DelayMode,
        step_ns: int,
    ) -> None:
        self.system = system
        self.groups = groups
        self.plans = plans
        self.mode = mode
        self.step_ns = step_ns
        self.signals = 0
        self.members: list[Member] = []
        self.slots: dict[str, tuple[int, int]] = {}
        self.histories: list[tuple[int, int, int]] = []
        self.copies: list[tuple[int, int, float, float]] = []
        self.reads: list[tuple[int, int, int, float, float]] = []
        self.operations: list[tuple[int, int, int]] = []
        self.history_rows: dict[str, list[tuple[Endpoint, int]]] = {}

    def lay_out(self, recorded: Collection[str]) -> None:
        """Give every bound connector its place in the buffer."""
        fed = {line.target for line in self.system.connections}
        used = {line.source for line in self.system.connections}
        used |= {Endpoint.parse(name) for name in recorded}
        for name in (name for group in self.groups for name in group):
            component = self.system.components[name]
            inputs = signal_order(
                c for c in component.of(Causality.INPUT) if Endpoint(name, c.name) in fed
            )
            outputs = signal_order(
                c for c in component.of(Causality.OUTPUT) if Endpoint(name, c.name) in used
            )
            first_input = self._allot(name, inputs)
            first_output = self._allot(name, outputs)
            self.members.append(
                Member(
                    name,
                    tuple(c.name for c in inputs),
                    tuple(c.name for c in outputs),
                    first_input,
                    first_output,
                    first_output - first_input,
                    self.signals - first_output,
                )
            )

    def _allot(self, component: str, connectors: Iterable[Connector]) -> int:
        first = self.signals
        for connector in connectors:
            self.slots[f"{component}.{connector.name}"] = self.signals, connector.size
            self.signals += connector.size
        return first

    def emit(self) -> None:
        """Write the operations, group after group."""
        self._lay_out_histories()
        member = 0
        for group in self.groups:
            lines = [c for c in self.system.connections if c.target.component in group]
            self._exchange(lines)
            for _ in group:
                self.operations.append((Code.STEP, member, 1))
                member += 1
            self._push(group)

    def _lay_out_histories(self) -> None:
        """Allot the rows of one source's histories side by side, in order of the groups."""
        for group in self.groups:
            for name in group:
                for target, plan in self.plans.items():
                    if plan.connection.source.component == name:
                        slot, size = self.slots[str(plan.connection.source)]
                        first = len(self.histories)
                        depth = -(-max(0, -plan.shift_ns) // self.step_ns) + 3
                        reading = Reading.HOLD if self.mode is DelayMode.PLAIN else Reading.LINEAR
                        self.histories += [(slot + i, depth, reading) for i in range(size)]
                        self.history_rows.setdefault(name, []).append((target, first))
        samples = sum(depth for _, depth, _ in self.histories)
        if samples > MOST_SAMPLES:
            raise CapabilityError(
                f"the delays of system '{self.system.name}' hold {samples} samples at a step of"
                f" {self.step_ns / 1e6:g} ms; expected at most {MOST_SAMPLES}: check the delays,"
                " or take a longer step"
            )

    def _exchange(self, lines: Iterable[Connection]) -> None:
        rows = {target: first for held in self.history_rows.values() for target, first in held}
        first_copy, first_read = len(self.copies), len(self.reads)
        for line in lines:
            factor, offset = self._linear(line)
            target, size = self.slots[str(line.target)]
            plan = self.plans.get(line.target)
            for i in range(size):
                if plan is not None:
                    history = rows[line.target] + i
                    self.reads.append((history, target + i, plan.shift_ns, factor, offset))
                else:
                    source = self.slots[str(line.source)][0] + i
                    self.copies.append((source, target + i, factor, offset))
        if len(self.copies) > first_copy:
            self.operations.append((Code.COPY, first_copy, len(self.copies) - first_copy))
        if len(self.reads) > first_read:
            self.operations.append((Code.READ, first_read, len(self.reads) - first_read))

    def _linear(self, line: Connection) -> tuple[float, float]:
        """Unit conversion, then the connection's own linear transformation, as one."""
        components = self.system.components
        source = components[line.source.component].connectors[line.source.connector]
        target = components[line.target.component].connectors[line.target.connector]
        factor, offset = conversion(source.unit, target.unit)
        if line.transformation is None:
            return factor, offset
        own = line.transformation
        return own.factor * factor, own.factor * offset + own.offset

    def _push(self, group: tuple[str, ...]) -> None:
        held = [row for name in group for row in self.history_rows.get(name, ())]
        if held:
            first = held[0][1]
            count = sum(self.slots[str(self.plans[t].connection.source)][1] for t, _ in held)
            self.operations.append((Code.PUSH, first, count))

    def _passes(self) -> int:
        """Enough passes for a chain of all components, and one more where delays cut a ring."""
        return len(self.members) + bool(self.plans)

    def schedule(self, algorithm_name: str, loops: list[LoopDelay]) -> Schedule:
        """Return what was collected."""
        return Schedule(
            algorithm_name,
            self.mode,
            self.step_ns,
            self.signals,
            tuple(self.members),
            self.slots,
            tuple(self.histories),
            tuple(self.copies),
            tuple(self.reads),
            tuple(self.operations),
            self._passes(),
            tuple(self.plans.values()),
            tuple(loops),
        )
