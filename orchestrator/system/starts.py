"""Inputs that nothing feeds, which keep the value that their FMU begins with (SSP 2.0, 5.2.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.system.component import SourceKind
from orchestrator.system.connection import Endpoint
from orchestrator.system.connector import Causality, DataType

if TYPE_CHECKING:
    from orchestrator.system.system import System


def with_starts(system: System, *, closed: bool = True) -> tuple[System, list[str]]:
    """Return a flat, resolved system whose FMUs' inputs all have something to hold, and say which.

    Inputs of blocks are left alone: a block says nothing of how it is used alone.

    Parameters
    ----------
    system
        Flat and resolved.
    closed
        Whether the system's own inputs without a value feed nothing; else they will be fed from
        outside.

    Returns
    -------
    tuple
        The system, and what got a value, as ``"component.connector = value unit"``.
    """
    fed = {
        line.target
        for line in system.connections
        if not closed or line.source.component or _has_value(system, line.source.connector)
    }
    outside = {line.target for line in system.connections} - fed
    components = dict(system.components)
    told = []
    for name, component in system.components.items():
        if component.source.kind is not SourceKind.FMU:
            continue
        starts = {}
        for connector in component.connectors.values():
            end = Endpoint(name, connector.name)
            takes = connector.causality is Causality.INPUT and end not in fed
            known = connector.start is not None and connector.name not in component.values
            if (takes or end in outside) and known and connector.type is not DataType.CLOCK:
                starts[connector.name] = connector.start
                unit = f" {connector.unit}" if connector.unit else ""
                told.append(f"{end} = {connector.start!r}{unit}")
        if starts:
            components[name] = component.with_values(starts)  # type: ignore[arg-type] # not None
    return replace(system, components=components), told


def _has_value(system: System, name: str) -> bool:
    own = system.connectors.get(name)
    return name in system.values or (own is not None and own.start is not None)
