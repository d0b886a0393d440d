"""Components of a system put together in a nested one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.system.lines.connection import Connection, Endpoint
from orchestrator.core.system.ports.connector import Causality, Connector

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def grouped(system: System, name: str, members: Collection[str]) -> System:
    """Move components and nested systems into a new nested system.

    Connections between them move too; one that crosses the border is led through a connector of the
    new system, which has the name ``component.connector`` of the end inside, with its type and
    unit. What stands on it (delay, transformation) stays outside. :meth:`System.flat` gives the
    same connections as before.
    """
    known = [*system.components, *system.systems]
    unknown = [member for member in members if member not in known]
    if unknown:
        raise UnknownNameError(
            f"system '{system.name}' has no component '{unknown[0]}'; it has: {', '.join(known)}"
        )
    if not members or name in known or name in system.buses or not name or set(name) & set("./"):
        raise DescriptionError(
            f"system '{system.name}': expected a new name without '.' and '/' and at least one"
            f" component to group, found '{name}' of {', '.join(members) or 'nothing'}"
        )
    inner: list[Connection] = []
    outer: list[Connection] = []
    own: dict[str, Connector] = {}
    entered: set[Endpoint] = set()
    for line in system.connections:
        begins, ends = line.source.component in members, line.target.component in members
        if begins and ends:
            inner.append(line)
            continue
        source, target = line.source, line.target
        if begins:
            own[str(source)] = _border(system, source, Causality.OUTPUT)
            if Endpoint("", str(source)) not in entered:
                inner.append(Connection(source, Endpoint("", str(source))))
                entered.add(Endpoint("", str(source)))
            source = Endpoint(name, str(source))
        if ends:
            own[str(target)] = _border(system, target, Causality.INPUT)
            inner.append(Connection(Endpoint("", str(target)), target))
            target = Endpoint(name, str(target))
        outer.append(replace(line, source=source, target=target))
    made = replace(
        type(system)(name),
        components={key: part for key, part in system.components.items() if key in members},
        systems={key: part for key, part in system.systems.items() if key in members},
        connections=tuple(inner),
        connectors=own,
    )
    return replace(
        system,
        components={key: part for key, part in system.components.items() if key not in members},
        systems={
            **{key: part for key, part in system.systems.items() if key not in members},
            name: made,
        },
        connections=tuple(outer),
    )


def _border(system: System, end: Endpoint, causality: Causality) -> Connector:
    """Make the connector of the new system that an end inside is led through."""
    owner = system.components.get(end.component) or system.systems.get(end.component)
    found = owner.connectors.get(end.connector) if owner else None
    if found is None:
        return Connector(str(end), causality)
    return replace(found, name=str(end), causality=causality, description="", start=None)
