"""A system as a networkx graph, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import networkx as nx

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import replace
from orchestrator.core.system.component import Component
from orchestrator.core.system.connecting import connect
from orchestrator.core.system.connection import Connection
from orchestrator.core.system.line_attributes import LineSettings
from orchestrator.core.system.naming import unknown
from orchestrator.core.system.source import Source

if TYPE_CHECKING:
    from orchestrator.core.system.system import System

#: Attributes of an edge, in addition to those of :meth:`System.connect`.
_ENDS = ("source", "target")
_LINE = tuple(LineSettings.__annotations__)
_SYSTEM = ("experiment", "description", "connectors", "values", "power_ports")
_NODE = ("component", "source", "values", "options")


def graph_of(system: System) -> nx.MultiDiGraph[str]:
    """Return a system as a graph.

    Nodes are component names with attribute ``component``; every connection is an edge with
    attributes ``connection`` and ``delay`` (seconds); graph attributes are ``name``,
    ``description`` and ``experiment``. The system's own connectors are the node ``""``, if a
    connection leads to one. A hierarchical system is made flat first: nodes are paths, such as
    ``"arm/motor"``. The graph is frozen: ask it anything, change a copy, and come back with
    :meth:`System.from_graph`.
    """
    system = system.flat()
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(
        name=system.name, **{key: getattr(system, key) for key in _SYSTEM}
    )
    for name, component in system.components.items():
        graph.add_node(name, component=component)
    for line in system.connections:
        delay = line.delay.nominal_ns / 1e9 if line.delay else 0.0
        graph.add_edge(line.source.component, line.target.component, connection=line, delay=delay)
    frozen: nx.MultiDiGraph[str] = nx.freeze(graph)
    return frozen


def system_of(graph: nx.MultiDiGraph[str] | nx.DiGraph[str], make: Callable[..., System]) -> System:
    """Make a flat system of a graph.

    Names are those of the nodes, so that relabelled graphs come back right; connections are in the
    order of the graph's edges.

    A node carries ``component=Component``, or ``source="x.fmu"`` or ``"block:name"`` with
    ``values`` and ``options`` as mappings; its connectors then come from the source, when the
    system is resolved. An edge carries ``connection=Connection``, or ``source`` and ``target``, the
    names of the two connectors, with what :meth:`System.connect` takes besides: ``delay``,
    ``factor`` and so on. Of an edge with a ``connection`` its ``delay`` is what the graph says of
    it, so it is not looked at.
    """
    if not graph.is_directed():
        raise DescriptionError(
            "a graph without directions: expected a networkx DiGraph or MultiDiGraph, since a"
            " signal goes from an output to an input"
        )
    problems: list[DescriptionError] = []
    components: dict[str, Component] = {}
    for node, data in graph.nodes(data=True):
        if node == "" and "component" not in data:
            continue  # the system's own connectors
        try:
            components[node] = _component(node, data)
        except DescriptionError as error:
            problems.append(error)
    skeleton = make("", dict.fromkeys(graph))  # connections do not ask for more
    lines = []
    for source, target, data in graph.edges(data=True):
        try:
            lines.append(_connection(skeleton, source, target, data))
        except DescriptionError as error:
            problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    fields = {key: graph.graph[key] for key in _SYSTEM if key in graph.graph}
    return make(graph.graph.get("name") or "system", components, tuple(lines), **fields)


def _component(node: object, data: Mapping[str, Any]) -> Component:
    location = f"node {node!r}"
    if not isinstance(node, str):
        raise DescriptionError(f"{location}: expected a name, a text; relabel the graph")
    if isinstance(data.get("component"), Component):
        component: Component = data["component"]
        return replace(component, name=node)
    if "component" in data or "source" not in data:
        raise DescriptionError(
            f"{location}: expected the attribute component=Component, or source='x.fmu' or"
            f" 'block:name'; found {dict(data)!r}"
        )
    _only(location, data, _NODE)
    try:
        component = Component(node, Source.parse(str(data["source"])))
        options = component.options.changed(data.get("options", {}))
        return replace(component, options=options, values=dict(data.get("values", {})))
    except DescriptionError as error:
        raise DescriptionError(*(f"{location}: {text}" for text in error.problems)) from None


def _connection(system: System, source: str, target: str, data: Mapping[str, Any]) -> Connection:
    location = f"edge {source} -> {target}"
    line = data.get("connection")
    if isinstance(line, Connection):
        return replace(
            line,
            source=line.source._replace(component=source),
            target=line.target._replace(component=target),
        )
    if line is not None or any(not isinstance(data.get(end), str) for end in _ENDS):
        raise DescriptionError(
            f"{location}: expected the attribute connection=Connection, or source and target, the"
            f" names of the two connectors; found {dict(data)!r}"
        )
    _only(location, data, (*_ENDS, *_LINE))
    settings: Any = {key: value for key, value in data.items() if key in _LINE}
    ends = [
        f"{node}.{data[end]}" if node else data[end]
        for node, end in zip((source, target), _ENDS, strict=True)
    ]
    return connect(system, ends[0], ends[1], **settings).connections[-1]


def _only(location: str, data: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for key in data:
        if key not in allowed:
            raise unknown("attribute", key, allowed, location)
