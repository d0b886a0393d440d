"""Systems compared by what Softdock writes of them."""

from __future__ import annotations

from lxml import etree

from orchestrator.core.ssp.common.names import children, tag
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Component,
    Connector,
    DataType,
    System,
)

Form = tuple[str, tuple[tuple[str, str], ...], str, tuple["Form", ...]]
#: Definitions, of which a file may hold more than are used.
_DEFINITIONS = {"ssd:Units", "ssd:Enumerations"}


def same_form(first: etree._Element, second: etree._Element) -> bool:
    """Whether two files say the same, but for the order of what is in them."""
    return _form(first) == _form(second)


def _form(element: etree._Element) -> Form:
    inside = sorted(_form(c) for c in children(element) if tag(c) not in _DEFINITIONS)
    attributes = tuple(sorted((str(key), str(text)) for key, text in element.attrib.items()))
    return tag(element), attributes, (element.text or "").strip(), tuple(inside)


def as_declared(new: System, old: System, base: System) -> System:
    """Return a changed system with as few connectors declared as the one in the file."""
    old_ends = {line.ends for line in old.connections}
    used = {end for line in new.connections if line.ends not in old_ends for end in line.ends}

    def declared(component: Component) -> dict[str, Connector]:
        name = component.name
        before, start = old.components.get(name), base.components.get(name)
        if before is None or start is None or start.source != component.source:
            return dict(component.connectors)
        connected = {end.connector for end in used if end.component == name}
        connectors = {}
        for key, connector in component.connectors.items():
            if connector != start.connectors.get(key):
                connectors[key] = connector
            elif key in before.connectors:
                connectors[key] = before.connectors[key]
            elif before.connectors and key in connected:
                connectors[key] = connector
        return connectors

    return replace(
        new,
        components={
            name: _with_plain_values(component, declared(component), old.components.get(name))
            for name, component in new.components.items()
        },
        systems={
            name: as_declared(inner, old.systems[name], base.systems[name])
            if name in old.systems and name in base.systems
            else inner
            for name, inner in new.systems.items()
        },
    )


def _with_plain_values(
    component: Component, declared: dict[str, Connector], before: Component | None
) -> Component:
    """Declare few connectors; new Reals among the values of others are floats, as files give them.

    One that is the same number as before stays as the file has it.
    """
    held = {} if before is None else before.values
    values = dict(component.values)
    for key, value in component.values.items():
        connector = component.connectors.get(key)
        if key not in declared and connector is not None and connector.type is DataType.REAL:
            real = tuple(map(float, value)) if isinstance(value, tuple) else float(value)
            values[key] = held[key] if held.get(key) == value else real
    return replace(component, connectors=declared, values=values)


def with_value_types(system: System, new: System, old: System) -> System:
    """Declare the connectors of values that have changed: so types and units are known."""

    def typed(component: Component) -> Component:
        before, resolved = old.components.get(component.name), new.components.get(component.name)
        if resolved is None:
            return component
        held = {} if before is None else before.values
        connectors = {
            key: resolved.connectors[key]
            for key, value in component.values.items()
            if key in resolved.connectors and held.get(key) != value
        }
        if connectors and not component.connectors:  # some would mean that there are no others
            connectors = dict(resolved.connectors)
        return replace(component, connectors={**connectors, **component.connectors})

    return replace(
        system,
        components={name: typed(component) for name, component in system.components.items()},
        systems={
            name: with_value_types(inner, new.systems[name], old.systems[name])
            if name in new.systems and name in old.systems
            else inner
            for name, inner in system.systems.items()
        },
    )
