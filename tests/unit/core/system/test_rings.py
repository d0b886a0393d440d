"""Rings of a graph against networkx, on graphs at random."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.system.loops import Ways, has_ring, ordered_rings

NODES = st.integers(0, 8)
EDGES = st.lists(st.tuples(NODES, NODES), max_size=16)


@given(EDGES, st.permutations(range(9)))
def test_rings_are_ordered_as_networkx_orders_them(edges, names):
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    place = {name: i for i, name in enumerate(names)}
    rings = nx.condensation(graph)
    members = {
        ring: sorted(data["members"], key=place.__getitem__)
        for ring, data in rings.nodes(data=True)
    }
    order = nx.lexicographical_topological_sort(rings, key=lambda ring: place[members[ring][0]])
    assert ordered_rings(names, edges) == [members[ring] for ring in order]


@given(EDGES)
def test_a_ring_is_found_where_there_is_one(edges):
    graph = nx.DiGraph(edges)
    assert has_ring(edges) == (not nx.is_directed_acyclic_graph(graph))


@given(EDGES, NODES, NODES)
def test_a_way_is_found_where_there_is_one(edges, source, target):
    graph = nx.DiGraph(edges)
    graph.add_nodes_from((source, target))
    ways = Ways()
    for edge in edges:
        ways.add(*edge)
    assert ways.lead(source, target) == nx.has_path(graph, source, target)


def test_edges_of_other_names_are_left_out():
    assert ordered_rings(["b", "a"], [("a", "b"), ("b", "c"), ("c", "a")]) == [["a"], ["b"]]
    assert ordered_rings(["a"], [("a", "a")]) == [["a"]]


def test_a_long_chain_needs_no_recursion():
    count = 20_000
    names = list(range(count))
    chain = [(i + 1, i) for i in range(count - 1)]
    assert ordered_rings(names, chain) == [[i] for i in reversed(names)]
    assert not has_ring(chain)
    assert ordered_rings(names, [*chain, (0, count - 1)]) == [names]
