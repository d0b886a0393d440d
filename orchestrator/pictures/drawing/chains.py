"""Which lines of nested systems a connection of the flat system runs along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchestrator.core.system import SEPARATOR, Connection, Endpoint, System, TransportDelay

#: A node: what it is (component, system or bus), the path of it, its connector.
_Node = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Segment:
    """One line of one system: the path of the system, empty at the top, and the connection."""

    path: str
    line: Connection

    @property
    def key(self) -> str:
        """Name of the line that no other of the whole system has."""
        return wire_key(self.path, self.line)


def wire_key(path: str, line: Connection) -> str:
    """Name of a line that no other of the whole system has."""
    return f"{path}: {line}" if path else str(line)


def inside(path: str, name: str) -> str:
    """Path of something in the system at a path."""
    return f"{path}{SEPARATOR}{name}" if path else name


def chains_of(system: System) -> dict[tuple[Endpoint, Endpoint], tuple[Segment, ...]]:
    """Segments from the source to the target, by the ends of the flat system's connections."""
    drivers: dict[_Node, tuple[_Node, Segment]] = {}
    _collect(system, "", drivers)
    chains: dict[tuple[Endpoint, Endpoint], tuple[Segment, ...]] = {}
    for target in drivers:
        if _passes_on(target):
            continue
        segments: list[Segment] = []
        node = target
        while node in drivers and (node is target or _passes_on(node)):
            if len(segments) > len(drivers):  # connectors of systems that feed each other
                break
            node, segment = drivers[node]
            segments.insert(0, segment)
        chains[Endpoint(node[1], node[2]), Endpoint(target[1], target[2])] = tuple(segments)
    return chains


def _passes_on(node: _Node) -> bool:
    return node[0] == "bus" or (node[0] == "system" and bool(node[1]))


def _collect(system: System, path: str, drivers: dict[_Node, tuple[_Node, Segment]]) -> None:
    def node(end: Endpoint) -> _Node:
        if not end.component:
            return ("system", path, end.connector)
        if end.component in system.buses:
            return ("bus", system.buses[end.component].dictionary, end.connector)
        kind = "system" if end.component in system.systems else "component"
        return (kind, inside(path, end.component), end.connector)

    for line in system.connections:
        drivers.setdefault(node(line.target), (node(line.source), Segment(path, line)))
    for name, inner in system.systems.items():
        _collect(inner, inside(path, name), drivers)


def as_prepared(nested: System, flat: System, read: System | None = None) -> System:
    """Return a nested system with the components and delays of a flat one that was made from it."""
    plain = nested.flat() if read is None else read
    declared = {(c.source, c.target): c for c in plain.connections}
    chains = chains_of(nested)
    changed: dict[str, Connection] = {}
    for line in flat.connections:
        ends = (line.source, line.target)
        if ends not in declared or declared[ends].delay == line.delay:
            continue
        *before, last = chains[ends]
        total = sum(s.line.delay.nominal_ns for s in before if s.line.delay)
        if line.delay is None or line.delay.variation or line.delay.nominal_ns < total:
            changed |= {s.key: _delayed(s.line, None) for s in before}
            total = 0
        rest = line.delay
        if total and rest:
            rest = TransportDelay(rest.nominal_ns - total, rest.provenance)
        changed[last.key] = _delayed(last.line, rest)
    return _refitted(nested, "", flat, changed)


def _delayed(line: Connection, delay: TransportDelay | None) -> Connection:
    return replace(line, delay=delay, interpolation=line.interpolation if delay else None)


def _refitted(system: System, path: str, flat: System, changed: Mapping[str, Connection]) -> System:
    components = {}
    for name, component in system.components.items():
        found = flat.components.get(inside(path, name), component)
        components[name] = replace(found, name=name)
    return replace(
        system,
        components=components,
        connections=tuple(changed.get(wire_key(path, c), c) for c in system.connections),
        systems={
            name: _refitted(inner, inside(path, name), flat, changed)
            for name, inner in system.systems.items()
        },
    )
