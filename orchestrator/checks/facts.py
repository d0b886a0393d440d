"""What an FMU says of itself beyond its connectors: bounds, names of values, its step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.simunits import open_description
from orchestrator.core.simunits.fmi.description_part import ModelDescription
from orchestrator.core.system import Component, SourceKind

_NONE: Mapping[str, Any] = MappingProxyType({})


def variables_of(component: Component) -> Mapping[str, Any]:
    """Return an FMU's variables by name; nothing for a block or an FMU that cannot be read."""
    if component.source.kind is not SourceKind.FMU:
        return _NONE
    try:
        return _variables(open_description(Path(component.source.location)))
    except SoftdockError:
        return _NONE  # told with the sources


@lru_cache(maxsize=256)
def _variables(described: ModelDescription) -> Mapping[str, Any]:
    return {variable.name: variable for variable in described.modelVariables}


def suggested_step(component: Component) -> int | None:
    """Return the step of an FMU's default experiment in nanoseconds, if it has one."""
    if component.source.kind is not SourceKind.FMU:
        return None
    try:
        said = open_description(Path(component.source.location)).defaultExperiment
    except SoftdockError:
        return None  # told with the sources
    seconds = getattr(said, "stepSize", None)
    return None if seconds is None else round(float(seconds) * 1e9)


def bounds_of(variable: Any) -> tuple[float | None, float | None]:
    """Return the least and the greatest value, of the variable or of its declared type."""
    found = []
    for name in ("min", "max"):
        text = getattr(variable, name, None)
        if text is None and variable.declaredType is not None:
            text = getattr(variable.declaredType, name, None)
        found.append(None if text is None else float(text))
    return found[0], found[1]


def items_of(component: Component, name: str) -> Mapping[str, int]:
    """Return value by name of the enumeration that a connector has; empty if it has none."""
    connector = component.connectors.get(name)
    if connector is not None and connector.enumeration is not None:
        return connector.enumeration.items
    variable = variables_of(component).get(name)
    declared = None if variable is None else variable.declaredType
    items = getattr(declared, "items", None) or ()
    return {item.name: int(item.value) for item in items}
