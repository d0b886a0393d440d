"""Names of the scalars that a unit exchanges."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.core.system import Connector


def signal_names(component: str, connectors: Iterable[Connector]) -> tuple[str, ...]:
    """Name each scalar: ``component.connector``, with its number behind in an array."""
    names: list[str] = []
    for connector in connectors:
        whole = f"{component}.{connector.name}"
        if connector.shape:
            names += [f"{whole}[{i}]" for i in range(1, connector.size + 1)]
        else:
            names.append(whole)
    return tuple(names)
