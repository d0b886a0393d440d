"""Gauss-Seidel: one component after the other, each with the newest values of those before it."""

from __future__ import annotations

import networkx as nx

from orchestrator.system import Causality, Connection, System


def groups(system: System) -> tuple[tuple[str, ...], ...]:
    """Order the components so that sources come before targets, one component to a group.

    Delayed connections do not bind the order: they are the cuts. Where a ring has several, the
    longest delay is the cut: the shorter ones are put in order, so that what they may have to read
    ahead is as little as can be. In a ring without a delay the connections that act at once (direct
    feed-through) bind the order, so that the outputs which stand in the buffer after a step belong
    to one moment; what is still a ring keeps the system's order.
    """
    lines = _with_short_delays(system)
    ordered = []
    for ring in _ordered(list(system.components), lines):
        inside = [c for c in lines if c.target.component in ring and _acts_at_once(system, c)]
        ordered += [name for part in _ordered(ring, inside) for name in part]
    return tuple((name,) for name in ordered)


def _with_short_delays(system: System) -> list[Connection]:
    """Return what binds: undelayed lines, and delayed ones that close no ring, shortest first."""
    lines = [line for line in system.connections if line.delay is None]
    delayed = [line for line in system.connections if line.delay is not None]
    delayed.sort(key=lambda line: line.delay.nominal_ns if line.delay else 0)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(system.components)
    graph.add_edges_from((line.source.component, line.target.component) for line in lines)
    for line in delayed:
        source, target = line.source.component, line.target.component
        if not nx.has_path(graph, target, source):
            graph.add_edge(source, target)
            lines.append(line)
    return lines


def _ordered(names: list[str], lines: list[Connection]) -> list[list[str]]:
    """Sort names topologically; names that form a ring stay together, in their given order."""
    place = {name: i for i, name in enumerate(names)}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    ends = ((line.source.component, line.target.component) for line in lines)
    graph.add_edges_from((a, b) for a, b in ends if a in place and b in place)
    rings = nx.condensation(graph)
    members = {
        ring: sorted(data["members"], key=place.__getitem__)
        for ring, data in rings.nodes(data=True)
    }
    first = {ring: place[inside[0]] for ring, inside in members.items()}
    return [
        members[ring] for ring in nx.lexicographical_topological_sort(rings, key=first.__getitem__)
    ]


def _acts_at_once(system: System, line: Connection) -> bool:
    target = system.components[line.target.component]
    return any(
        line.target.connector in target.direct_inputs(output.name)
        for output in target.of(Causality.OUTPUT)
    )
