"""Putting systems together: what is in them comes, goes, is moved, grouped or exposed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
)
from orchestrator.core.structs import replace
from orchestrator.core.system.component import Bus, Component
from orchestrator.core.system.connection import Connection, Endpoint
from orchestrator.core.system.experiment import DefaultExperiment
from orchestrator.core.system.hierarchy import (
    component_at,
    element,
    place_of,
    require_unused_name,
    with_component,
)
from orchestrator.core.system.naming import expect_name, unknown_name_error
from orchestrator.core.system.ports import (
    Causality,
    Connector,
    DataType,
    Value,
    conversion_between,
    converted,
)
from orchestrator.core.system.power_lines import power_port
from orchestrator.core.system.values import target_of
from orchestrator.core.units.conversion import base_unit

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


#: What has a name in a system.
_KINDS = ("components", "systems", "buses")


def add(system: System, name: str, part: Component | System, /, **values: Value) -> System:
    """Add a component or a nested system, with values of its parameters and inputs."""
    expect_name(name, "component")
    require_unused_name(system, name)
    if isinstance(part, Component):
        renamed = replace(part, name=name).with_values(values)
        return replace(system, components={**system.components, name: renamed})
    if not isinstance(part, type(system)):
        call = f"block({part.__name__})" if isinstance(part, type) else f"fmu({part!r})"
        hint = f"; pass {call}" if isinstance(part, (type, str)) else ""
        raise DescriptionError(
            f"component '{name}': found {part!r}; expected a System, or what fmu(path) or"
            f" block(name) returns{hint}"
        )
    inner = replace(part, name=name, experiment=DefaultExperiment())
    for key, value in values.items():
        inner = inner.set(key, value)
    return replace(system, systems={**system.systems, name: inner})


def _removed(system: System, name: str) -> System:
    """Return the system without a component, nested system or bus, and without its connections."""
    element(system, name)

    others: dict[str, Any] = {
        kind: {key: part for key, part in getattr(system, kind).items() if key != name}
        for kind in _KINDS
    }
    lines = tuple(line for line in system.connections if name not in _parts(line))
    return replace(system, connections=lines, **others)


def _parts(line: Connection) -> tuple[str, str]:
    return line.source.component, line.target.component


def _renamed(system: System, name: str, new: str) -> System:
    """Return the system with another name for a component, nested system or bus."""
    element(system, name)
    if new == name:
        return system
    expect_name(new, "component")
    require_unused_name(system, new)

    def at(end: Endpoint) -> Endpoint:
        return end._replace(component=new) if end.component == name else end

    moved: dict[str, Any] = {
        kind: {
            new if key == name else key: replace(part, name=new) if key == name else part
            for key, part in getattr(system, kind).items()
        }
        for kind in _KINDS
    }
    lines = (replace(c, source=at(c.source), target=at(c.target)) for c in system.connections)
    return replace(system, connections=tuple(lines), **moved)


def move(system: System, path: str, into: str) -> System:
    """Put a component or nested system, which nothing is connected with, into another system."""
    folder, name = place_of(system, path)
    part = element(system, path)
    if isinstance(part, Bus):
        raise DescriptionError(f"'{path}' is a bus: add one where it is wanted, and remove this")
    if into == path or into.startswith(f"{path}/"):
        raise DescriptionError(f"system '{path}' cannot be moved into itself")
    held = [str(c) for c in system.nested(folder).connections if name in _parts(c)]
    if held:
        raise DescriptionError(
            f"'{path}' cannot be moved while it is connected in its place: {'; '.join(held)};"
            " disconnect it first"
        )
    without = system.edit(folder, lambda holder: _removed(holder, name))
    return without.edit(into, lambda holder: add(holder, name, part))


def remove(system: System, path: str) -> System:
    """Take away a component, nested system or bus, with its connections."""
    folder, name = place_of(system, path)
    return system.edit(folder, lambda holder: _removed(holder, name))


def rename(system: System, path: str, name: str) -> System:
    """Give a component, nested system or bus another name; its connections stay."""
    folder, old = place_of(system, path)
    return system.edit(folder, lambda holder: _renamed(holder, old, name))


def with_options(system: System, path: str, **changes: object) -> System:
    """Change how a component is run: ``system.with_options("arm", interface="me")``."""
    component = component_at(system, path)
    try:
        options = component.options.changed(changes)
    except DescriptionError as error:
        messages = (f"component '{path}': {text}" for text in error.problems)
        raise type(error)(*messages) from None
    return with_component(system, path, replace(component, options=options))


def put(system: System, component: Component, path: str | None = None) -> System:
    """Put another component in the place of the one of the same name, or of a path."""
    return with_component(system, path or component.name, component)


def grouped(system: System, name: str, members: Collection[str]) -> System:
    """Move components and nested systems into a new nested system."""
    taken = [*system.components, *system.systems]
    unknown = [member for member in members if member not in taken]
    if unknown:
        raise unknown_name_error(f"system '{system.name}'", "component", unknown[0], taken)
    if not members or name in taken or name in system.buses or not name or set(name) & set("./"):
        raise DescriptionError(
            f"system '{system.name}': expected a new name without '.' and '/' and at least one"
            f" component to group, found '{name}' of {', '.join(members) or 'nothing'}"
        )
    inner: list[Connection] = []
    outer: list[Connection] = []
    connectors: dict[str, Connector] = {}
    entered: set[Endpoint] = set()
    for line in system.connections:
        begins, ends = line.source.component in members, line.target.component in members
        if begins and ends:
            inner.append(line)
            continue
        source, target = line.source, line.target
        if begins:
            connectors[str(source)] = _border(system, source, Causality.OUTPUT)
            if Endpoint("", str(source)) not in entered:
                inner.append(Connection(source, Endpoint("", str(source))))
                entered.add(Endpoint("", str(source)))
            source = Endpoint(name, str(source))
        if ends:
            connectors[str(target)] = _border(system, target, Causality.INPUT)
            inner.append(Connection(Endpoint("", str(target)), target))
            target = Endpoint(name, str(target))
        outer.append(replace(line, source=source, target=target))
    group = replace(
        type(system)(name),
        components={key: part for key, part in system.components.items() if key in members},
        systems={key: part for key, part in system.systems.items() if key in members},
        connections=tuple(inner),
        connectors=connectors,
    )
    outside = {key: part for key, part in system.components.items() if key not in members}
    nested = {key: part for key, part in system.systems.items() if key not in members}
    lines, nested[name] = tuple(outer), group
    return replace(system, components=outside, systems=nested, connections=lines)


def _border(system: System, end: Endpoint, causality: Causality) -> Connector:
    """Make the connector of the new system that an end inside is led through."""
    owner = system.components.get(end.component) or system.systems.get(end.component)
    connector = owner.connectors.get(end.connector) if owner else None
    if connector is None:
        return Connector(str(end), causality)
    return replace(connector, name=str(end), causality=causality, description="", start=None)


def expose(
    system: System,
    name: str,
    to: str | Iterable[str],
    *,
    value: Value | None = None,
    description: str | None = None,
    unit: str | None = None,
) -> System:
    """Give the system a connector of its own that leads to one or more of what is in it."""
    location = f"system '{system.name}': connector '{name}'"
    if not name or "." in name:
        raise DescriptionError(f"{location}: a name must not be empty nor hold a dot")
    if name in system.connectors:
        raise DescriptionError(f"{location}: there is one of this name already")
    ends = [Endpoint.parse(text) for text in ([to] if isinstance(to, str) else to)]
    if not ends:
        raise DescriptionError(f"{location}: expected at least one connector that it leads to")
    targets = {end: target_of(system, str(end)) for end in ends}
    connectors = {end: connector for end, (_, connector) in targets.items()}
    first = connectors[ends[0]]
    _agree(location, connectors)
    out = first.causality in {Causality.OUTPUT, Causality.CALCULATED_PARAMETER}
    if out and len(ends) > 1:
        raise ConnectorMismatchError(
            f"{location}: leads to {len(ends)} outputs, {', '.join(map(str, ends))}; expected one"
        )
    exposed = replace(first, name=name, start=None)
    if description is not None:
        exposed = replace(exposed, description=description)
    if unit is not None:
        exposed = _in_unit(location, exposed, unit)
    sides = [(end, Endpoint("", name)) if out else (Endpoint("", name), end) for end in ends]
    lines = tuple(Connection(source, target) for source, target in sides)
    result = replace(
        system,
        connectors={**system.connectors, name: exposed},
        connections=(*system.connections, *lines),
    )
    return result if out else _taken_up(result, location, exposed, connectors, value)


def _in_unit(location: str, connector: Connector, unit: str) -> Connector:
    """Return a connector in another unit; it must convert."""
    if connector.type is not DataType.REAL:
        raise UnitMismatchError(
            f"{location}: unit '{unit}': its type is {connector.type}, which has none"
        )
    if unit == connector.unit:
        return connector
    changed = replace(connector, unit=unit, unit_definition=None)
    try:
        base_unit(unit)
        conversion_between(connector, changed)
    except DescriptionError as error:
        raise UnitMismatchError(f"{location}: {error}") from None
    return changed


def _agree(location: str, connectors: Mapping[Endpoint, Connector]) -> None:
    """Refuse connectors that one signal cannot serve."""
    (start, first), *others = connectors.items()
    for end, connector in others:
        kinds = [(c.causality, c.type, c.shape) for c in (first, connector)]
        if kinds[0] != kinds[1]:
            raise ConnectorMismatchError(
                f"{location}: '{start}' is {_kind(first)}, but '{end}' is {_kind(connector)};"
                " expected the same of all"
            )
        try:
            conversion_between(first, connector)
        except UnitMismatchError as error:
            raise UnitMismatchError(f"{location}: '{start}' and '{end}': {error}") from None


def _kind(connector: Connector) -> str:
    shape = f" of shape {connector.shape}" if connector.shape else ""
    return f"{connector.causality} {connector.type}{shape}"


def _taken_up(
    system: System,
    location: str,
    exposed: Connector,
    connectors: Mapping[Endpoint, Connector],
    value: Value | None,
) -> System:
    """Let the values of what a connector leads to be its own: what is outside then decides."""
    taken = []
    for end, connector in connectors.items():
        holder, _ = target_of(system, str(end))
        if end.connector in holder.values:
            taken.append(converted(holder.values[end.connector], connector, exposed))
            system = system.unset(str(end))
    if value is None and len(set(taken)) > 1:
        raise DescriptionError(
            f"{location}: its targets have the values {', '.join(map(repr, taken))}; choose one:"
            " value=.."
        )
    value = taken[0] if value is None and taken else value
    return system if value is None else system.set(exposed.name, value)


def withdraw(system: System, name: str) -> System:
    """Take away a connector of the system's own, with its connections."""
    if name not in system.connectors:
        raise unknown_name_error(
            f"system '{system.name}'", "connector of its own", name, system.connectors
        )
    end = Endpoint("", name)
    return replace(
        system,
        connectors={key: c for key, c in system.connectors.items() if key != name},
        values={key: value for key, value in system.values.items() if key != name},
        connections=tuple(c for c in system.connections if end not in c.ends),
    )


def expose_power(system: System, name: str, to: str) -> System:
    """Give the system a power port of its own that leads to one of what is in it."""
    end = Endpoint.parse(to)
    owner = element(system, end.component)
    if isinstance(owner, Bus):
        raise DescriptionError(f"'{to}': a bus has no power ports")
    if name in system.power_ports:
        raise DescriptionError(f"system '{system.name}' already has a power port '{name}'")
    inner = power_port(owner, end.connector)
    for connector in inner.connectors:
        system = expose(system, f"{name}_{connector}", to=f"{end.component}.{connector}")

    effort, flow, displacement = (
        tuple(f"{name}_{connector}" for connector in connectors)
        for connectors in (inner.effort, inner.flow, inner.displacement)
    )
    port = replace(inner, name=name, effort=effort, flow=flow, displacement=displacement)
    return replace(system, power_ports={**system.power_ports, name: port})
