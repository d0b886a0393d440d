"""Closed loops of a system: the rings of ports around which a signal returns to itself.

Between two components there may be many signals: a pose, a twist, forces and torques. Rings that
go along different ones of them are the same loop as long as their lines bring and pass on a signal
equally late. So lines that do are one bundle, and rings are made of bundles.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, pairwise, product
from math import prod
from typing import TYPE_CHECKING

import networkx as nx

from orchestrator.system.connection import Connection, Endpoint
from orchestrator.system.connector import Causality
from orchestrator.system.transformation import MappingTransformation

if TYPE_CHECKING:
    from orchestrator.system.system import System

_LOGGER = logging.getLogger(__name__)

#: Rings are listed up to this number; dense graphs have more rings than anyone reads.
MOST_LOOPS = 2000


@dataclass(frozen=True, slots=True)
class Loop:
    """One closed ring of connections, and those that differ from it by lines that act alike.

    Parameters
    ----------
    connections
        The lines of the ring, in order; each ends at the component where the next begins.
    feedthrough
        For each connection, whether its target passes the signal on to the next connection
        without a state in between.
    alike
        For each connection, all lines that may stand in its place, itself among them: between the
        same components, equally late, and with the same effect on what comes before and after.
    """

    connections: tuple[Connection, ...]
    feedthrough: tuple[bool, ...]
    alike: tuple[tuple[Connection, ...], ...]

    @property
    def count(self) -> int:
        """How many rings of ports these are."""
        return prod(map(len, self.alike))

    @property
    def lines(self) -> tuple[Connection, ...]:
        """All connections of these rings."""
        return tuple(line for bundle in self.alike for line in bundle)

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


Bundle = tuple[Connection, ...]
#: Whether a line acts on the next one, and whether it does so at once.
Acts = Callable[[Connection, Connection], tuple[bool, bool]]


def closed_loops(system: System) -> list[Loop]:
    """List the closed loops of a system, at most :data:`MOST_LOOPS`, sorted by length.

    A component passes an input on to an output at once where it has direct feed-through, else
    through its states; where it has no state, it does not (:meth:`Component.passes`). A loop
    visits a component once: a longer ring is made of such loops.
    """
    acts = _acting(system)
    bundles = _bundles(system, acts)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(bundles)
    rings = (
        ring
        for names in nx.simple_cycles(graph)
        for ring in product(*(bundles[ends] for ends in pairwise([*names, names[0]])))
        if all(acts(line[0], after[0])[0] for line, after in pairwise([*ring, ring[0]]))
    )
    found = sorted((_begun(ring) for ring in islice(rings, MOST_LOOPS)), key=_order)
    if next(rings, None) is not None:
        _LOGGER.warning(
            "system '%s' has more than %d closed loops; the rest is neither reported nor held to"
            " its declared delay: join its signals in fewer components",
            system.name,
            MOST_LOOPS,
        )
    return [_loop(ring, acts) for ring in found]


def _acting(system: System) -> Acts:
    known: dict[tuple[Endpoint, str], tuple[bool, bool]] = {}

    def acts(line: Connection, after: Connection) -> tuple[bool, bool]:
        through = line.target, after.source.connector
        if through not in known:
            component = system.components[line.target.component]
            ends = line.target.connector, after.source.connector
            known[through] = component.passes(*ends), ends[0] in component.direct_inputs(ends[1])
        return known[through]

    return acts


def _bundles(system: System, acts: Acts) -> dict[tuple[str, str], list[Bundle]]:
    """Lines between two components, those that act alike together; by the components' names."""
    into: dict[str, list[Connection]] = {}
    out_of: dict[str, list[Connection]] = {}
    for line in system.connections:
        into.setdefault(line.target.component, []).append(line)
        out_of.setdefault(line.source.component, []).append(line)
    bundles: dict[tuple[object, ...], list[Connection]] = {}
    for line in sorted(system.connections, key=lambda line: (line.source, line.target)):
        before = tuple(acts(other, line) for other in into.get(line.source.component, ()))
        after = tuple(acts(line, other) for other in out_of.get(line.target.component, ()))
        ends = line.source.component, line.target.component
        bundles.setdefault((ends, _lateness(system, line), before, after), []).append(line)
    found: dict[tuple[str, str], list[Bundle]] = {}
    for bundle in bundles.values():
        ends = bundle[0].source.component, bundle[0].target.component
        found.setdefault(ends, []).append(tuple(bundle))
    return found


def _lateness(system: System, line: Connection) -> object:
    """Equal for lines that every algorithm reads equally late; each delay is read for itself."""
    if line.delay is not None:
        return line.target
    source, target = (system.components[end.component] for end in (line.source, line.target))
    return (
        line.extrapolation,
        isinstance(line.transformation, MappingTransformation),
        source.connectors[line.source.connector].type,
        source.changes_at_events(line.source.connector),
        any(
            line.target.connector in target.direct_inputs(output.name)
            for output in target.of(Causality.OUTPUT)
        ),
    )


def _loop(ring: Ring, acts: Acts) -> Loop:
    lines = tuple(bundle[0] for bundle in ring)
    around = pairwise([*lines, lines[0]])
    return Loop(lines, tuple(acts(line, after)[1] for line, after in around), ring)


Ring = tuple[Bundle, ...]


def _begun(ring: Ring) -> Ring:
    """Begin a ring at its smallest source, so that its spelling never changes."""
    first = min(range(len(ring)), key=lambda i: ring[i][0].source)
    return ring[first:] + ring[:first]


def _order(ring: Ring) -> tuple[int, list[Endpoint]]:
    return len(ring), [end for line, *_ in ring for end in (line.source, line.target)]
