"""Which component stands in which column of a diagram, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

Weights = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Link:
    """Two neighbouring slots that a line joins, with where it leaves and enters (from the top)."""

    left: str
    left_offset: float
    right: str
    right_offset: float


def forward_order(names: Sequence[str], weights: Weights) -> list[str]:
    """Order components so that few connections lead back.

    Starting from the given order, components are moved one by one for as long as a move leaves
    fewer connections that lead back; of equal orders the given one stays.

    Parameters
    ----------
    names
        Components in the order of their definition.
    weights
        Number of connections by source and target.

    References
    ----------
    Eades, Lin, Smyth: A fast and effective heuristic for the feedback arc set problem (1993),
    for the purpose; insertion moves are simpler and find the optimum for the few boxes of a
    drawing.
    """
    order = list(names)

    def backward(candidate: list[str]) -> int:
        place = {name: i for i, name in enumerate(candidate)}
        return sum(n for (a, b), n in weights.items() if place[a] > place[b])

    best = backward(order)
    improved = True
    while improved and best:
        improved = False
        for name in names:
            rest = [n for n in order if n != name]
            for i in range(len(order)):
                moved = [*rest[:i], name, *rest[i:]]
                cost = backward(moved)
                if cost < best:
                    order, best, improved = moved, cost, True
    return order


def assign_layers(names: Sequence[str], weights: Weights) -> dict[str, int]:
    """Column of every component: longest path over the connections that lead forward."""
    place = {name: i for i, name in enumerate(forward_order(names, weights))}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((a, b) for a, b in weights if place[a] < place[b])
    layer = {name: i for i, group in enumerate(nx.topological_generations(graph)) for name in group}
    for name in sorted(names, key=lambda n: -place[n]):
        followers = [layer[after] for after in graph.successors(name)]
        if followers and not graph.in_degree(name):
            layer[name] = min(followers) - 1  # a source stands next to what it feeds
    return layer


def order_slots(columns: Sequence[Sequence[str]], links: Iterable[Link]) -> list[list[str]]:
    """Order the slots of every column by the barycentre of their neighbours.

    References
    ----------
    Sugiyama, Tagawa, Toda: Methods for visual understanding of hierarchical system structures,
    IEEE Trans. SMC 11 (1981), section III. The sweep with the fewest crossings is kept.
    """
    listed = list(links)
    current = [list(column) for column in columns]
    best, fewest = current, _crossings(current, listed)
    for sweep in range(8):
        rightward = sweep % 2 == 0
        current = [list(column) for column in current]
        for i in range(len(current)) if rightward else reversed(range(len(current))):
            rank = {name: k for column in current for k, name in enumerate(column)}
            centre = _barycentres(current[i], rank, listed, rightward=rightward)
            current[i].sort(key=lambda name: centre[name])
        crossings = _crossings(current, listed)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def _barycentres(
    column: Sequence[str], rank: Mapping[str, int], links: Sequence[Link], *, rightward: bool
) -> dict[str, float]:
    centre = {}
    for name in column:
        if rightward:
            at = [rank[k.left] + k.left_offset / 1e3 for k in links if k.right == name]
        else:
            at = [rank[k.right] + k.right_offset / 1e3 for k in links if k.left == name]
        centre[name] = sum(at) / len(at) if at else float(rank[name])
    return centre


def _crossings(columns: Sequence[Sequence[str]], links: Sequence[Link]) -> int:
    rank = {name: (i, k) for i, column in enumerate(columns) for k, name in enumerate(column)}
    ends = [
        (rank[k.left][0], (rank[k.left][1], k.left_offset), (rank[k.right][1], k.right_offset))
        for k in links
    ]
    return sum(
        (a[1] < b[1]) != (a[2] < b[2])
        for i, a in enumerate(ends)
        for b in ends[:i]
        if a[0] == b[0] and a[1] != b[1] and a[2] != b[2]
    )
