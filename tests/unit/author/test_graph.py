"""A networkx graph becomes a system, and a system a graph that any algorithm may be asked of."""

from dataclasses import replace

import networkx as nx
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Endpoint, System


def ordered(system):
    """A graph lists edges by their nodes: the order of connections is its own."""
    return replace(system, connections=tuple(sorted(system.connections, key=str)))


def test_plain_attributes_are_enough():
    graph = nx.DiGraph(name="loop")
    graph.add_node("body", source="Body.fmu", values={"m": 2.0}, options={"isolation": "process"})
    graph.add_node("wall", source="block:spring")
    graph.add_edge("body", "wall", source="position", target="x", delay="16 ms")
    graph.add_edge("wall", "body", source="force", target="f", factor=-1.0)
    system = System.from_graph(graph)
    assert str(system.components["body"].source) == "Body.fmu"
    assert system.components["body"].values == {"m": 2.0}
    assert system.components["body"].options.isolation == "process"
    assert list(map(str, system.connections)) == ["body.position -> wall.x", "wall.force -> body.f"]
    assert system.connections[0].delay.nominal_ns == 16_000_000
    assert system.connections[1].transformation.factor == -1.0


def test_all_that_is_wrong_is_told_together():
    graph = nx.MultiDiGraph()
    graph.add_node("a", source="x.exe")
    graph.add_node("b")
    graph.add_node("c", source="block:c", value={})
    graph.add_node(4, source="block:c")
    graph.add_edge("a", "b", source="y")
    graph.add_edge("a", "c", source="y", target="u", dely=1)
    with pytest.raises(DescriptionError) as error:
        System.from_graph(graph)
    told = error.value.problems
    assert "node 'a': component source 'x.exe'" in told[0]
    assert "node 'b': expected the attribute component=Component, or source=" in told[1]
    assert told[2].startswith("node 'c': no attribute 'value'. Did you mean 'values'?")
    assert told[3].startswith("node 4: expected a name")
    assert "edge a -> b: expected the attribute connection=Connection, or source and" in told[4]
    assert told[5].startswith("edge a -> c: no attribute 'dely'. Did you mean 'delay'?")
    assert len(told) == 6


def test_a_graph_without_directions_is_refused(wording):
    with wording.raises(DescriptionError):
        System.from_graph(nx.Graph())


def test_a_nested_system_is_a_graph_of_paths(rig):
    graph = rig.graph
    assert set(graph) == {"spring", "arm/motor"}
    assert nx.is_strongly_connected(graph)
    assert nx.shortest_path_length(graph, "spring", "arm/motor", weight="delay") == 0.0
    assert ordered(System.from_graph(graph)) == ordered(rig.flat())


def test_own_connectors_are_one_node(arm):
    graph = arm.graph
    assert set(graph) == {"", "motor"}
    assert ordered(System.from_graph(graph)) == ordered(arm)
    renamed = nx.relabel_nodes(graph, {"motor": "engine"})
    ends = {line.target for line in System.from_graph(renamed).connections}
    assert Endpoint("engine", "u") in ends
