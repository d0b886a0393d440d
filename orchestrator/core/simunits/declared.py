"""The connectors that a system declares, against those that the source has."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import DescriptionError, UnitMismatchError, UnknownNameError
from orchestrator.core.simunits.fmi.fmu_description import read_fmu
from orchestrator.core.system import Causality, Component, Connector, SourceKind, conversion_between
from orchestrator.core.system.naming import listed_names

_LOGGER = logging.getLogger(__name__)


def differences(declared: Component, found: Component) -> Iterator[DescriptionError]:
    """Say in what the connectors that a system declares differ from those of the source."""
    where = f"component '{declared.name}' ({declared.source})"
    for name, connector in declared.connectors.items():
        at = f"{declared.name}.{name}"
        actual = found.connectors.get(name)
        if actual is None:
            text = (
                f"the system declares connector '{name}', but the source has only:"
                f" {listed_names(list(found.connectors), name)}"
            )
            yield UnknownNameError.about(text, code="FMU105", place=where, key=at)
        elif connector is not actual and not _agree(connector, actual, found):
            text = (
                f"connector '{name}' is declared as {_contract(connector)},"
                f" but the source has {_contract(actual)}"
            )
            yield DescriptionError.about(text, code="FMU106", place=where, key=at)


def _agree(declared: Connector, actual: Connector, found: Component) -> bool:
    """Whether a declared connector is the source's, but for extents that structure gives."""
    if declared.causality is Causality.STRUCTURAL_PARAMETER:
        declared = replace(declared, causality=Causality.PARAMETER)
    try:
        conversion_between(declared, actual)
    except UnitMismatchError:
        return False
    if declared.unit != actual.unit:
        declared = replace(declared, unit=actual.unit)
    is_array = bool(declared.shape) and len(declared.shape) == len(actual.shape)
    if found.source.kind is SourceKind.FMU and is_array:
        dimensions = (
            read_fmu(Path(found.source.location), runnable=False).variables[actual.name].dimensions
        )
        if any(isinstance(size, str) for size in dimensions):
            declared = replace(declared, shape=actual.shape)
    return _contract(declared) == _contract(actual)


def as_declared(actual: Connector, declared: Connector | None, found: Component) -> Connector:
    """Return a connector of a source with unit and enumeration as the system's file has them."""
    if declared is None or declared is actual:
        return actual
    enumeration = declared.enumeration or actual.enumeration
    if declared.unit is None:
        return _changed(actual, enumeration=enumeration)
    try:
        factor, offset = conversion_between(declared, actual)
    except UnitMismatchError:  # it is among the differences
        return actual
    if actual.unit is not None and not (isclose(factor, 1.0) and isclose(offset, 0.0)):
        _LOGGER.warning(
            "component '%s' (%s): connector '%s' is declared in '%s', but the source has '%s'; its"
            " values are taken for '%s'",
            found.name,
            found.source,
            actual.name,
            declared.unit,
            actual.unit,
            declared.unit,
        )
    definition = declared.unit_definition
    if definition is None and declared.unit == actual.unit:
        definition = actual.unit_definition  # the file says nothing else
    return _changed(
        actual,
        unit=declared.unit,
        unit_definition=definition,
        enumeration=enumeration,
    )


def _changed(connector: Connector, **fields: Any) -> Connector:
    """Return a connector with other fields: itself, if they are what it has."""
    if all(getattr(connector, name) == value for name, value in fields.items()):
        return connector
    return replace(connector, **fields)


def _contract(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    unit = f" in {connector.unit}" if connector.unit else ""
    return f"{connector.causality} {connector.type}{shape}{unit}"
