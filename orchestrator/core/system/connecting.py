"""Connect, change and disconnect; connect automatically by unambiguous names and units."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Unpack

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system.component import Component
from orchestrator.core.system.connection import Connection, Endpoint
from orchestrator.core.system.delay import TransportDelay, delay_of
from orchestrator.core.system.hierarchy import split
from orchestrator.core.system.line_attributes import LineSettings, values_of
from orchestrator.core.system.naming import SEPARATOR, unknown_name_error
from orchestrator.core.system.ports import Causality, Connector, converts

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def connect(system: System, source: str, target: str, **settings: Unpack[LineSettings]) -> System:
    """Connect an output to an input."""
    line = connection_of(source, target, settings)
    folder, line = folder_of(system, line)
    return system.edit(
        folder, lambda holder: replace(holder, connections=(*holder.connections, line))
    )


def connection_of(source: str, target: str, settings: LineSettings) -> Connection:
    """Make a connection of its ends and settings as text or plain values."""
    location = f"connection {source} -> {target}"
    for name in settings:
        if name not in LineSettings.__annotations__:
            raise unknown_name_error(location, "setting", name, LineSettings.__annotations__)
    return Connection(
        Endpoint.of_line(source), Endpoint.of_line(target), **values_of(settings, location)
    )


def folder_of(system: System, line: Connection) -> tuple[str, Connection]:
    """Return the path of the nested system that a connection is in, and the line as it is there."""
    deep = [
        end
        for end in line.ends
        if SEPARATOR in end.component and end.component not in system.components
    ]
    if not deep:
        return "", line
    folders = [split(end.component)[0] for end in line.ends]
    if folders[0] != folders[1]:
        end = deep[0]
        folder, name = split(end.component)
        raise DescriptionError(
            f"connection {line}: '{end}' is inside of system '{folder}'; lead it out by a"
            f" connector of that system: edit('{folder}', lambda s: s.expose('{end.connector}',"
            f" to='{name}.{end.connector}'))"
        )
    source, target = (Endpoint(split(end.component)[1], end.connector) for end in line.ends)
    return folders[0], replace(line, source=source, target=target)


def disconnect(system: System, source: str, target: str | None = None) -> System:
    """Take away a connection; without a target, all of a connector or of a component."""
    if target is not None:
        folder, unwanted = folder_of(
            system, Connection(Endpoint.of_line(source), Endpoint.of_line(target))
        )
        holder = system.nested(folder)
        gone = [c for c in holder.connections if c.ends == unwanted.ends]
        label = f"connection {unwanted}"
    else:
        component, dot, connector = source.partition(".")
        folder, name = ("", component) if component in system.components else split(component)
        holder = system.nested(folder)
        is_own = not dot and name in holder.connectors
        end = Endpoint("", name) if is_own else Endpoint(name, connector)
        gone = [
            line
            for line in holder.connections
            if end in line.ends
            or (
                not end.connector
                and end.component in {end_of_line.component for end_of_line in line.ends}
            )
        ]
        label = f"connection of '{source}'"
    if not gone:
        choices = choices_for(
            source if target is None else f"{source} -> {target}",
            map(str, holder.connections),
            "connection",
            "its",
        )
        raise UnknownNameError(f"system '{holder.name}' has no {label}{choices}")
    remaining = tuple(c for c in holder.connections if c not in gone)
    return system.edit(folder, lambda holder: replace(holder, connections=remaining))


def with_delay(
    system: System, source: str, target: str, delay: TransportDelay | str | float | None
) -> System:
    """Set or remove the delay of an existing connection."""
    folder, line = folder_of(system, Connection(Endpoint.of_line(source), Endpoint.of_line(target)))
    holder = system.nested(folder)
    ends = line.ends
    if all(c.ends != ends for c in holder.connections):
        lines = [str(line) for line in holder.connections]
        raise UnknownNameError(
            f"system '{holder.name}' has no connection {source} -> {target}"
            f"{choices_for(f'{source} -> {target}', lines, 'connection', 'its')}"
        )
    new_delay = delay_of(delay)
    changed = tuple(
        replace(c, delay=new_delay) if c.ends == ends else c for c in holder.connections
    )
    return system.edit(folder, lambda holder: replace(holder, connections=changed))


class AutoConnection(Struct):
    """The connections that were found; the original system is unchanged.

    system: With the connections that were found.
    connected: These connections.
    ambiguous: Inputs with several outputs that would do as well, or that several inputs ask for.
    unconnected: Inputs that no output fits, and that have no value.
    """

    system: System
    connected: tuple[Connection, ...]
    ambiguous: Mapping[Endpoint, tuple[Endpoint, ...]]
    unconnected: tuple[Endpoint, ...]

    def __str__(self) -> str:
        lines = [f"+ {line}" for line in self.connected]
        lines += [
            f"? {target}: one of {', '.join(map(str, sources))}"
            for target, sources in self.ambiguous.items()
        ]
        return "\n".join([*lines, *(f"  {end}: nothing fits" for end in self.unconnected)])


Ends = dict[Endpoint, Connector]


def auto_connect(system: System, *names: str) -> AutoConnection:
    """Find what can be connected without a guess."""
    parts = _parts(system, names)
    fed = {line.target for line in system.connections}
    inputs = {
        end: connector
        for end, connector in _open_ends(parts, Causality.INPUT).items()
        if end not in fed and end.connector not in parts[end.component].values
    }
    outputs = _open_ends(parts, Causality.OUTPUT)
    fitting = {
        end: [
            source
            for source, connector in outputs.items()
            if source.component != end.component and _fits(connector, connector_in)
        ]
        for end, connector_in in inputs.items()
    }
    same_name = {
        end: [s for s in fits if _plain(s.connector) == _plain(end.connector)]
        for end, fits in fitting.items()
    }
    connected: list[Connection] = []
    ambiguous: dict[Endpoint, tuple[Endpoint, ...]] = {}
    by_unit = {
        end: [s for s in fits if inputs[end].unit is not None and outputs[s].unit is not None]
        for end, fits in fitting.items()
        if not same_name[end]
    }
    for end in inputs:
        sources = same_name[end] or by_unit[end]
        shared = not same_name[end] and any(
            rival != end and set(sources) & set(theirs) for rival, theirs in by_unit.items()
        )
        if len(sources) == 1 and not shared:
            connected.append(Connection(sources[0], end))
        elif sources:
            ambiguous[end] = tuple(sources)
    unmatched = tuple(
        end for end in inputs if end not in ambiguous and end not in {c.target for c in connected}
    )
    grown = replace(system, connections=(*system.connections, *connected))
    return AutoConnection(grown, tuple(connected), ambiguous, unmatched)


def _parts(system: System, names: Collection[str]) -> dict[str, Component]:
    """Return components, and nested systems as they look from outside."""
    parts = {**system.components, **{n: inner.outside for n, inner in system.systems.items()}}
    for name in names:
        if name not in parts:
            location = f"system '{system.name}'"
            raise unknown_name_error(location, "component or nested system", name, parts)
    return {name: part for name, part in parts.items() if not names or name in names}


def _open_ends(parts: Mapping[str, Component], causality: Causality) -> Ends:
    return {
        Endpoint(name, connector.name): connector
        for name, part in parts.items()
        for connector in part.of(causality)
    }


def _fits(source: Connector, target: Connector) -> bool:
    return (source.type, source.shape) == (target.type, target.shape) and converts(source, target)


def _plain(name: str) -> str:
    return re.sub(r"[\s_.]", "", name).casefold()
