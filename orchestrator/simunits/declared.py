"""The connectors that a system declares, against those that the source has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from orchestrator.errors import DescriptionError, UnknownNameError
from orchestrator.simunits.fmu_description import read_fmu
from orchestrator.system import Component, Connector, Problem, SourceKind


def differences(declared: Component, found: Component) -> Iterator[Problem]:
    """Say in what the connectors that a system declares differ from those of the source."""
    where = f"component '{declared.name}' ({declared.source})"
    for name, connector in declared.connectors.items():
        at = f"{declared.name}.{name}"
        actual = found.connectors.get(name)
        if actual is None:
            text = (
                f"{where}: the system declares connector '{name}', but the source has only:"
                f" {', '.join(found.connectors)}"
            )
            yield Problem("FMU105", at, UnknownNameError(text))
        elif not _agree(connector, actual, found):
            text = (
                f"{where}: connector '{name}' is declared as {_contract(connector)},"
                f" but the source has {_contract(actual)}"
            )
            yield Problem("FMU106", at, DescriptionError(text))


def _agree(declared: Connector, actual: Connector, found: Component) -> bool:
    """Whether a declared connector is the source's, but for extents that structure gives."""
    declared = replace(declared, unit=declared.unit or actual.unit)
    if found.source.kind is SourceKind.FMU and len(declared.shape) == len(actual.shape):
        dimensions = (
            read_fmu(Path(found.source.location), runnable=False).variables[actual.name].dimensions
        )
        if any(isinstance(size, str) for size in dimensions):
            declared = replace(declared, shape=actual.shape)
    return _contract(declared) == _contract(actual)


def _contract(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    unit = f" in {connector.unit}" if connector.unit else ""
    return f"{connector.causality} {connector.type}{shape}{unit}"
