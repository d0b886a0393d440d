"""The systems of a hierarchy, one level each, and the connections that a flat system does not have.

Flattening joins connections in a row to one between two components. What stands between them, the
connectors of nested systems and of buses, is compared here, so that a run and ``softdock check``
refuse the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system.checks import endpoints, misfits, sources, value_problem
from orchestrator.core.system.component import Component
from orchestrator.core.system.connection import Connection, Endpoint
from orchestrator.core.system.naming import SEPARATOR
from orchestrator.core.system.ports import Causality, Connector
from orchestrator.core.system.source import Source, SourceKind, stays_unopened
from orchestrator.core.system.system import System

#: Causality of what gives a value that does not change.
_GIVES = {Causality.PARAMETER, Causality.CALCULATED_PARAMETER, Causality.CONSTANT}


class SystemLevel(Struct):
    """One system of a hierarchy, and the path to it; empty for the top."""

    path: str
    system: System

    def at(self, name: str) -> str:
        """Return the path of what is in it."""
        return f"{self.path}{SEPARATOR}{name}" if self.path else name

    def path_of(self, connector: str) -> str:
        """Return the name of one of its own connectors."""
        return f"{self.path}.{connector}" if self.path else connector

    def end(self, end: Endpoint) -> str:
        """Return the path of an end of one of its connections."""
        if not end.component:
            return self.path_of(end.connector)
        return f"{self.at(end.component)}.{end.connector}"


def levels_of(system: System, path: str = "") -> Iterator[SystemLevel]:
    """Return a system and all nested ones, from the outside to the inside."""
    level = SystemLevel(path, system)
    yield level
    for name, inner in system.systems.items():
        yield from levels_of(inner, level.at(name))


def parts_of(system: System) -> dict[str, Component]:
    """Return what connections of a system can end at, as components; itself under no name."""
    parts = dict(system.components)
    for name, inner in system.systems.items():
        parts[name] = replace(inner.outside, name=name)
    for name, bus in system.buses.items():
        parts[name] = Component(name, Source(SourceKind.SYSTEM, name), bus.connectors)
    if system.connectors:
        parts[""] = system.inside
    return parts


def parts_at_ends(
    line: Connection, parts: Mapping[str, Component], system: System
) -> Mapping[str, Component]:
    """Return the parts at both ends, turned where SSP connects more than signals.

    Entries of a bus may be at both ends; what gives a fixed value may feed inputs and parameters.
    """
    source, target = connector_at(parts, line.source), connector_at(parts, line.target)
    if source is None or target is None:
        return parts
    ends = {end.component: parts[end.component] for end in line.ends}
    gives = source.causality in _GIVES
    if gives or line.source.component in system.buses:
        ends = _turned(ends, line.source, Causality.OUTPUT)
    if (gives and target.causality is Causality.PARAMETER) or line.target.component in system.buses:
        ends = _turned(ends, line.target, Causality.INPUT)
    return ends


def _turned(
    parts: Mapping[str, Component], end: Endpoint, causality: Causality
) -> dict[str, Component]:
    part = parts[end.component]
    connector = replace(part.connectors[end.connector], causality=causality)
    changed = replace(part, connectors={**part.connectors, end.connector: connector})
    return {**parts, end.component: changed}


def connector_at(parts: Mapping[str, Component], end: Endpoint) -> Connector | None:
    """Return the connector at an end of a connection; ``None`` if it does not exist."""
    part = parts.get(end.component)
    return None if part is None else part.connectors.get(end.connector)


def own_values(system: System) -> Iterator[DescriptionError]:
    """Whether the values of a system fit its own connectors; a key is the name of a connector."""
    starts = {
        name: connector.start
        for name, connector in system.connectors.items()
        if connector.start is not None and connector.causality is not Causality.OUTPUT
    }
    for name, value in {**starts, **system.values}.items():
        connector = system.connectors.get(name)
        if connector is None:
            text = f"the system has no connector '{name}'"
            text += choices_for(name, system.connectors, "connector", "its")
            yield UnknownNameError.about(text, code="VAL101", key=name)
        elif misfit := value_problem(connector, value):
            code, text = misfit
            yield DescriptionError.about(f"connector '{name}': {text}", code=code, key=name)


def expect_fitting_levels(system: System) -> None:
    """Check what a flat and closed system does not have: values and connections of systems.

    It checks the connections that end at a connector of a system or of a bus.

    Raises DescriptionError: of all that do not fit, with the paths of their systems.
    """
    problems: list[DescriptionError] = []
    for level in levels_of(system):
        for error in _level_problems(level.system):
            context = f"system '{level.path}'"
            located = error.within(context) if level.path else error.diagnostics
            problems.append(type(error)(*located))
    if problems:
        raise DescriptionError.collect(problems)


def _level_problems(system: System) -> Iterator[DescriptionError]:
    parts = parts_of(system)
    unopened = {name for name, c in system.components.items() if stays_unopened(c.source)}
    to_own: list[Connection] = []
    yield from own_values(system)
    for line in system.connections:
        names = {end.component for end in line.ends}
        if names <= system.components.keys() or names & unopened:
            continue  # it is one of the flat system, or its connectors are not known
        ends = parts_at_ends(line, parts, system)
        errors = list(endpoints(ends, line)) or list(misfits(ends, line))
        yield from errors
        if not errors and not line.target.component:
            to_own.append(line)
    yield from sources(to_own)
