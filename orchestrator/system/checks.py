"""Checks of a system graph; every problem is found before any is raised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite

import networkx as nx

from orchestrator.errors import (
    AlgebraicLoopError,
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
)
from orchestrator.system.component import Component
from orchestrator.system.connection import Connection, Endpoint
from orchestrator.system.connector import Causality, Connector, DataType, Value
from orchestrator.system.conversion import conversion_between
from orchestrator.system.naming import unknown
from orchestrator.system.transformation import MappingTransformation

Components = Mapping[str, Component]
_SIGNALS = (Causality.INPUT, Causality.OUTPUT)


def expected_value(connector: Connector) -> str:
    """Say in words what kind of value a connector takes."""
    shape = ""
    if connector.shape:
        shape = f" array of shape {connector.shape} as a tuple of {connector.size} numbers"
    return f"{connector.type}{shape}" + (f" in {connector.unit}" if connector.unit else "")


def problems(
    components: Components, connections: Sequence[Connection], *, open_inputs: bool = False
) -> list[DescriptionError]:
    """All problems of a system, most basic first; the system itself is under no name.

    ``open_inputs``: inputs without a source or a value are none, since the system is being made.
    """
    found: list[DescriptionError] = []
    sound = []
    for line in connections:
        wrong = list(_ends(components, line))
        found += wrong
        if not wrong:
            sound.append(line)
    for line in sound:
        found += _match(components, line)
    found += _sources(sound)
    parts = {name: component for name, component in components.items() if name}
    found += _values(parts)
    if not open_inputs:
        found += _unconnected(parts, connections)
    return found


def sound(components: Components, connections: Sequence[Connection]) -> list[Connection]:
    """Return the connections whose ends exist."""
    return [line for line in connections if not any(_ends(components, line))]


def _ends(components: Components, line: Connection) -> Iterator[DescriptionError]:
    where = f"connection {line}"
    sides = ((line.source, Causality.OUTPUT), (line.target, Causality.INPUT))
    for end, wanted in sides:
        component = components.get(end.component)
        if component is None:
            yield unknown("component", end.component, components, where)
            continue
        connector = component.connectors.get(end.connector)
        if connector is None:
            names = (c.name for c in component.of(wanted))
            yield unknown(f"{wanted} connector", end.connector, names, where)
        elif connector.causality is not wanted and not _hands_on(components, line):
            yield ConnectorMismatchError(
                f"{where}: '{end}' is an {connector.causality}, expected an {wanted}"
                if connector.causality is not Causality.PARAMETER
                else f"{where}: '{end}' is a parameter, expected an {wanted}"
            )


def _hands_on(components: Components, line: Connection) -> bool:
    """Whether a line is one of parameters, from or to a connector of the system itself."""
    ends = (line.source, line.target)
    if all(end.component for end in ends):
        return False
    found = [components[end.component].connectors.get(end.connector) for end in ends]
    return all(c is not None and c.causality not in _SIGNALS for c in found)


def _match(components: Components, line: Connection) -> Iterator[DescriptionError]:
    source = components[line.source.component].connectors[line.source.connector]
    target = components[line.target.component].connectors[line.target.connector]
    where = f"connection {line}"
    if source.type is not target.type:
        yield ConnectorMismatchError(
            f"{where}: type {source.type} is connected to {target.type}; expected equal types"
        )
    if source.shape != target.shape:
        yield ConnectorMismatchError(
            f"{where}: shape {source.shape} is connected to {target.shape}; expected equal shapes"
        )
    if not line.suppress_unit_conversion:
        try:
            conversion_between(source, target)
        except UnitMismatchError as error:
            yield UnitMismatchError(f"{where}: {error}")
    mapping = isinstance(line.transformation, MappingTransformation)
    if mapping and source.type not in {DataType.BOOLEAN, DataType.INTEGER}:
        yield ConnectorMismatchError(
            f"{where}: a table of values is for Boolean, Integer and enumeration connectors,"
            f" found {source.type}"
        )
    yield from _between_samples(line, source)


def _between_samples(line: Connection, source: Connector) -> Iterator[DescriptionError]:
    """Whether a signal can be interpolated and extrapolated as its connection says."""
    held = {None, "hold"}
    ways = {"interpolation": line.interpolation, "extrapolation": line.extrapolation}
    for what, way in ways.items():
        if way not in held and source.type is not DataType.REAL:
            yield DescriptionError(
                f"connection {line}: {what} '{way}' is for Real signals, found {source.type};"
                " expected hold"
            )
    if line.interpolation != "slerp":
        return
    if source.shape != (4,):
        yield DescriptionError(
            f"connection {line}: interpolation 'slerp' is for quaternions, connectors of shape"
            f" (4,); found shape {source.shape}"
        )
    if line.transformation is not None:
        yield DescriptionError(
            f"connection {line}: interpolation 'slerp' is for unit quaternions; expected no factor"
            " and no offset"
        )


def _sources(connections: Iterable[Connection]) -> Iterator[DescriptionError]:
    by_target: dict[Endpoint, list[Connection]] = {}
    for line in connections:
        by_target.setdefault(line.target, []).append(line)
    for target, lines in by_target.items():
        if len(lines) > 1:
            sources = " and ".join(f"'{line.source}'" for line in lines)
            yield ConnectorMismatchError(
                f"input '{target}' has {len(lines)} sources, {sources}; expected one:"
                " remove one connection, or add the signals in a block"
            )


def _values(components: Components) -> Iterator[DescriptionError]:
    for component in components.values():
        where = f"component '{component.name}' ({component.source})"
        for name, value in component.values.items():
            connector = component.connectors.get(name)
            if connector is None:
                settable = [c.name for c in component.of(Causality.PARAMETER)]
                settable += [c.name for c in component.of(Causality.INPUT)]
                yield unknown("parameter", name, settable, where)
            elif connector.causality is Causality.OUTPUT:
                yield DescriptionError(f"{where}: '{name}' is an output and cannot be set")
            elif not connector.accepts(value):
                yield DescriptionError(
                    f"{where}: parameter '{name}': expected {expected_value(connector)},"
                    f" found {value!r}"
                )
            elif not all(isfinite(v) for v in _numbers(value)):
                yield DescriptionError(
                    f"{where}: parameter '{name}': expected a finite number, found {value!r}"
                )


def _numbers(value: Value) -> tuple[float, ...]:
    elements = value if isinstance(value, tuple) else (value,)
    return tuple(v for v in elements if not isinstance(v, (str, bytes)))


def _unconnected(
    components: Components, connections: Sequence[Connection]
) -> Iterator[DescriptionError]:
    fed = {line.target for line in connections}
    for component in components.values():
        for connector in component.of(Causality.INPUT):
            end = Endpoint(component.name, connector.name)
            ticks_alone = connector.type is DataType.CLOCK  # an input clock may stay silent
            if end not in fed and connector.name not in component.values and not ticks_alone:
                yield DescriptionError(
                    f"input '{end}' ({expected_value(connector)}) is not connected;"
                    " connect it, or set a value that it keeps"
                )


def feedthrough_graph(
    components: Components, connections: Iterable[Connection]
) -> nx.DiGraph[Endpoint]:
    """Ports joined by what acts at once: direct feed-through, and connections without a delay.

    Connections into clocks and discrete inputs of event mode are left out: during a step nothing
    goes along them, and in event mode the units are repeated until nothing changes.
    """
    graph: nx.DiGraph[Endpoint] = nx.DiGraph()
    graph.add_edges_from(
        (line.source, line.target)
        for line in connections
        if line.delay is None
        and line.source.component
        and line.target.component
        and not components[line.target.component].changes_at_events(line.target.connector)
    )
    for component in components.values():
        for output in component.of(Causality.OUTPUT):
            end = Endpoint(component.name, output.name)
            for name in component.direct_inputs(output.name):
                graph.add_edge(Endpoint(component.name, name), end)
    return graph


def algebraic_loops(
    components: Components, connections: Iterable[Connection]
) -> Iterator[DescriptionError]:
    """Loops of direct feed-through that no delay cuts, of connections whose ends exist."""
    graph = feedthrough_graph(components, connections)
    for group in nx.strongly_connected_components(graph):
        if len(group) > 1:
            ends = [edge[0] for edge in nx.find_cycle(graph.subgraph(group))]
            first = ends.index(min(ends))
            ring = [*ends[first:], *ends[:first], ends[first]]
            yield AlgebraicLoopError(
                "algebraic loop without a delay: "
                + " -> ".join(map(str, ring))
                + "; put a delay on one of its connections, let one unit respond through a state,"
                " or choose an algorithm that iterates: 'newton' or 'fixed-point'"
            )
