"""Closed loops of a system: the rings of ports around which a signal returns to itself."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING

import networkx as nx

from orchestrator.system.connection import Connection, Endpoint

if TYPE_CHECKING:
    from orchestrator.system.system import System

_LOGGER = logging.getLogger(__name__)

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
    """List the closed loops of a system, at most :data:`MOST_LOOPS`, sorted by length.

    A component passes an input on to an output at once where it has direct feed-through, else
    through its states; where it has no state, it does not (:meth:`Component.passes`). A loop
    visits a component once: a longer ring is made of such loops.
    """
    known: dict[tuple[Endpoint, str], tuple[bool, bool]] = {}

    def acts(line: Connection, after: Connection) -> tuple[bool, bool]:
        """Whether a line acts on the next one, and whether it does so at once."""
        through = line.target, after.source.connector
        if through not in known:
            component = system.components[line.target.component]
            ends = line.target.connector, after.source.connector
            known[through] = component.passes(*ends), ends[0] in component.direct_inputs(ends[1])
        return known[through]

    lines: dict[tuple[str, str], list[Connection]] = {}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for line in system.connections:
        ends = line.source.component, line.target.component
        lines.setdefault(ends, []).append(line)
        graph.add_edge(*ends)
    rings = (
        ring
        for names in nx.simple_cycles(graph)
        for ring in product(*(lines[ends] for ends in pairwise([*names, names[0]])))
        if all(acts(line, after)[0] for line, after in pairwise([*ring, ring[0]]))
    )
    found = sorted((_begun(ring) for ring in islice(rings, MOST_LOOPS)), key=_order)
    if next(rings, None) is not None:
        _LOGGER.warning(
            "system '%s' has more than %d closed loops; the rest is neither reported nor held to"
            " its declared delay: join its signals in fewer components",
            system.name,
            MOST_LOOPS,
        )
    return [
        Loop(ring, tuple(acts(line, after)[1] for line, after in pairwise([*ring, ring[0]])))
        for ring in found
    ]


Ring = tuple[Connection, ...]


def _begun(ring: Ring) -> Ring:
    """Begin a ring at its smallest source, so that its spelling never changes."""
    first = min(range(len(ring)), key=lambda i: ring[i].source)
    return ring[first:] + ring[:first]


def _order(ring: Ring) -> tuple[int, list[Endpoint]]:
    return len(ring), [end for line in ring for end in (line.source, line.target)]
