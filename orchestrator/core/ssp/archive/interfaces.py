"""What the source of a component has, where its file does not say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.system import Component, Connection, Connector, Source, SourceKind


def interface_of(source: Source) -> Mapping[str, Connector] | None:
    """Return the connectors that a component's source has; ``None`` if it cannot be opened.

    Why it cannot is said when the system is resolved.
    """
    if source.kind not in {SourceKind.FMU, SourceKind.BLOCK}:
        return None
    from orchestrator.core.simunits import component_of  # heavy, and seldom wanted

    try:
        return component_of(source, runnable=False).connectors
    except SoftdockError:
        return None


def with_connected(
    components: Mapping[str, Component], lines: Iterable[Connection]
) -> dict[str, Component]:
    """Return components with the connectors that connections end at, where the source has them.

    One that declares none at all gets all of them when it is resolved, and is left as it is.
    """
    completed = dict(components)
    for end in (end for line in lines for end in (line.source, line.target)):
        component = completed.get(end.component)
        if component is None or not component.connectors or end.connector in component.connectors:
            continue
        found = (interface_of(component.source) or {}).get(end.connector)
        if found is not None:
            plain = replace(found, start=None, description="")
            connectors = {**component.connectors, end.connector: plain}
            completed[end.component] = replace(component, connectors=connectors)
    return completed
