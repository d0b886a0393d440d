"""Swapping a component for another source of the same ports."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import ConnectorMismatchError, DescriptionError, UnknownNameError
from orchestrator.simunits import component_of
from orchestrator.system import Component, Connector, Source, System


def swap_component(system: System, name: str, source: Source) -> System:
    """Replace a component's source by name.

    Every connected port must exist on the new source with the same causality, type, shape and
    unit. Values that were set are kept where the new source has such a parameter.

    Raises
    ------
    DescriptionError
        If the component does not exist, or ports are missing or differ; all together.
    """
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
        elif port in old.connectors and _port(theirs) != _port(old.connectors[port]):
            problems.append(
                ConnectorMismatchError(
                    f"cannot swap '{name}' for {source}: port '{port}' is {_port(theirs)} there,"
                    f" expected {_port(old.connectors[port])}"
                )
            )
    lost = [key for key in old.values if key not in new.connectors]
    if lost:
        problems.append(
            UnknownNameError(
                f"cannot swap '{name}' for {source}: it has no parameter {', '.join(lost)},"
                " which the system sets"
            )
        )
    if problems:
        raise DescriptionError.collect(problems)
    return system.replace(_with(new, old))


def _with(new: Component, old: Component) -> Component:
    return replace(new, values=old.values)


def _port(connector: Connector) -> str:
    shape = f" {connector.shape}" if connector.shape else ""
    return f"{connector.causality} {connector.type}{shape} in {connector.unit or 'no unit'}"
