"""Rings of a directed graph: nodes that reach each other, and the order that rings have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

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
    place = {name: i for i, name in enumerate(names)}
    after: list[list[int]] = [[] for _ in names]
    for source, target in edges:
        if source in place and target in place:
            after[place[source]].append(place[target])
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
        targets, found = stack[-1]
        for target in targets:
            if target == start:
                if len(path) > 1:
                    yield path[:]
                    found[0] = True
            elif target not in blocked:
                path.append(target)
                blocked.add(target)
                stack.append((iter(sorted(after[target])), [False]))
                break
        else:
            stack.pop()
            node = path.pop()
            if found[0]:
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
        one = free.pop()
        if one in blocked:
            blocked.discard(one)
            free |= waiting[one]
            waiting[one].clear()


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
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    for root in range(len(after)):
        if root in number:
            continue
        path = [(root, iter(after[root]))]
        number[root] = lowest[root] = len(number)
        stack.append(root)
        waiting.add(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in number:
                    number[target] = lowest[target] = len(number)
                    stack.append(target)
                    waiting.add(target)
                    path.append((target, iter(after[target])))
                    break
                if target in waiting:
                    lowest[node] = min(lowest[node], number[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    ring: list[int] = []
                    while not ring or ring[-1] != node:
                        ring.append(stack.pop())
                        waiting.discard(ring[-1])
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
        seen, edge = {source}, [source]
        seen_behind, edge_behind = {target}, [target]
        while edge and edge_behind:
            if len(edge) <= len(edge_behind):
                edge = _next(edge, self._after, seen)
            else:
                edge_behind = _next(edge_behind, self._before, seen_behind)
            if not seen.isdisjoint(edge_behind) or not seen_behind.isdisjoint(edge):
                return True
        return False


def _next(
    edge: Iterable[object], lines: Mapping[object, Iterable[object]], seen: set[object]
) -> list[object]:
    """Nodes one line further on that were not seen before."""
    found = list(dict.fromkeys(n for node in edge for n in lines.get(node, ()) if n not in seen))
    seen.update(found)
    return found
