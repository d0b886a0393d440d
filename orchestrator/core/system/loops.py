"""Closed loops of a system, around which a signal returns to itself; rings of any directed graph.

Between two components there may be many signals: a pose, a twist, forces and torques. Rings that
go along different ones of them are the same loop as long as each stretch is equally late and passes
its signal on in the same way, at once or through a state. So rings are never listed one by one:
lines that act alike are one bundle, and ways along bundles are joined as soon as they are alike.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import islice, pairwise
from math import prod
from typing import TYPE_CHECKING, TypeVar

from orchestrator.core.structs import MutableStruct, Struct, replace
from orchestrator.core.system.connection import Connection, Endpoint, MappingTransformation
from orchestrator.core.system.line_attributes import attributes_on
from orchestrator.core.system.ports import Causality

if TYPE_CHECKING:
    from orchestrator.core.system.component import Component
    from orchestrator.core.system.system import System


Node = TypeVar("Node")


def has_ring(edges: Iterable[tuple[Node, Node]]) -> bool:
    """Whether a way along the edges leads back to where it began."""
    after: dict[Node, list[Node]] = {}
    waiting: dict[Node, int] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
        waiting[target] = waiting.get(target, 0) + 1
        waiting.setdefault(source, 0)
    ready = [node for node, count in waiting.items() if not count]
    for node in ready:  # grows while it is read
        for target in after.get(node, ()):
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return len(ready) < len(waiting)


def ordered_rings(names: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> list[list[Node]]:
    """Sort names topologically; names that form a ring stay together, in their given order.

    Where the edges leave a choice the ring whose first name comes first in ``names`` is taken.
    Edges from or to other names are left out.
    """
    position = {name: i for i, name in enumerate(names)}
    after: list[list[int]] = [[] for _ in names]
    for source, target in edges:
        if source in position and target in position:
            after[position[source]].append(position[target])
    rings = [sorted(ring) for ring in _strong_components(after)]
    ring_of = {node: number for number, ring in enumerate(rings) for node in ring}
    ahead = {
        number: {ring_of[target] for node in ring for target in after[node]} - {number}
        for number, ring in enumerate(rings)
    }
    return [[names[i] for i in rings[number]] for number in _topological(rings, ahead)]


def islands(names: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> list[list[Node]]:
    """Sort names into the parts that no edge joins, each in their given order."""
    both = [pair for source, target in edges for pair in ((source, target), (target, source))]
    return ordered_rings(names, both)


def circuits(edges: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Give all ways along edges that come back and visit no node twice, each once.

    References
    ----------
    Johnson: Finding all the elementary circuits of a directed graph (1975); without recursion.
    """
    after: dict[int, set[int]] = {}
    for source, target in edges:
        after.setdefault(source, set()).add(target)
        after.setdefault(target, set())
    yield from ([node] for node in sorted(after) if node in after[node])
    parts = [set(ring) for ring in _rings_within(after, after)]
    while parts:
        inside = parts.pop()
        start = min(inside)
        yield from _circuits_from(start, {node: after[node] & inside for node in inside})
        parts += map(set, _rings_within(after, inside - {start}))


def _rings_within(after: Mapping[int, set[int]], nodes: Iterable[int]) -> list[list[int]]:
    """Give the strongly connected parts of some nodes that have more than one."""
    names = sorted(nodes)
    position = {name: i for i, name in enumerate(names)}
    within = [[position[target] for target in after[node] if target in position] for node in names]
    rings = [sorted(ring) for ring in _strong_components(within) if len(ring) > 1]
    if len(rings) < 2:
        return [[names[i] for i in ring] for ring in rings]
    edges = ((node, target) for node in names for target in after[node])
    return [ring for ring in ordered_rings(names, edges) if len(ring) > 1]


def _circuits_from(start: int, after: Mapping[int, set[int]]) -> Iterator[list[int]]:
    """Give the circuits through a node of a strongly connected graph.

    A node is blocked from when it is on the way until a circuit through it was found, or until one
    of those behind it is free again.
    """
    path, blocked = [start], {start}
    waiting: dict[int, set[int]] = {node: set() for node in after}
    stack = [(iter(sorted(after[start])), [False])]
    while stack:
        targets, is_closed = stack[-1]
        for target in targets:
            if target == start:
                if len(path) > 1:
                    yield path[:]
                    is_closed[0] = True
            elif target not in blocked:
                path.append(target)
                blocked.add(target)
                stack.append((iter(sorted(after[target])), [False]))
                break
        else:
            stack.pop()
            node = path.pop()
            if is_closed[0]:
                _free(node, blocked, waiting)
                if stack:
                    stack[-1][1][0] = True
            else:
                for target in after[node]:
                    waiting[target].add(node)


def _free(node: int, blocked: set[int], waiting: Mapping[int, set[int]]) -> None:
    """Let a node, and all that wait for it, be visited again."""
    free = {node}
    while free:
        released = free.pop()
        if released in blocked:
            blocked.discard(released)
            free |= waiting[released]
            waiting[released].clear()


def _topological(rings: list[list[int]], ahead: Mapping[int, set[int]]) -> Iterator[int]:
    waiting = [0] * len(rings)
    for targets in ahead.values():
        for target in targets:
            waiting[target] += 1
    ready = [(ring[0], number) for number, ring in enumerate(rings) if not waiting[number]]
    heapify(ready)
    while ready:
        _, number = heappop(ready)
        yield number
        for target in ahead[number]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, (rings[target][0], target))


def _strong_components(after: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Give the strongly connected components of a graph.

    References
    ----------
    Tarjan: Depth-first search and linear graph algorithms (1972); without recursion.
    """
    unseen, done = 0, len(after) + 1  # next to the numbers of nodes on the stack, from 1
    number = [unseen] * len(after)
    lowest = [unseen] * len(after)
    count = 0
    stack: list[int] = []
    for root in range(len(after)):
        if number[root]:
            continue
        path = [(root, iter(after[root]))]
        count += 1
        number[root] = lowest[root] = count
        stack.append(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if number[target] == unseen:
                    count += 1
                    number[target] = lowest[target] = count
                    stack.append(target)
                    path.append((target, iter(after[target])))
                    break
                if number[target] < lowest[node]:
                    lowest[node] = number[target]
            else:
                path.pop()
                if path and lowest[node] < lowest[above := path[-1][0]]:
                    lowest[above] = lowest[node]
                if lowest[node] == number[node]:
                    ring: list[int] = []
                    while not ring or ring[-1] != node:
                        ring.append(stack.pop())
                        number[ring[-1]] = done
                    yield ring


class Ways:
    """A graph that grows, asked whether a way leads from one node to another."""

    def __init__(self) -> None:
        self._after: dict[object, list[object]] = {}
        self._before: dict[object, list[object]] = {}

    def add(self, source: object, target: object) -> None:
        """Add an edge."""
        self._after.setdefault(source, []).append(target)
        self._before.setdefault(target, []).append(source)

    def lead(self, source: object, target: object) -> bool:
        """Whether one is reached from the other; both sides are searched, the smaller first."""
        if source == target:
            return True
        visited, edge = {source}, [source]
        seen_behind, edge_behind = {target}, [target]
        while edge and edge_behind:
            if len(edge) <= len(edge_behind):
                edge = _next(edge, self._after, visited)
            else:
                edge_behind = _next(edge_behind, self._before, seen_behind)
            if not visited.isdisjoint(edge_behind) or not seen_behind.isdisjoint(edge):
                return True
        return False


def _next(
    edge: Iterable[object], lines: Mapping[object, Iterable[object]], visited: set[object]
) -> list[object]:
    """Nodes one line further on that were not seen before."""
    nodes = list(dict.fromkeys(n for node in edge for n in lines.get(node, ()) if n not in visited))
    visited.update(nodes)
    return nodes


Key = TypeVar("Key")
_LOGGER = logging.getLogger(__name__)

#: Rings are listed up to this number; dense graphs have more rings than anyone reads.
MOST_LOOPS = 2000


class Loop(Struct):
    """A closed ring of connections, and all rings with the same delay.

    connections: The lines of one of these rings, in order; each ends at the component where the
        next begins.
    feedthrough: For each connection, whether its target passes the signal on to the next connection
        without a state in between.
    count: How many rings of ports these are.
    lines: All connections of these rings.
    within_ns: Delay that components around the ring bring themselves, as twins of devices do,
        nanoseconds.
    """

    connections: tuple[Connection, ...]
    feedthrough: tuple[bool, ...]
    count: int
    lines: tuple[Connection, ...]
    within_ns: int = 0

    @property
    def physical_ns(self) -> int:
        """Sum of the delays of lines and components around the ring, in nanoseconds."""
        declared = sum(line.delay.nominal_ns for line in self.connections if line.delay)
        return declared + self.within_ns

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components around the ring."""
        return tuple(line.source.component for line in self.connections)

    def __str__(self) -> str:
        return " -> ".join([*map(str, (c.source for c in self.connections)), self.components[0]])


class _Bundle(Struct, eq=False):
    """Lines between two components that are equally late, and act alike before and behind."""

    lines: tuple[Connection, ...]
    lateness: object


class _Ways(MutableStruct):
    """Rings that are alike, as far as they are laid: one of them, their number, all lines."""

    ring: tuple[Connection, ...]
    count: int
    lines: dict[Connection, None]


#: Whether a line acts on the next one, and whether it does so at once.
Acts = Callable[[Connection, Connection], tuple[bool, bool]]
#: How late each line of a ring is, and whether what it brings is passed on at once.
_Kind = tuple[tuple[object, bool], ...]


def closed_loops(system: System) -> list[Loop]:
    """List the closed loops of a system, at most :data:`MOST_LOOPS`, sorted by length.

    A component passes an input on to an output at once where it has direct feed-through, else
    through its states; where it has no state, it does not (:meth:`Component.passes`). A loop
    visits a component once: a longer ring is made of such loops.
    """
    acts = _acting(system)
    bundles = _bundles(system)
    # numbers, whose sets have the same order in every process: names have not
    names = sorted({name for ends in bundles for name in ends})
    number = {name: i for i, name in enumerate(names)}
    loops = (
        loop
        for ring in circuits((number[source], number[target]) for source, target in bundles)
        for loop in _around(
            [bundles[names[i], names[j]] for i, j in pairwise([*ring, ring[0]])], acts
        )
    )
    ordered = sorted(islice(loops, MOST_LOOPS), key=_order)
    if next(loops, None) is not None:
        _LOGGER.warning(
            "system '%s' has more than %d closed loops; the rest is neither reported nor held to"
            " its declared delay: join its signals in fewer components",
            system.name,
            MOST_LOOPS,
        )
    return [replace(loop, within_ns=_within_ns(system, loop)) for loop in ordered]


def _around(stretches: list[list[_Bundle]], acts: Acts) -> Iterator[Loop]:
    """Give the loops around a ring of components, for the bundles between each and the next."""
    if all(len(stretch) == 1 for stretch in stretches):
        yield from _only_one([stretch[0] for stretch in stretches], acts)
        return
    rings: dict[_Kind, _Ways] = {}
    for first in stretches[0]:
        begun = _Ways((first.lines[0],), len(first.lines), dict.fromkeys(first.lines))
        reached: dict[tuple[_Bundle, _Kind], _Ways] = {(first, ()): begun}
        for stretch in stretches[1:]:
            reached = _further(reached, stretch, acts)
        for (last, kind), ways in reached.items():
            passes, at_once = acts(last.lines[0], first.lines[0])
            if passes:
                _put(rings, (*kind, (last.lateness, at_once)), ways)
    for kind, ways in rings.items():
        feedthrough = tuple(at_once for _, at_once in kind)
        yield _begun(ways, feedthrough)


def _only_one(ring: list[_Bundle], acts: Acts) -> Iterator[Loop]:
    """Give the loop where there is one bundle to each next component: in time that is linear."""
    acting = [acts(member.lines[0], after.lines[0]) for member, after in pairwise([*ring, ring[0]])]
    if all(passes for passes, _ in acting):
        lines = dict.fromkeys(line for bundle in ring for line in bundle.lines)
        count = prod(len(bundle.lines) for bundle in ring)
        ways = _Ways(tuple(bundle.lines[0] for bundle in ring), count, lines)
        yield _begun(ways, tuple(at_once for _, at_once in acting))


def _further(
    reached: dict[tuple[_Bundle, _Kind], _Ways], stretch: list[_Bundle], acts: Acts
) -> dict[tuple[_Bundle, _Kind], _Ways]:
    """Lay all ways along one more stretch."""
    extended: dict[tuple[_Bundle, _Kind], _Ways] = {}
    for (last, kind), ways in reached.items():
        for after in stretch:
            passes, at_once = acts(last.lines[0], after.lines[0])
            if passes:
                longer = _Ways(
                    (*ways.ring, after.lines[0]),
                    ways.count * len(after.lines),
                    ways.lines | dict.fromkeys(after.lines),
                )
                _put(extended, (after, (*kind, (last.lateness, at_once))), longer)
    return extended


def _put(groups: dict[Key, _Ways], key: Key, ways: _Ways) -> None:
    if (ways_so_far := groups.setdefault(key, ways)) is not ways:
        ways_so_far.count += ways.count
        ways_so_far.lines |= ways.lines


def _acting(system: System) -> Acts:
    cache: dict[tuple[Endpoint, str], tuple[bool, bool]] = {}

    def acts(line: Connection, after: Connection) -> tuple[bool, bool]:
        through = line.target, after.source.connector
        if through not in cache:
            component = system.components[line.target.component]
            ends = line.target.connector, after.source.connector
            cache[through] = component.passes(*ends), ends[0] in component.direct_inputs(ends[1])
        return cache[through]

    return acts


class _Through:
    """How the connected inputs of a component act on its connected outputs."""

    def __init__(self, component: Component, fed: frozenset[str], feeding: frozenset[str]) -> None:
        self._component, self._fed, self._feeding = component, fed, feeding
        self._known: dict[tuple[str, ...] | None, object] = {}
        # Outputs that an input acts on at once, except outputs that all inputs act on.
        self._outputs: dict[str, list[str]] = {}
        self._all_act = False
        for output in component.of(Causality.OUTPUT):
            direct = component.feedthrough.get(output.name)
            self._all_act = self._all_act or direct is None
            for name in direct or ():
                self._outputs.setdefault(name, []).append(output.name)

    def acting_on(self, output: str) -> object:
        """Equal for outputs that the inputs act on alike, if at all and at once."""
        direct = self._component.feedthrough.get(output)
        if direct not in self._known:
            at_once = self._fed if direct is None else self._fed.intersection(direct)
            later = self._component.has_states or direct == ()
            self._known[direct] = (at_once, later) if self._fed else ()
        return self._known[direct]

    def acted_on_by(self, name: str) -> tuple[object, bool]:
        """Equal for inputs that act alike on the outputs; and whether one acts on any at once."""
        outputs = self._outputs.get(name, [])
        return self._feeding.intersection(outputs), self._all_act or bool(outputs)


def _bundles(system: System) -> dict[tuple[str, str], list[_Bundle]]:
    """Lines between two components, lines with equal effect together; by the components' names."""
    into: dict[str, list[Connection]] = {}
    out_of: dict[str, list[Connection]] = {}
    between: dict[tuple[str, str], list[Connection]] = {}
    for line in sorted(system.connections, key=lambda line: (*line.source, *line.target)):
        source, target = line.source.component, line.target.component
        into.setdefault(target, []).append(line)
        out_of.setdefault(source, []).append(line)
        between.setdefault((source, target), []).append(line)

    @cache
    def through(name: str) -> _Through:
        fed = frozenset(line.target.connector for line in into.get(name, ()))
        feeding = frozenset(line.source.connector for line in out_of.get(name, ()))
        return _Through(system.components[name], fed, feeding)

    bundles: dict[tuple[str, str], list[_Bundle]] = {}
    for (source, target), lines in between.items():
        alike: dict[tuple[object, ...], list[Connection]] = {}
        for line in lines if len(lines) > 1 else ():
            before = through(source).acting_on(line.source.connector)
            after, at_once = through(target).acted_on_by(line.target.connector)
            alike.setdefault((_lateness(system, line, at_once), before, after), []).append(line)
        bundles[source, target] = [
            _Bundle(tuple(some), lateness) for (lateness, *_), some in alike.items()
        ] or [_Bundle(tuple(lines), None)]  # there is none that it would differ from
    return bundles


def _lateness(system: System, line: Connection, at_once: bool) -> object:  # noqa: FBT001
    """Equal for lines that every algorithm reads equally late; each delay is read for itself."""
    if line.delay is not None:
        return line.target
    source = system.components[line.source.component]
    return (
        *((codec.name, value) for codec, value in attributes_on(line) if codec.combined),
        isinstance(line.transformation, MappingTransformation),
        source.connectors[line.source.connector].type,
        source.changes_at_events(line.source.connector),
        source.late_ns.get(line.source.connector, 0),
        at_once,
    )


def _begun(ways: _Ways, feedthrough: tuple[bool, ...]) -> Loop:
    """Begin a ring at its smallest source, so that its spelling never changes."""
    ring = ways.ring
    first = min(range(len(ring)), key=lambda i: ring[i].source)
    return Loop(
        ring[first:] + ring[:first],
        feedthrough[first:] + feedthrough[:first],
        ways.count,
        tuple(ways.lines),
    )


def _within_ns(system: System, loop: Loop) -> int:
    ends = (line.source for line in loop.connections)
    return sum(system.components[end.component].late_ns.get(end.connector, 0) for end in ends)


def _order(loop: Loop) -> tuple[int, list[Endpoint], tuple[bool, ...]]:
    ends = [end for line in loop.connections for end in line.ends]
    return len(loop.connections), ends, loop.feedthrough
