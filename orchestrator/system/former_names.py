"""Former names of connectors: they are still read, with a warning that says the present one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from orchestrator.system.components.component import Component
from orchestrator.system.lines.connection import Connection, Endpoint
from orchestrator.system.ports.connectors import Connectors

#: A connector of a component or one element of it, alone or as an end of a connection.
_PATH = re.compile(r"(?P<component>[^.\s]+)\.(?P<connector>[^.\s\[\]]+)(?P<element>\[\d+\])?")


def with_present_names(declared: Component, found: Component) -> Component:
    """Return a component with declared connectors and values called as its source does now."""
    known = found.connectors
    if not isinstance(known, Connectors):
        return declared
    connectors = {
        known.present(name): replace(connector, name=known.present(name))
        for name, connector in declared.connectors.items()
    }
    values = {known.present(name): value for name, value in declared.values.items()}
    return replace(declared, connectors=connectors, values=values)


def with_present_ends(
    lines: Iterable[Connection], components: Mapping[str, Component]
) -> tuple[Connection, ...]:
    """Return connections between the present names of connectors."""

    def present(end: Endpoint) -> Endpoint:
        component = components.get(end.component)
        if component is None or not isinstance(component.connectors, Connectors):
            return end
        name = component.connectors.present(end.connector)
        return end if name == end.connector else replace(end, connector=name)

    def renamed(line: Connection) -> Connection:
        source, target = present(line.source), present(line.target)
        same = source is line.source and target is line.target
        return line if same else replace(line, source=source, target=target)

    return tuple(renamed(line) for line in lines)


def present_path(text: str, components: Mapping[str, Component]) -> str:
    """Return ``component.connector``, an element of it, or a line ``a.y -> b.u``, by present names.

    Every other text stays as it is.
    """
    ends = [end.strip() for end in text.split("->")]
    found = [_PATH.fullmatch(end) for end in ends]
    if len(ends) > 2 or not all(found):
        return text
    changed = [_present_end(match, components) for match in found if match]
    return text if changed == ends else " -> ".join(changed)


def _present_end(match: re.Match[str], components: Mapping[str, Component]) -> str:
    component = components.get(match["component"])
    if component is None or not isinstance(component.connectors, Connectors):
        return match[0]
    name = component.connectors.present(match["connector"])
    return f"{match['component']}.{name}{match['element'] or ''}"


def former_paths(components: Mapping[str, Component]) -> dict[str, str]:
    """Return the present path of every connector that had another name, by the former path."""
    return {
        f"{name}.{connector.formerly}": f"{name}.{connector.name}"
        for name, component in components.items()
        for connector in component.connectors.values()
        if connector.formerly
    }
