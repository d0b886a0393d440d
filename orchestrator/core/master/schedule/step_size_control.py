"""How the engine chooses the length of every step, as a table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from orchestrator.core.coupling import Timing
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.algorithms.plan import Plan, StepMethod
from orchestrator.core.master.schedule.buffer import Buffer
from orchestrator.core.master.schedule.schedule import RuleTable
from orchestrator.core.system import (
    REACH_NS,
    Connection,
    Connector,
    DataType,
    Endpoint,
    LinearTransformation,
    System,
    is_power,
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
        known = [
            line.delay.nominal_ns
            for line in system.connections
            if line.delay
            and line.delay.nominal_ns >= control.least_ns
            and timing_of(line).newest_ns < timing_of(line).target_ns
        ]
        most_ns = min(most_ns, *known) if known else most_ns
    checked = sorted(
        {
            slot
            for line in system.connections
            if _type(system, line) is DataType.REAL
            for slot in _span(buffer, line)
        }
    )
    bonds: list[tuple[int, int]] = []
    if control.method is StepMethod.ECCO:
        for one, other in power_bonds(system):
            bonds += zip(_span(buffer, one), _span(buffer, other), strict=True)
        if not bonds:
            raise CapabilityError(
                f"system '{system.name}' has no power bond: two undelayed opposite connections"
                " between the same two components, the product of whose units is a power, such as"
                " N and m/s; declare the units or power ports, or choose another algorithm"
            )
    return RuleTable(
        control.method,
        control.relative,
        control.absolute,
        control.order,
        control.least_ns,
        most_ns,
        min(step_ns, most_ns),
        tuple(checked),
        tuple(bonds),
    )


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
        (one, other)
        for one, other in combinations(lines, 2)
        if one.source.component == other.target.component
        and one.target.component == other.source.component
        and _shape(system, one) == _shape(system, other)
        and is_power(_source(system, one), _source(system, other))
    ]


def _declared_bonds(system: System, lines: list[Connection]) -> list[tuple[Connection, Connection]]:
    partner: dict[Endpoint, Endpoint] = {}
    for component in system.components.values():
        for port in component.power_ports.values():
            for effort, flow in zip(port.effort, port.flow, strict=True):
                ends = (Endpoint(component.name, name) for name in (effort, flow))
                source, target = ends
                partner[source] = target
    signs = (None, LinearTransformation(-1.0))
    by_ends = {(c.source, c.target): c for c in lines if c.transformation in signs}
    bonds = []
    for (source, target), line in by_ends.items():
        if source in partner and target in partner:
            back = by_ends.get((partner[target], partner[source]))
            if back is not None:
                bonds.append((line, back))
    return bonds


def _span(buffer: Buffer, line: Connection) -> range:
    first, size = buffer.slots[str(line.source)]
    return range(first, first + size)


def _type(system: System, line: Connection) -> DataType:
    return _source(system, line).type


def _shape(system: System, line: Connection) -> tuple[int, ...]:
    return _source(system, line).shape


def _source(system: System, line: Connection) -> Connector:
    return system.components[line.source.component].connectors[line.source.connector]
