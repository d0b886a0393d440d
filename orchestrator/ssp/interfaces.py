"""What the source of a component has, where its file does not say it."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.errors import SoftdockError
from orchestrator.system import Connector, Source, SourceKind


def interface_of(source: Source) -> Mapping[str, Connector] | None:
    """Return the connectors that a component's source has; ``None`` if it cannot be opened.

    Why it cannot is said when the system is resolved.
    """
    if source.kind not in {SourceKind.FMU, SourceKind.BLOCK}:
        return None
    from orchestrator.simunits import component_of  # heavy, and seldom wanted

    try:
        return component_of(source, runnable=False).connectors
    except SoftdockError:
        return None
