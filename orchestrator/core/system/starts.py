"""Inputs that nothing feeds, which keep the value that their FMU begins with (SSP 2.0, 5.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.core.system.components.source import SourceKind
from orchestrator.core.system.lines.connection import Endpoint
from orchestrator.core.system.ports.connector import Causality, DataType, Value

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


@dataclass(frozen=True, slots=True)
class KeptStart:
    """An input that keeps the value which its FMU begins with, in its unit if it has one."""

    end: Endpoint
    value: Value
    unit: str | None = None

    def __str__(self) -> str:
        return f"{self.end} = {self.value!r}{f' {self.unit}' if self.unit else ''}"


def with_starts(system: System, *, closed: bool = True) -> tuple[System, list[KeptStart]]:
    """Return a flat, resolved system whose FMUs' inputs all have something to hold, and say which.

    Inputs of blocks are left alone: a block says nothing of how it is used alone.
    """
    fed = {
        line.target
        for line in system.connections
        if not closed or line.source.component or _has_value(system, line.source.connector)
    }
    outside = {line.target for line in system.connections} - fed
    components = dict(system.components)
    kept = []
    for name, component in system.components.items():
        if component.source.kind is not SourceKind.FMU:
            continue
        starts: dict[str, Value] = {}
        for connector in component.connectors.values():
            end = Endpoint(name, connector.name)
            takes = connector.causality is Causality.INPUT and end not in fed
            if connector.start is None or connector.name in component.values:
                continue
            if (takes or end in outside) and connector.type is not DataType.CLOCK:
                starts[connector.name] = connector.start
                kept.append(KeptStart(end, connector.start, connector.unit))
        if starts:
            components[name] = component.with_values(starts)
    return replace(system, components=components), kept


def kept_notes(kept: Sequence[KeptStart]) -> tuple[str, ...]:
    """Say what :func:`with_starts` told, as one sentence; none if that is nothing."""
    if not kept:
        return ()
    listed = ", ".join(map(str, kept))
    return (f"nothing feeds these inputs, they keep what their FMUs begin with: {listed}",)


def without_starts(system: System, kept: Sequence[KeptStart]) -> System:
    """Take the values away again that :func:`with_starts` gave to a system."""
    components = dict(system.components)
    for start in kept:
        name, connector = start.end.component, start.end.connector
        values = {key: v for key, v in components[name].values.items() if key != connector}
        components[name] = replace(components[name], values=values)
    return replace(system, components=components)


def _has_value(system: System, name: str) -> bool:
    own = system.connectors.get(name)
    return name in system.values or (own is not None and own.start is not None)
