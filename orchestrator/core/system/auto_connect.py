"""Connections that names, units and types leave no doubt about."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.system.components.component import Component
from orchestrator.core.system.lines.connection import Connection, Endpoint
from orchestrator.core.system.naming import lacking
from orchestrator.core.system.ports.connector import Causality, Connector
from orchestrator.core.system.ports.conversion import conversion_between

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


@dataclass(frozen=True, slots=True)
class AutoConnection:
    """What was found to connect; nothing has happened to the system that was asked.

    Parameters
    ----------
    system
        With the connections that were found.
    connected
        These connections.
    ambiguous
        Inputs with several outputs that would do as well, or that several inputs ask for.
    left
        Inputs that no output fits, and that have no value.
    """

    system: System
    connected: tuple[Connection, ...]
    ambiguous: Mapping[Endpoint, tuple[Endpoint, ...]]
    left: tuple[Endpoint, ...]

    def __str__(self) -> str:
        lines = [f"+ {line}" for line in self.connected]
        lines += [
            f"? {target}: one of {', '.join(map(str, sources))}"
            for target, sources in self.ambiguous.items()
        ]
        return "\n".join([*lines, *(f"  {end}: nothing fits" for end in self.left)])


Ends = dict[Endpoint, Connector]


def auto_connect(system: System, *names: str) -> AutoConnection:
    """Find what can be connected without a guess.

    An open input takes an output of another component that has the same type and shape and a unit
    of the same dimension. Outputs of the same name come first, in upper or lower case, with or
    without underscores; without one, both units must be declared. An input is connected if one
    output is left, and if, without a common name, no other input asks for that one. All else is
    reported.
    """
    parts = _parts(system, names)
    fed = {line.target for line in system.connections}
    inputs = {
        end: connector
        for end, connector in _ends(parts, Causality.INPUT).items()
        if end not in fed and end.connector not in parts[end.component].values
    }
    outputs = _ends(parts, Causality.OUTPUT)
    fitting = {end: _fitting(end, connector, outputs) for end, connector in inputs.items()}
    named = {end: [s for s in fits if _same_name(s, end)] for end, fits in fitting.items()}
    connected: list[Connection] = []
    ambiguous: dict[Endpoint, tuple[Endpoint, ...]] = {}
    by_unit = {
        end: [s for s in fits if inputs[end].unit is not None and outputs[s].unit is not None]
        for end, fits in fitting.items()
        if not named[end]
    }
    for end in inputs:
        sources = named[end] or by_unit[end]
        shared = not named[end] and any(
            other != end and set(sources) & set(theirs) for other, theirs in by_unit.items()
        )
        if len(sources) == 1 and not shared:
            connected.append(Connection(sources[0], end))
        elif sources:
            ambiguous[end] = tuple(sources)
    left = tuple(
        end for end in inputs if end not in ambiguous and end not in {c.target for c in connected}
    )
    grown = replace(system, connections=(*system.connections, *connected))
    return AutoConnection(grown, tuple(connected), ambiguous, left)


def _parts(system: System, names: Collection[str]) -> dict[str, Component]:
    """Return components, and nested systems as they look from outside."""
    known = {**system.components, **{n: inner.outside for n, inner in system.systems.items()}}
    for name in names:
        if name not in known:
            where = f"system '{system.name}'"
            raise lacking(where, "component or nested system", name, known)
    return {name: part for name, part in known.items() if not names or name in names}


def _ends(parts: Mapping[str, Component], causality: Causality) -> Ends:
    return {
        Endpoint(name, connector.name): connector
        for name, part in parts.items()
        for connector in part.of(causality)
    }


def _fitting(target: Endpoint, wanted: Connector, outputs: Ends) -> list[Endpoint]:
    return [
        source
        for source, connector in outputs.items()
        if source.component != target.component and _fits(connector, wanted)
    ]


def _fits(source: Connector, target: Connector) -> bool:
    if (source.type, source.shape) != (target.type, target.shape):
        return False
    try:
        conversion_between(source, target)
    except UnitMismatchError:
        return False
    return True


def _same_name(one: Endpoint, other: Endpoint) -> bool:
    return _plain(one.connector) == _plain(other.connector)


def _plain(name: str) -> str:
    return re.sub(r"[\s_.]", "", name).casefold()
