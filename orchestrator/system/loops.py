"""Closed loops of a system: the rings of ports around which a signal returns to itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import networkx as nx

from orchestrator.system.connection import Connection, Endpoint
from orchestrator.system.connector import Causality

if TYPE_CHECKING:
    from orchestrator.system.system import System

#: Rings are listed up to this number; dense graphs have more rings than anyone reads.
MOST_LOOPS = 2000


@dataclass(frozen=True, slots=True)
class Loop:
    """One closed ring of connections.

    Parameters
    ----------
    connections
        The lines of the ring, in order; each ends at the component where the next begins.
    feedthrough
        For each connection, whether its target passes the signal on to the next connection
        without a state in between.
    """

    connections: tuple[Connection, ...]
    feedthrough: tuple[bool, ...]

    @property
    def physical_ns(self) -> int:
        """Sum of the declared delays around the ring, in nanoseconds."""
        return sum(line.delay.nominal_ns for line in self.connections if line.delay)

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components around the ring."""
        return tuple(line.source.component for line in self.connections)

    def __str__(self) -> str:
        return " -> ".join([*map(str, (c.source for c in self.connections)), self.components[0]])


def closed_loops(system: System) -> list[Loop]:
    """List the closed loops of a system, at most :data:`MOST_LOOPS`.

    A component passes every input on to every output, at once where it has direct feed-through,
    else through its states.
    """
    graph: nx.DiGraph[Endpoint] = nx.DiGraph()
    lines: dict[tuple[Endpoint, Endpoint], Connection] = {}
    for line in system.connections:
        graph.add_edge(line.source, line.target)
        lines[line.source, line.target] = line
    used = set(graph)
    for component in system.components.values():
        for output in component.of(Causality.OUTPUT):
            for source in component.of(Causality.INPUT):
                ends = Endpoint(component.name, source.name), Endpoint(component.name, output.name)
                if used.issuperset(ends):
                    graph.add_edge(*ends)
    rings = _rings(graph)
    return [_loop(system, lines, ring) for ring in islice(rings, MOST_LOOPS)]


def _rings(graph: nx.DiGraph[Endpoint]) -> Iterator[list[Endpoint]]:
    """Simple cycles, each begun at its smallest output, so that the order never changes."""
    rings = []
    for ring in islice(nx.simple_cycles(graph), MOST_LOOPS):
        first = ring.index(min(ring))
        rings.append([*ring[first:], *ring[:first]])
    return iter(sorted(rings, key=lambda ring: (len(ring), ring)))


def _loop(
    system: System, lines: dict[tuple[Endpoint, Endpoint], Connection], ring: list[Endpoint]
) -> Loop:
    steps = [lines[ends] for ends in pairwise([*ring, ring[0]]) if ends in lines]
    through = tuple(
        line.target.connector
        in system.components[line.target.component].direct_inputs(after.source.connector)
        for line, after in pairwise([*steps, steps[0]])
    )
    return Loop(tuple(steps), through)
