"""Connectors that a system uses: the others stand in the components' sources."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from orchestrator.core.system import Component, System


def with_used_connectors(system: System) -> System:
    """Leave out connectors without a connection, a value or a power port, in nested systems too."""
    ends: dict[str, set[str]] = {}
    for line in system.connections:
        for end in (line.source, line.target):
            ends.setdefault(end.component, set()).add(end.connector)
    return replace(
        system,
        components={
            name: _used(part, ends.get(name, ())) for name, part in system.components.items()
        },
        systems={name: with_used_connectors(part) for name, part in system.systems.items()},
    )


def _used(part: Component, ends: Collection[str]) -> Component:
    ported = {name for port in part.power_ports.values() for name in port.connectors}
    used = {*ends, *part.values, *ported}
    used |= {name.partition("[")[0] for name in used}  # an element uses its array
    return replace(part, connectors={n: c for n, c in part.connectors.items() if n in used})
