"""A system as a networkx graph, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import networkx as nx

from orchestrator.errors import DescriptionError
from orchestrator.system.component import Component
from orchestrator.system.connection import Connection
from orchestrator.system.experiment import DefaultExperiment

if TYPE_CHECKING:
    from orchestrator.system.system import System


def graph_of(system: System) -> nx.MultiDiGraph[str]:
    """Return a flat system as a graph.

    Nodes are component names with attribute ``component``; every connection is an edge with
    attributes ``connection`` and ``delay`` (seconds); graph attributes are ``name``,
    ``description`` and ``experiment``. The graph is frozen: ask it anything, change a copy,
    and come back with :meth:`System.from_graph`.
    """
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(
        name=system.name, description=system.description, experiment=system.experiment
    )
    for name, component in system.components.items():
        graph.add_node(name, component=component)
    for line in system.connections:
        delay = line.delay.nominal_ns / 1e9 if line.delay else 0.0
        graph.add_edge(line.source.component, line.target.component, connection=line, delay=delay)
    frozen: nx.MultiDiGraph[str] = nx.freeze(graph)
    return frozen


def parts_of(graph: nx.MultiDiGraph[str]) -> dict[str, Any]:
    """Return what makes a system of a graph.

    Nodes carry ``component`` and edges ``connection``. Names are those of the nodes, so that
    relabelled graphs come back right; connections are in the order of the graph's edges.
    """
    components: dict[str, Component] = {}
    for node, data in graph.nodes(data=True):
        if not isinstance(data.get("component"), Component):
            raise DescriptionError(f"node '{node}': expected the attribute component=Component")
        components[node] = replace(data["component"], name=node)
    connections = []
    for source, target, data in graph.edges(data=True):
        line = data.get("connection")
        if not isinstance(line, Connection):
            raise DescriptionError(
                f"edge {source} -> {target}: expected the attribute connection=Connection,"
                f" found {line!r}"
            )
        connections.append(
            replace(
                line,
                source=replace(line.source, component=source),
                target=replace(line.target, component=target),
            )
        )
    return {
        "name": graph.graph.get("name", "system"),
        "components": components,
        "connections": tuple(connections),
        "experiment": graph.graph.get("experiment", DefaultExperiment()),
        "description": graph.graph.get("description", ""),
    }
