"""Nested systems made flat: one level of components, whose names are paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
    UnknownNameError,
    listed_names,
)
from orchestrator.core.garbage import collection_paused
from orchestrator.core.structs import replace
from orchestrator.core.system.component import Component
from orchestrator.core.system.connection import (
    Connection,
    Endpoint,
    LinearTransformation,
    MappingTransformation,
)
from orchestrator.core.system.line_attributes import ATTRIBUTES, attributes_on
from orchestrator.core.system.naming import SEPARATOR, fits_float, unknown_name_error
from orchestrator.core.system.ports import Causality, Connector, DataType, Value, conversion_between

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


Affine = tuple[float, float]
Steps = list[Affine | MappingTransformation]


def joined(
    lines: Sequence[Connection],
    connectors: Sequence[Connector | None],
    source: Endpoint,
    target: Endpoint,
) -> Connection:
    """Make one connection of those in a row."""
    if len(lines) == 1:
        return lines[0].between(source, target)
    connectors = _with_units(lines, connectors)
    location = (
        f"connection {source} -> {target} (through {', '.join(str(c.target) for c in lines)})"
    )
    steps = [
        _steps(line, before, after, location)
        for line, before, after in zip(lines, connectors, connectors[1:], strict=False)
    ]
    busy = [i for i, line in enumerate(lines) if not _is_plain(line, steps[i])]
    if len(busy) <= 1:
        number = busy[0] if busy else 0
        alone, conversion = lines[number], _conversion(*connectors[number : number + 2])
        if alone.suppress_unit_conversion or conversion == _conversion(
            connectors[0], connectors[-1]
        ):
            return alone.between(source, target)
    total: Affine | MappingTransformation = (1.0, 0.0)
    for step in chain.from_iterable(steps):
        total = _after(step, total)
    suppressed = total != _conversion(connectors[0], connectors[-1])
    done = total if isinstance(total, MappingTransformation) else LinearTransformation(*total)
    return Connection(
        source,
        target,
        transformation=done if suppressed else None,
        suppress_unit_conversion=suppressed,
        **{a.name: a.combined(lines, location) for a in ATTRIBUTES if a.combined is not None},
    )


def through(
    value: float, lines: Sequence[Connection], connectors: Sequence[Connector | None]
) -> float | None:
    """Bring a value along connections in a row; ``None`` if a table has no entry for it."""
    connectors = _with_units(lines, connectors)
    for line, before, after in zip(lines, connectors, connectors[1:], strict=False):
        for step in _steps(line, before, after, f"connection {line}"):
            if isinstance(step, MappingTransformation):
                mapped = step.of(value)
                if mapped is None:
                    return None
                value = mapped
            elif step != (1.0, 0.0):
                value = step[0] * value + step[1]
    return value


def _with_units(
    lines: Sequence[Connection], connectors: Sequence[Connector | None]
) -> list[Connector | None]:
    """Give connectors on the way that say no unit the one that their signal comes in.

    SSP 2.0, 4.5.1.1: the unit of such a connector of a system is that of what it is connected with.
    """
    passed = [connectors[0]]
    for line, connector in zip(lines, connectors[1:-1], strict=False):
        before = passed[-1]
        says_unit = connector is None or connector.unit is not None
        if before is None or connector is None or says_unit or line.suppress_unit_conversion:
            passed.append(connector)
        else:
            unit, definition = before.unit, before.unit_definition
            passed.append(replace(connector, unit=unit, unit_definition=definition))
    return [*passed, connectors[-1]]


def _steps(
    line: Connection, before: Connector | None, after: Connector | None, location: str
) -> Steps:
    steps: Steps = []
    if before is not None and after is not None and not line.suppress_unit_conversion:
        try:
            steps.append(conversion_between(before, after))
        except UnitMismatchError as error:
            raise UnitMismatchError(f"{location}: {error}") from None
    transformation = line.transformation
    if isinstance(transformation, LinearTransformation):
        steps.append((transformation.factor, transformation.offset))
    elif transformation is not None:
        steps.append(transformation)
    return steps


def _is_plain(line: Connection, steps: Steps) -> bool:
    """Whether a line passes its signal on as it is."""
    acts_on_time = any(attribute.combined for attribute, _ in attributes_on(line))
    return not acts_on_time and all(step == (1.0, 0.0) for step in steps)


def _conversion(before: Connector | None, after: Connector | None) -> Affine | None:
    """What is done for the units of two connectors; ``None`` if they do not convert."""
    if before is None or after is None:
        return 1.0, 0.0
    try:
        return conversion_between(before, after)
    except UnitMismatchError:
        return None


def _after(
    step: Affine | MappingTransformation, done: Affine | MappingTransformation
) -> Affine | MappingTransformation:
    """What a step makes of that which was done before."""
    if isinstance(step, MappingTransformation):
        if isinstance(done, MappingTransformation):
            pairs = ((source, step.of(value)) for source, value in done.entries)
            return MappingTransformation(tuple((s, t) for s, t in pairs if t is not None))
        if done == (1.0, 0.0):
            return step
        factor, offset = done
        before = (((source - offset) / factor, target) for source, target in step.entries)
        return MappingTransformation(tuple((int(s), t) for s, t in before if s == int(s)))
    factor, offset = step
    if isinstance(done, MappingTransformation):
        return MappingTransformation(tuple((s, int(factor * t + offset)) for s, t in done.entries))
    return factor * done[0], factor * done[1] + offset


#: Systems may be nested this deep.
DEEPEST = 100


class _Node(NamedTuple):
    """A place where signals pass: connector of a component, of a system, or entry of a bus."""

    kind: str
    path: str
    connector: str

    def __str__(self) -> str:
        path = f"{self.path}." if self.path else ""
        return f"{path}{self.connector}"


class _Flattener:
    def __init__(self, system: System) -> None:
        self._top = system
        self._components: dict[str, Component] = {}
        self._connectors: dict[_Node, Connector] = {}
        self._values: dict[_Node, Value] = {}
        self._drivers: dict[_Node, list[tuple[_Node, Connection]]] = {}
        self._walk(system, "", 0)

    def _walk(self, system: System, path: str, depth: int) -> None:
        if depth > DEEPEST:
            raise DescriptionError(f"systems are nested more than {DEEPEST} deep, at '{path}'")
        here = f"{path}{SEPARATOR}" if path else ""
        for name, connector in system.connectors.items():
            self._connectors[_Node("system", path, name)] = connector
        for name, value in system.values.items():
            self._values[_Node("system", path, name)] = value
        for name, component in system.components.items():
            moved = replace(component, name=here + name) if path else component
            self._components[here + name] = moved
        for bus in system.buses.values():
            for key, connector in bus.connectors.items():
                self._connectors.setdefault(_Node("bus", bus.dictionary, key), connector)
        for line in system.connections:
            source, target = line.source, line.target
            before = self._drivers.setdefault(self._node(system, path, target), [])
            before.append((self._node(system, path, source), line))
        for name, inner in system.systems.items():
            self._walk(inner, here + name, depth + 1)

    def _node(self, system: System, path: str, end: Endpoint) -> _Node:
        if not end.component:
            return _Node("system", path, end.connector)
        if end.component in system.buses:
            return _Node("bus", system.buses[end.component].dictionary, end.connector)
        inner = f"{path}{SEPARATOR}{end.component}" if path else end.component
        kind = "system" if end.component in system.systems else "component"
        return _Node(kind, inner, end.connector)

    def _connector(self, node: _Node) -> Connector | None:
        if node.kind != "component":
            return self._connectors.get(node)
        component = self._components.get(node.path)
        return None if component is None else component.connectors.get(node.connector)

    def flat(self) -> System:
        lines: list[Connection] = []
        problems: list[DescriptionError] = list(self._undeclared())
        for target, drivers in self._drivers.items():
            if not (target.kind == "component" or (target.kind == "system" and not target.path)):
                continue
            for driver in drivers:
                try:
                    lines += self._traced(target, driver)
                except DescriptionError as error:
                    problems.append(error)
        if problems:
            raise DescriptionError.collect(problems)
        return replace(
            self._top, components=self._components, connections=tuple(lines), systems={}, buses={}
        )

    def _undeclared(self) -> Iterator[UnknownNameError]:
        """Errors of the connectors of nested systems that connections name and no system has."""
        nodes = [
            node
            for target, drivers in self._drivers.items()
            for node in (target, *(source for source, _ in drivers))
        ]
        for node in dict.fromkeys(nodes):
            if node.kind == "system" and node.path and node not in self._connectors:
                names = [
                    declared.connector
                    for declared in self._connectors
                    if (declared.kind, declared.path) == ("system", node.path)
                ]
                yield unknown_name_error(
                    f"system '{node.path}'", "connector", node.connector, names
                )

    def _traced(self, target: _Node, driver: tuple[_Node, Connection]) -> Iterator[Connection]:
        """Follow a line back to where its signal comes from, or to the value that holds there."""
        nodes = [target]
        lines: list[Connection] = []
        node, line = driver
        while True:
            nodes.insert(0, node)
            lines.insert(0, line)
            ends_here = node.kind == "component" or (node.kind == "system" and not node.path)
            if ends_here or not (before := self._drivers.get(node)):
                break
            if len(before) > 1:
                sources = " and ".join(f"'{source}'" for source, _ in before)
                raise ConnectorMismatchError(
                    f"'{node}' has {len(before)} sources, {sources}; expected one"
                )
            node, line = before[0]
            if node in nodes:
                ring = " -> ".join(map(str, [node, *nodes[: nodes.index(node) + 1]]))
                raise DescriptionError(f"connectors of systems that feed each other: {ring}")
        connectors = [self._connector(node) for node in nodes]
        if ends_here:
            ends = (Endpoint(node.path, node.connector) for node in (nodes[0], target))
            yield joined(lines, connectors, *ends)
        elif target.kind == "component":
            self._hold(nodes, lines, connectors)

    def _hold(
        self, nodes: list[_Node], lines: list[Connection], connectors: list[Connector | None]
    ) -> None:
        """Give a target the value of the connector of a system that nothing feeds."""
        target, source, declared = nodes[-1], nodes[0], connectors[0]
        value = self._values.get(source, declared.start if declared else None)
        component = self._components.get(target.path)
        if value is None or component is None or target.connector in component.values:
            return
        held = carried(value, lines, connectors)
        if held is not None:
            self._components[target.path] = component.with_values({target.connector: held})


def carried(
    value: Value, lines: list[Connection], connectors: list[Connector | None]
) -> Value | None:
    """Bring a start value along connections, in the type of the last connector."""
    last = connectors[-1]
    elements = value if isinstance(value, tuple) else (value,)
    numbers = [element for element in elements if not isinstance(element, (str, bytes))]
    if len(numbers) < len(elements) or not all(map(fits_float, numbers)):
        return value  # a text, or what the check of values refuses
    results = [through(float(element), lines, connectors) for element in numbers]
    if any(element is None for element in results):
        return None
    kind = {DataType.INTEGER: int, DataType.BOOLEAN: bool}.get(
        last.type if last else DataType.REAL, float
    )
    typed = tuple(kind(element) for element in results)
    return typed if isinstance(value, tuple) else typed[0]


@collection_paused()
def flattened(system: System) -> System:
    """Return the system without nested systems and buses."""
    if not system.systems and not system.buses:
        return system
    return _Flattener(system).flat()


def closed(system: System) -> System:
    """Return a flat system without connectors of its own."""
    if not system.connectors:
        return system
    if problems := open_inputs(system):
        raise DescriptionError.collect(problems)
    components = dict(system.components)
    for line in _own_lines(system):
        component = components[line.target.component]
        value = _own_value(system, line.source.connector)
        if value is None or line.target.connector in component.values:
            continue  # a parameter that its component has a value for
        source = system.connectors.get(line.source.connector)
        last = component.connectors.get(line.target.connector)
        held = carried(value, [line], [source, last])
        if held is not None:
            components[component.name] = component.with_values({line.target.connector: held})
    return replace(
        system,
        components=components,
        connections=tuple(
            line for line in system.connections if line.source.component and line.target.component
        ),
        connectors={},
        values={},
    )


def open_inputs(system: System) -> list[DescriptionError]:
    """Return the errors of a flat system's own inputs that have no value but feed a component."""
    fed: dict[str, list[str]] = {}
    for line in _own_lines(system):
        name, target = line.source.connector, line.target
        source = system.connectors.get(name)
        is_input = source is None or source.causality is Causality.INPUT
        has_value = target.connector in system.components[target.component].values
        if is_input and not has_value and _own_value(system, name) is None:
            fed.setdefault(name, []).append(f"'{target}'")
    return [
        DescriptionError.about(
            f"input '{name}' of system '{system.name}' has no value; it feeds"
            f" {listed_names(targets)}: set one",
            code="CON118",
            key=name,
        )
        for name, targets in fed.items()
    ]


def _own_lines(system: System) -> Iterator[Connection]:
    """Return the connections that lead from a flat system's own connectors to components."""
    for line in system.connections:
        if not line.source.component and line.target.component in system.components:
            yield line


def _own_value(system: System, name: str) -> Value | None:
    source = system.connectors.get(name)
    return system.values.get(name, source.start if source else None)


def seen_from_inside(connectors: Mapping[str, Connector]) -> dict[str, Connector]:
    """Return a system's own connectors as its components see them: inputs are sources."""
    turned = {Causality.INPUT: Causality.OUTPUT, Causality.OUTPUT: Causality.INPUT}
    return {
        name: replace(c, causality=turned.get(c.causality, c.causality))
        for name, c in connectors.items()
    }
