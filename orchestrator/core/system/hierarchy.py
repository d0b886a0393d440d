"""Paths such as ``"arm/motor"``, a component in the place of another, and two systems merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnknownNameError,
    choices_for,
)
from orchestrator.core.structs import replace
from orchestrator.core.system.component import Bus, Component
from orchestrator.core.system.experiment import DefaultExperiment
from orchestrator.core.system.naming import SEPARATOR, unknown_name_error
from orchestrator.core.system.ports import Causality, Connector, Value, converted, converts
from orchestrator.core.system.source import SourceKind, stays_unopened, unopened_note

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
            raise unknown_name_error(
                f"system '{system.name}'", "nested system", name, system.systems
            )
        system = system.systems[name]
    return system


def edited(system: System, path: str, change: Callable[[System], System]) -> System:
    """Return the system with a nested one changed."""
    if not path:
        return change(system)
    name, _, inner_path = path.partition(SEPARATOR)
    inner = edited(nested(system, name), inner_path, change)
    return replace(system, systems={**system.systems, name: inner})


def element(system: System, path: str) -> Component | System | Bus:
    """Return what a path names."""
    folder, name = place_of(system, path)
    holder = nested(system, folder)
    parts = elements(holder)
    if name not in parts:
        raise unknown_name_error(
            f"system '{holder.name}'", "component or nested system", name, parts
        )
    return parts[name]


def elements(system: System) -> dict[str, Component | System | Bus]:
    """Return components, nested systems and buses by name."""
    return {**system.components, **system.systems, **system.buses}


def component_at(system: System, path: str) -> Component:
    """Return the component that a path names, or raise UnknownNameError."""
    folder, name = place_of(system, path)
    holder = nested(system, folder)
    if name not in holder.components:
        raise unknown_name_error(f"system '{holder.name}'", "component", name, holder.components)
    return holder.components[name]


def with_component(system: System, path: str, component: Component) -> System:
    """Put a component in the place of the one that a path names."""
    folder, name = place_of(system, path)
    component_at(system, path)

    def put(holder: System) -> System:
        return replace(holder, components={**holder.components, name: component})

    return edited(system, folder, put)


def require_unused_name(system: System, name: str) -> None:
    """Raise DescriptionError if something in a system has a name."""
    parts = elements(system)
    if name in parts:
        kind = "component" if isinstance(parts[name], Component) else "nested system"
        kind = "bus" if isinstance(parts[name], Bus) else kind
        raise DescriptionError(
            f"system '{system.name}' already has a {kind} '{name}'; choose another name"
        )


def swap(system: System, path: str, component: Component) -> System:
    """Put another component in the place of one that has the same ports."""
    new = component
    folder, name = place_of(system, path)
    old = component_at(system, path)
    source = new.source
    used = {
        end.connector
        for line in system.nested(folder).connections
        for end in line.ends
        if end.component == name
    }
    problems: list[DescriptionError] = []
    for port in sorted(used):
        if port not in new.connectors:
            problems.append(
                UnknownNameError(
                    f"cannot swap '{path}' for {source}: it has no connector '{port}', which is"
                    f" connected{choices_for(port, new.connectors, 'connector', 'its')}"
                )
            )
        elif port in old.connectors:
            problems += _differences(path, new, old.connectors[port], new.connectors[port])
            problems += _other_frames(path, old, new, port)
    carried = {key: value for key, value in old.values.items() if _is_carried(old, new, key)}
    if lost := [key for key in carried if key not in new.connectors]:
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
    return with_component(
        system, path, replace(new, name=old.name, values=values, options=old.options)
    )


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
    kinds = [(c.causality, c.type, c.shape) for c in (mine, theirs)]
    if kinds[0] == kinds[1] and converts(mine, theirs):
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


_KINDS = ("components", "systems", "buses", "connectors", "values", "power_ports")


def merge(system: System, added: System) -> System:
    """Put all that is in another system into this one, connectors of its own as well."""
    clashes = []
    for kind in _KINDS:
        mine, theirs = getattr(system, kind), getattr(added, kind)
        clashes += [name for name in theirs if name in mine and mine[name] != theirs[name]]
    mine, theirs = elements(system), elements(added)
    clashes += [
        name for name in theirs if name in mine and type(mine[name]) is not type(theirs[name])
    ]
    if clashes:
        raise DescriptionError(
            *(
                f"cannot merge '{added.name}' into '{system.name}': both have '{name}', and they"
                " differ; rename one, or remove it"
                for name in dict.fromkeys(clashes)
            )
        )
    lines = [*system.connections, *(c for c in added.connections if c not in system.connections)]
    parts: dict[str, Any] = {
        kind: {**getattr(system, kind), **getattr(added, kind)} for kind in _KINDS
    }
    master = added if system.experiment == DefaultExperiment() else system
    return replace(system, connections=tuple(lines), experiment=master.experiment, **parts)


def unopened_notes(system: System) -> Mapping[str, str]:
    """Return a note for each component whose code stays unopened, by their paths."""
    notes = {
        name: unopened_note(component.source)
        for name, component in system.components.items()
        if stays_unopened(component.source)
    }
    for name, inner in system.systems.items():
        notes |= {f"{name}{SEPARATOR}{key}": note for key, note in unopened_notes(inner).items()}
    return notes
