"""Paths through nested systems, such as ``"arm/motor"``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.components.bus import Bus
from orchestrator.core.system.components.component import Component
from orchestrator.core.system.naming import SEPARATOR, lacking

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def split(path: str) -> tuple[str, str]:
    """Split ``"arm/motor"`` into the path of the system, ``"arm"``, and the name in it."""
    folder, _, name = path.rpartition(SEPARATOR)
    return folder, name


def place_of(system: System, path: str) -> tuple[str, str]:
    """Split a path into that of a nested system and a name in it.

    In a flat system a component may be called by a path: it is then in the system itself.
    """
    return ("", path) if path in system.components else split(path)


def nested(system: System, path: str) -> System:
    """Return a nested system by its path; ``""`` is the system itself."""
    for name in path.split(SEPARATOR) if path else ():
        if name not in system.systems:
            raise lacking(f"system '{system.name}'", "nested system", name, system.systems)
        system = system.systems[name]
    return system


def edited(system: System, path: str, change: Callable[[System], System]) -> System:
    """Return the system with a nested one changed."""
    if not path:
        return change(system)
    name, _, rest = path.partition(SEPARATOR)
    inner = edited(nested(system, name), rest, change)
    return replace(system, systems={**system.systems, name: inner})


def element(system: System, path: str) -> Component | System | Bus:
    """Return what a path names."""
    folder, name = place_of(system, path)
    holder = nested(system, folder)
    known = elements(holder)
    if name not in known:
        raise lacking(f"system '{holder.name}'", "component or nested system", name, known)
    return known[name]


def elements(system: System) -> dict[str, Component | System | Bus]:
    """Return components, nested systems and buses by name."""
    return {**system.components, **system.systems, **system.buses}


def component_at(system: System, path: str) -> Component:
    """Return the component that a path names, or raise UnknownNameError."""
    folder, name = place_of(system, path)
    holder = nested(system, folder)
    if name not in holder.components:
        raise lacking(f"system '{holder.name}'", "component", name, holder.components)
    return holder.components[name]


def with_component(system: System, path: str, component: Component) -> System:
    """Put a component in the place of the one that a path names."""
    folder, name = place_of(system, path)
    component_at(system, path)

    def put(holder: System) -> System:
        return replace(holder, components={**holder.components, name: component})

    return edited(system, folder, put)


def free(system: System, name: str) -> None:
    """Raise DescriptionError if something in a system has a name."""
    known = elements(system)
    if name in known:
        kind = "component" if isinstance(known[name], Component) else "nested system"
        kind = "bus" if isinstance(known[name], Bus) else kind
        raise DescriptionError(f"system '{system.name}' already has a {kind} '{name}'")
