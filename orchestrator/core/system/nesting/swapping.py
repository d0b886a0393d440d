"""Putting another component in the place of one: under the same contract of ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
    UnknownNameError,
)
from orchestrator.core.system.components.component import Component
from orchestrator.core.system.components.source import SourceKind
from orchestrator.core.system.nesting.hierarchy import component_at, place_of, with_component
from orchestrator.core.system.ports.connector import Causality, Connector, Value
from orchestrator.core.system.ports.conversion import conversion_between, converted

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def swap(system: System, path: str, component: Component) -> System:
    """Put another component in the place of one that has the same ports.

    Every connected port and every value that is set must exist on the new one with the same
    causality, type and shape, and a unit that converts; values are carried over in its unit. Frames
    must be the same where both sides say one. Values of parameters belong to what is simulated: a
    device and a recording go without.
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
            problems += _other_frames(path, old, new, port)
    carried = {key: value for key, value in old.values.items() if _is_carried(old, new, key)}
    lost = [key for key in carried if key not in new.connectors]
    if lost:
        problems.append(
            UnknownNameError(
                f"cannot swap '{path}' for {source}: it has no parameter {', '.join(lost)},"
                " which the system sets"
            )
        )
    values: dict[str, Value] = {}
    for key, value in carried.items():
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


def _is_carried(old: Component, new: Component, key: str) -> bool:
    """Whether a value that is set goes over to the new component."""
    if not new.source.is_measured or key not in old.connectors:
        return True
    is_input = old.connectors[key].causality is Causality.INPUT
    return is_input and (key in new.connectors or new.source.kind is not SourceKind.LOG)


def _other_frames(
    path: str, old: Component, new: Component, port: str
) -> Iterator[ConnectorMismatchError]:
    """Say where two components give a connector in different frames."""
    mine, theirs = old.frame_of(port), new.frame_of(port)
    if None not in {mine, theirs} and mine != theirs:
        yield ConnectorMismatchError(
            f"cannot swap '{path}' for {new.source}: '{port}' is given in frame '{theirs}' there,"
            f" expected '{mine}'"
        )


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
