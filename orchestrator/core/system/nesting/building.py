"""Putting systems together: what is in them comes, goes, changes its name or its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.components.bus import Bus
from orchestrator.core.system.components.component import Component
from orchestrator.core.system.experiment import DefaultExperiment
from orchestrator.core.system.lines.connection import Connection, Endpoint
from orchestrator.core.system.naming import expect_name
from orchestrator.core.system.nesting.hierarchy import (
    component_at,
    element,
    free,
    place_of,
    with_component,
)
from orchestrator.core.system.ports.connector import Value

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def add(system: System, name: str, what: Component | System, /, **values: Value) -> System:
    """Add a component or a nested system, with values of its parameters and inputs."""
    expect_name(name, "component")
    free(system, name)
    if isinstance(what, Component):
        named = replace(what, name=name).with_values(values)
        return replace(system, components={**system.components, name: named})
    if not isinstance(what, type(system)):
        raise DescriptionError(
            f"component '{name}': expected what fmu(path) or block(name) returns, or a System,"
            f" found {what!r}"
        )
    inner = replace(what, name=name, experiment=DefaultExperiment())
    for key, value in values.items():
        inner = inner.set(key, value)
    return replace(system, systems={**system.systems, name: inner})


def _removed(system: System, name: str) -> System:
    """Return the system without a component, nested system or bus, and without its connections."""
    element(system, name)

    def others(parts: Mapping[str, Any]) -> dict[str, Any]:
        return {key: part for key, part in parts.items() if key != name}

    return replace(
        system,
        components=others(system.components),
        systems=others(system.systems),
        buses=others(system.buses),
        connections=tuple(c for c in system.connections if name not in _parts(c)),
    )


def _parts(line: Connection) -> tuple[str, str]:
    return line.source.component, line.target.component


def _renamed(system: System, name: str, new: str) -> System:
    """Return the system with another name for a component, nested system or bus."""
    element(system, name)
    if new == name:
        return system
    expect_name(new, "component")
    free(system, new)

    def moved(parts: Mapping[str, Any]) -> dict[str, Any]:
        return {
            new if key == name else key: replace(part, name=new) if key == name else part
            for key, part in parts.items()
        }

    def at(end: Endpoint) -> Endpoint:
        return replace(end, component=new) if end.component == name else end

    return replace(
        system,
        components=moved(system.components),
        systems=moved(system.systems),
        buses=moved(system.buses),
        connections=tuple(
            replace(c, source=at(c.source), target=at(c.target)) for c in system.connections
        ),
    )


def move(system: System, path: str, into: str) -> System:
    """Put a component or nested system, which nothing is connected with, into another system.

    ``into`` is the path of a nested system; ``""`` is this one.
    """
    folder, name = place_of(system, path)
    part = element(system, path)
    if isinstance(part, Bus):
        raise DescriptionError(f"'{path}' is a bus: add one where it is wanted, and remove this")
    if into == path or into.startswith(f"{path}/"):
        raise DescriptionError(f"system '{path}' cannot be moved into itself")
    held = [str(c) for c in system.nested(folder).connections if name in _parts(c)]
    if held:
        raise DescriptionError(
            f"'{path}' cannot be moved while it is connected in its place: {'; '.join(held)};"
            " disconnect it first"
        )
    without = system.edit(folder, lambda holder: _removed(holder, name))
    return without.edit(into, lambda holder: add(holder, name, part))


def remove(system: System, path: str) -> System:
    """Take away a component, nested system or bus, with its connections."""
    folder, name = place_of(system, path)
    return system.edit(folder, lambda holder: _removed(holder, name))


def rename(system: System, path: str, name: str) -> System:
    """Give a component, nested system or bus another name; its connections stay."""
    folder, old = place_of(system, path)
    return system.edit(folder, lambda holder: _renamed(holder, old, name))


def with_options(system: System, path: str, **changes: object) -> System:
    """Change how a component is run: ``system.with_options("arm", interface="me")``."""
    component = component_at(system, path)
    try:
        options = component.options.changed(changes)
    except DescriptionError as error:
        told = (f"component '{path}': {text}" for text in error.problems)
        raise type(error)(*told) from None
    return with_component(system, path, replace(component, options=options))


def put(system: System, component: Component, path: str | None = None) -> System:
    """Put another component in the place of the one of the same name, or of a path."""
    return with_component(system, path or component.name, component)
