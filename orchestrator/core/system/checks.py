"""Checks of a system graph; every problem is found before any is raised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from orchestrator.core.diagnostics import (
    AlgebraicLoopError,
    ConnectorMismatchError,
    DescriptionError,
    Diagnostic,
    UnitMismatchError,
    UnknownNameError,
    first_of,
    with_article,
)
from orchestrator.core.system.component import Component
from orchestrator.core.system.connection import Connection, Endpoint
from orchestrator.core.system.line_attributes import attributes_on
from orchestrator.core.system.loops import has_ring
from orchestrator.core.system.naming import fits_float, unknown
from orchestrator.core.system.ports import Causality, Connector, DataType, Value, conversion_between
from orchestrator.core.system.source import SourceKind
from orchestrator.core.units.conversion import is_unit

Components = Mapping[str, Component]
_SIGNALS = (Causality.INPUT, Causality.OUTPUT)
#: Why a system that was connected may have no connections.
_COPIES = "System.connect returns a new system and leaves the old one unchanged"
#: Connectors of an unknown unit that a note names.
_MOST_USERS = 5


#: Types that hold every value of another one.
_WIDER: Mapping[DataType, tuple[DataType, ...]] = {
    DataType.BOOLEAN: (DataType.INTEGER, DataType.REAL),
    DataType.INTEGER: (DataType.REAL,),
}


def value_misfit(connector: Connector, value: object) -> str:
    """Describe a value that a connector does not accept."""
    text = f"expected {expected_value(connector)}, found {value!r}"
    begins_as_number = isinstance(value, str) and value.lstrip("+-. ")[:1].isdigit()
    if begins_as_number and not connector.type.is_text and connector.enumeration is None:
        unit = f", in {connector.unit}" if connector.unit else ""
        text += f"; write only the number{unit}"
    return text


def expected_value(connector: Connector) -> str:
    """Say in words what kind of value a connector takes."""
    shape = ""
    if connector.shape:
        shape = f" array of shape {connector.shape} as a tuple of {connector.size} numbers"
    if connector.enumeration is not None:
        shape += f", or an item of {connector.enumeration.name}: "
        shape += ", ".join(connector.enumeration.items)
    unit = f" in {connector.unit}" if connector.unit else ""
    return f"{with_article(connector.type)}{shape}{unit}"


def users_of_units(connectors: Iterable[Connector]) -> dict[str, list[str]]:
    """Return quoted names of connectors by the unit, of units that no file defines."""
    users: dict[str, list[str]] = {}
    for connector in connectors:
        if connector.unit is not None and connector.unit_definition is None:
            users.setdefault(connector.unit, []).append(f"'{connector.name}'")
    return users


def unit_notes(components: Iterable[Component]) -> list[str]:
    """Say of each component which of its units are not known, in sentences."""
    return [
        f"component '{component.name}' ({component.source}): unit '{unit}' of"
        f" {first_of(users, _MOST_USERS)} is not known, so no value is converted to or from it;"
        " expected Modelica notation such as 'N', 'N.s/m' or '1'"
        for component in components
        for unit, users in users_of_units(component.connectors.values()).items()
        if not is_unit(unit)
    ]


def problems(components: Components, connections: Sequence[Connection]) -> list[DescriptionError]:
    """All problems of a system, most basic first; the system itself is under no name."""
    errors: list[DescriptionError] = []
    existing = []
    for line in connections:
        misplaced = list(endpoints(components, line))
        errors += misplaced
        if not misplaced:
            existing.append(line)
    for line in existing:
        errors += misfits(components, line)
    errors += sources(existing)
    parts = [component for name, component in components.items() if name]
    for component in parts:
        errors += values(component)
    errors += without_consequences(errors, unconnected(parts, connections))
    return errors


def without_consequences(
    errors: Iterable[DescriptionError], consequences: Iterable[DescriptionError]
) -> list[DescriptionError]:
    """Leave out errors of inputs that are open only because a connection names them wrongly."""
    diagnostics = [diagnostic for error in errors for diagnostic in error.diagnostics]
    meant = {end for diagnostic in diagnostics for end in meant_ends(diagnostic)}
    return [error for error in consequences if error.diagnostics[0].key not in meant]


def meant_ends(diagnostic: Diagnostic) -> Iterator[str]:
    """Yield the connectors that a wrong connection is probably meant for, by the nearest name."""
    source, arrow, target = diagnostic.key.partition(" -> ")
    if not arrow or diagnostic.code not in {"CON101", "CON102", "CON103"}:
        return
    yield target
    for end in (source, target) if diagnostic.hint else ():
        component, _, connector = end.rpartition(".")
        yield (
            f"{component}.{diagnostic.hint}"
            if diagnostic.code == "CON102"
            else f"{diagnostic.hint}.{connector}"
        )


def resolvable_connections(
    components: Components, connections: Sequence[Connection]
) -> list[Connection]:
    """Return the connections whose ends exist."""
    return [line for line in connections if not any(endpoints(components, line))]


def endpoints(components: Components, line: Connection) -> Iterator[DescriptionError]:
    """Whether both ends of a connection exist and have the right direction.

    The direction of an end says nothing while the other end does not exist: parameters may be
    connected with parameters.
    """
    missing = list(_missing_ends(components, line))
    yield from missing
    if missing or _propagates_parameter(components, line):
        return
    for end, expected in ((line.source, Causality.OUTPUT), (line.target, Causality.INPUT)):
        causality = components[end.component].connectors[end.connector].causality
        if causality is not expected:
            side = "start at" if expected is Causality.OUTPUT else "end at"
            text = (
                f"'{end}' is {with_article(causality)}; a connection must {side}"
                f" {with_article(expected)}"
            )
            location = f"connection {line}"
            yield ConnectorMismatchError.about(text, code="CON103", place=location, key=str(line))


def _missing_ends(components: Components, line: Connection) -> Iterator[UnknownNameError]:
    """Errors of the ends of a connection that do not exist."""
    sides = ((line.source, Causality.OUTPUT), (line.target, Causality.INPUT))
    for end, expected in sides:
        component = components.get(end.component)
        if component is None:
            yield _missing(end, components, line)
        elif end.connector not in component.connectors:
            kind, names = _candidates(components, line, end, expected)
            location, key = f"connection {line}", str(line)
            yield unknown(kind, end.connector, names, location, code="CON102", key=key)


def _candidates(
    components: Components, line: Connection, end: Endpoint, expected: Causality
) -> tuple[str, list[str]]:
    """Return the kind of connector that an end may name, and the names of the existing ones."""
    opposite = line.source if end is line.target else line.target
    holder = components.get(opposite.component)
    other_connector = None if holder is None else holder.connectors.get(opposite.connector)
    hands_on = other_connector is not None and not (end.component and opposite.component)
    if hands_on and other_connector is not None and other_connector.causality not in _SIGNALS:
        parameters = components[end.component].connectors.values()
        return "parameter", [c.name for c in parameters if c.causality not in _SIGNALS]
    return f"{expected} connector", [c.name for c in components[end.component].of(expected)]


def _missing(end: Endpoint, components: Components, line: Connection) -> UnknownNameError:
    """Make the error of an end whose component is not there; that without a name is the system."""
    location, key = f"connection {line}", str(line)
    parts = [name for name in components if name]
    if end.component:
        return unknown("component", end.component, parts, location, code="CON101", key=key)
    names = ", ".join(parts)
    text = (
        f"the system has no connectors of its own, such as '{end}'; expected component.connector"
        f" (components: {names or 'none'})"
    )
    return UnknownNameError.about(text, code="CON101", place=location, key=key)


def _propagates_parameter(components: Components, line: Connection) -> bool:
    """Whether a line is one of parameters, from or to a connector of the system itself."""
    both = line.ends
    if all(end.component for end in both):
        return False
    connectors = [components[end.component].connectors.get(end.connector) for end in both]
    return all(c is not None and c.causality not in _SIGNALS for c in connectors)


def misfits(components: Components, line: Connection) -> Iterator[DescriptionError]:
    """Whether the connectors and frames fit that a connection joins; both ends exist."""
    ends = [components[end.component].connectors[end.connector] for end in line.ends]
    yield from compatible(line, *ends)
    frames = [components[end.component].frame_of(end.connector) for end in line.ends]
    if None not in frames and frames[0] != frames[1]:
        text = f"from frame '{frames[0]}' to frame '{frames[1]}'; expected the same frame"
        location = f"connection {line}"
        yield ConnectorMismatchError.about(text, code="CON120", place=location, key=str(line))


def compatible(
    line: Connection, source: Connector, target: Connector
) -> Iterator[DescriptionError]:
    """Whether what a connection joins fits, and what stands on it fits the signal."""
    for kind, code, text in _misfits(line, source, target):
        yield kind.about(text, code=code, place=f"connection {line}", key=str(line))


def _misfits(
    line: Connection, source: Connector, target: Connector
) -> Iterator[tuple[type[DescriptionError], str, str]]:
    if source.type is not target.type and target.type not in _WIDER.get(source.type, ()):
        text = (
            f"type {source.type} is connected to {target.type}; expected matching types (Boolean"
            " and Integer can feed Real)"
        )
        yield ConnectorMismatchError, "CON104", text
    if source.shape != target.shape:
        text = f"shape {source.shape} is connected to {target.shape}; expected equal shapes"
        yield ConnectorMismatchError, "CON105", text
    if not line.suppress_unit_conversion:
        try:
            conversion_between(source, target)
        except UnitMismatchError as error:
            yield UnitMismatchError, "CON106", str(error)
    for attribute, _ in attributes_on(line):
        yield from attribute.misfits(line, source, target)


def sources(connections: Iterable[Connection]) -> Iterator[DescriptionError]:
    """Whether every target has one source."""
    by_target: dict[Endpoint, list[Connection]] = {}
    for line in connections:
        by_target.setdefault(line.target, []).append(line)
    for target, lines in by_target.items():
        if len(lines) > 1:
            names = list(dict.fromkeys(f"'{line.source}'" for line in lines))
            if len(names) == 1:
                text = (
                    f"input '{target}' is connected {len(lines)} times to {names[0]}; expected one"
                    " connection: remove the others"
                )
            else:
                text = (
                    f"input '{target}' has {len(names)} sources, {' and '.join(names)}; expected"
                    " one: remove one connection, or add the signals in a block"
                )
            yield ConnectorMismatchError.about(text, code="CON108", key=str(target))


def values(component: Component) -> Iterator[DescriptionError]:
    """Whether the values of a component fit its connectors."""
    location = f"component '{component.name}' ({component.source})"
    for name, value in component.values.items():
        connector, key = component.connectors.get(name), f"{component.name}.{name}"
        if connector is None:
            kinds = Causality.PARAMETER, Causality.INPUT
            settable = [c.name for kind in kinds for c in component.of(kind)]
            yield unknown("parameter", name, settable, location, code="VAL101", key=key)
        elif misfit := _misfit(component, connector, value):
            yield DescriptionError.about(misfit[1], code=misfit[0], place=location, key=key)


def _misfit(component: Component, connector: Connector, value: Value) -> tuple[str, str] | None:
    """Return the code and the message about a wrong value; ``None`` if the value is right."""
    name = connector.name
    is_fmu = component.source.kind is SourceKind.FMU  # whose outputs may have a start value to set
    if connector.causality is Causality.OUTPUT and not (is_fmu and connector.start is not None):
        return "VAL102", f"'{name}' is an output and cannot be set"
    problem = value_problem(connector, value)
    return None if problem is None else (problem[0], f"parameter '{name}': {problem[1]}")


def value_problem(connector: Connector, value: Value) -> tuple[str, str] | None:
    """Return the code and the message about a value that a connector does not take."""
    if not connector.accepts(value):
        return "VAL103", value_misfit(connector, value)
    if not all(map(fits_float, _numbers(value))):
        return "VAL104", f"expected a finite number, found {value!r}"
    refusal = connector.refusal(value)
    code = "VAL121" if connector.enumeration is None else "ENU101"
    return None if refusal is None else (code, refusal)


def _numbers(value: Value) -> tuple[float, ...]:
    elements = value if isinstance(value, tuple) else (value,)
    return tuple(v for v in elements if not isinstance(v, (str, bytes)))


def unconnected(
    components: Iterable[Component], connections: Iterable[Connection]
) -> Iterator[DescriptionError]:
    """Whether every input is fed or has a value."""
    fed = {line.target for line in connections}
    unused = "" if fed else f"; the system has no connections ({_COPIES})"
    for component in components:
        for connector in component.of(Causality.INPUT):
            end = Endpoint(component.name, connector.name)
            ticks_alone = connector.type is DataType.CLOCK  # an input clock may stay silent
            if end not in fed and connector.name not in component.values and not ticks_alone:
                text = (
                    f"input '{end}' ({expected_value(connector)}) is not connected;"
                    f" connect it, or set a constant value{unused}"
                )
                unused = ""
                yield DescriptionError.about(text, code="CON109", key=str(end))


def feedthrough(
    components: Components, connections: Iterable[Connection]
) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Ports joined by what acts at once: direct feed-through, and connections without a delay.

    Connections into clocks and discrete inputs of event mode are left out: during a step nothing
    goes along them, and in event mode the units are repeated until nothing changes.
    """
    for line in connections:
        if (
            line.delay is None
            and line.source.component
            and line.target.component
            and not components[line.target.component].changes_at_events(line.target.connector)
        ):
            yield line.source, line.target
    for component in components.values():
        for output in component.of(Causality.OUTPUT):
            end = Endpoint(component.name, output.name)
            for name in component.direct_inputs(output.name):
                yield Endpoint(component.name, name), end


def _guessed(components: Components, ring: Sequence[Endpoint]) -> str:
    """Say which outputs of a ring are only assumed to depend on their inputs at once."""
    guesses: dict[str, list[str]] = {}
    for end in ring[:-1]:
        component = components[end.component]
        is_output = component.connectors[end.connector].causality is Causality.OUTPUT
        is_listed = end.connector in component.feedthrough
        if component.source.kind is SourceKind.FMU and is_output and not is_listed:
            guesses.setdefault(component.name, []).append(f"'{end.connector}'")
    if not guesses:
        return ""
    missing = (
        f"the modelDescription.xml of '{name}' does not list the dependencies of"
        f" {', '.join(outputs)}"
        for name, outputs in guesses.items()
    )
    return (
        f" (this loop is a guess: {'; '.join(missing)}, so every output is assumed to depend on"
        " every input at once)"
    )


def algebraic_loops(
    components: Components, connections: Iterable[Connection]
) -> Iterator[DescriptionError]:
    """Loops of direct feed-through that no delay cuts, of connections whose ends exist."""
    edges = list(feedthrough(components, connections))
    if not has_ring(edges):
        return
    import networkx as nx

    graph: nx.DiGraph[Endpoint] = nx.DiGraph()
    graph.add_edges_from(edges)
    for group in nx.strongly_connected_components(graph):
        if len(group) > 1:
            along = [edge[0] for edge in nx.find_cycle(graph.subgraph(group))]
            first = along.index(min(along))
            ring = [*along[first:], *along[:first], along[first]]
            text = (
                f"algebraic loop without a delay: {' -> '.join(map(str, ring))}"
                f"{_guessed(components, ring)}; put a delay on"
                " one of its connections, let one unit respond through a state, let 'gauss-seidel'"
                " or 'jacobi' delay it by its steps (algebraic_loops = 'delay'), or choose an"
                " algorithm that iterates: 'newton' or 'fixed-point'"
            )
            yield AlgebraicLoopError.about(text, code="LOO102", key=ring[0].component)
