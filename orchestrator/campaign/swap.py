"""Swapping a component for another source of the same ports."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
    UnknownNameError,
)
from orchestrator.simunits import component_of
from orchestrator.system import Connector, Source, System, Value, conversion


def swap_component(system: System, name: str, source: Source | str) -> System:
    """Replace a component's source by name.

    ``source`` may be text: a path that ends in ``.fmu``, or ``"block:NAME"``.

    Every connected port and every parameter that is set must exist on the new source with the same
    causality, type and shape, and a unit that converts; values are carried over in its unit.

    Raises
    ------
    DescriptionError
        If the component does not exist, or ports are missing or differ; all together.
    """
    if isinstance(source, str):
        source = Source.parse(source)
    old = system.component(name)
    new = component_of(source, name)
    used = {
        end.connector
        for line in system.connections
        for end in (line.source, line.target)
        if end.component == name
    }
    problems: list[DescriptionError] = []
    for port in sorted(used):
        theirs = new.connectors.get(port)
        if theirs is None:
            problems.append(
                UnknownNameError(
                    f"cannot swap '{name}' for {source}: connected port '{port}' is missing there;"
                    f" it has: {', '.join(new.connectors)}"
                )
            )
        elif port in old.connectors:
            problems += _differences(name, source, old.connectors[port], theirs)
    lost = [key for key in old.values if key not in new.connectors]
    if lost:
        problems.append(
            UnknownNameError(
                f"cannot swap '{name}' for {source}: it has no parameter {', '.join(lost)},"
                " which the system sets"
            )
        )
    values: dict[str, Value] = {}
    for key, value in old.values.items():
        if key in new.connectors:
            mine, theirs = old.connectors[key], new.connectors[key]
            different = _differences(name, source, mine, theirs)
            problems += different
            values[key] = value if different else _converted(value, mine, theirs)
    if problems:
        raise DescriptionError.collect(problems)
    return system.replace(replace(new, values=values, options=old.options))


def _differences(
    name: str, source: Source, mine: Connector, theirs: Connector
) -> list[DescriptionError]:
    """Say in what two connectors of one name differ, beyond units that convert."""
    different = (mine.causality, mine.type, mine.shape) != (
        theirs.causality,
        theirs.type,
        theirs.shape,
    )
    try:
        conversion(mine.unit, theirs.unit)
    except UnitMismatchError:
        different = True
    if not different:
        return []
    return [
        ConnectorMismatchError(
            f"cannot swap '{name}' for {source}: '{mine.name}' is {_port(theirs)} there,"
            f" expected {_port(mine)}"
        )
    ]


def _converted(value: Value, mine: Connector, theirs: Connector) -> Value:
    """Carry a value over into the unit of the new connector."""
    factor, offset = conversion(mine.unit, theirs.unit)
    if (factor, offset) == (1.0, 0.0):
        return value
    if isinstance(value, tuple):
        return tuple(factor * float(element) + offset for element in value)
    return factor * float(value) + offset


def _port(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    return f"{connector.causality} {connector.type}{shape} in {connector.unit or 'no unit'}"
