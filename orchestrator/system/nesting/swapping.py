"""Putting another component in the place of one: under the same contract of ports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
    UnknownNameError,
)
from orchestrator.system.components.component import Component
from orchestrator.system.nesting.hierarchy import component_at, place_of, with_component
from orchestrator.system.ports.connector import Connector, Value
from orchestrator.system.ports.conversion import conversion_between, converted

if TYPE_CHECKING:
    from orchestrator.system.system import System


def swap(system: System, path: str, component: Component) -> System:
    """Put another component in the place of one that has the same ports.

    Every connected port and every value that is set must exist on the new one with the same
    causality, type and shape, and a unit that converts; values are carried over in its unit.

    Raises
    ------
    DescriptionError
        If the component does not exist, or ports are missing or differ; all together.
    """
    new = component
    folder, name = place_of(system, path)
    old = component_at(system, path)
    source = new.source
    used = {
        end.connector
        for line in system.nested(folder).connections
        for end in (line.source, line.target)
        if end.component == name
    }
    problems: list[DescriptionError] = []
    for port in sorted(used):
        theirs = new.connectors.get(port)
        if theirs is None:
            problems.append(
                UnknownNameError(
                    f"cannot swap '{path}' for {source}: connected port '{port}' is missing there;"
                    f" it has: {', '.join(new.connectors)}"
                )
            )
        elif port in old.connectors:
            problems += _differences(path, new, old.connectors[port], theirs)
    lost = [key for key in old.values if key not in new.connectors]
    if lost:
        problems.append(
            UnknownNameError(
                f"cannot swap '{path}' for {source}: it has no parameter {', '.join(lost)},"
                " which the system sets"
            )
        )
    values: dict[str, Value] = {}
    for key, value in old.values.items():
        if key in new.connectors:
            theirs = new.connectors[key]
            mine = old.connectors.get(key, theirs)
            different = _differences(path, new, mine, theirs)
            problems += different
            values[key] = value if different else converted(value, mine, theirs)
    if problems:
        raise DescriptionError.collect(problems)
    put = replace(new, name=old.name, values=values, options=old.options)
    return with_component(system, path, put)


def _differences(
    path: str, new: Component, mine: Connector, theirs: Connector
) -> list[DescriptionError]:
    """Say in what two connectors of one name differ, beyond units that convert."""
    different = (mine.causality, mine.type, mine.shape) != (
        theirs.causality,
        theirs.type,
        theirs.shape,
    )
    try:
        conversion_between(mine, theirs)
    except UnitMismatchError:
        different = True
    if not different:
        return []
    return [
        ConnectorMismatchError(
            f"cannot swap '{path}' for {new.source}: '{mine.name}' is {_port(theirs)} there,"
            f" expected {_port(mine)}"
        )
    ]


def _port(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    return f"{connector.causality} {connector.type}{shape} in {connector.unit or 'no unit'}"
