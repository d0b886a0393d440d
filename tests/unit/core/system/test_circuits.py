"""Ways that come back, and parts that nothing joins, compared with networkx."""

import random

import networkx as nx

from orchestrator.core.system.loops import circuits, islands


def begun_at_least(ring):
    first = ring.index(min(ring))
    return ring[first:] + ring[:first]


def graphs():
    draw = random.Random(3)  # noqa: S311
    for _ in range(300):
        nodes = draw.randint(1, 8)
        ends = [draw.randrange(nodes) for _ in range(2 * draw.randint(0, 20))]
        yield nodes, set(zip(ends[::2], ends[1::2], strict=True))


def test_circuits_are_those_of_networkx_each_once():
    for _, edges in graphs():
        expected = nx.simple_cycles(nx.DiGraph(list(edges)))
        assert sorted(map(begun_at_least, circuits(edges))) == sorted(map(begun_at_least, expected))


def test_circuits_come_one_by_one():
    edges = ((i, j) for i in range(30) for j in range(30) if i != j)
    assert len(next(circuits(edges))) > 1  # all of them would take for ever


def test_islands_are_the_connected_parts_in_order():
    for nodes, edges in graphs():
        graph = nx.Graph(list(edges))
        graph.add_nodes_from(range(nodes))
        expected = sorted(sorted(part) for part in nx.connected_components(graph))
        assert islands(list(range(nodes)), edges) == expected
