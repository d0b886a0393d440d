"""Connectors of a system itself, made of those that they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
)
from orchestrator.core.system.components.bus import Bus
from orchestrator.core.system.lines.connection import Connection, Endpoint
from orchestrator.core.system.naming import lacking
from orchestrator.core.system.nesting.hierarchy import element
from orchestrator.core.system.ports.connector import Causality, Connector, DataType, Value
from orchestrator.core.system.ports.conversion import conversion_between, converted
from orchestrator.core.system.power.power_names import power_port
from orchestrator.core.system.units.unit import base_unit
from orchestrator.core.system.values import target_of

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def expose(
    system: System,
    name: str,
    to: str | Iterable[str],
    *,
    value: Value | None = None,
    description: str | None = None,
    unit: str | None = None,
) -> System:
    """Give the system a connector of its own that leads to one or more of what is in it.

    Causality, type, shape and unit are those of the first that it leads to. Values that these
    have become the value of the new connector, so that what is outside decides.

    Parameters
    ----------
    name
        Of the new connector.
    to
        ``"component.connector"``, or several of inputs or of parameters.
    value
        While nothing outside feeds it.
    description
        Unless told, that of the first.
    unit
        Of the new connector, and so of ``value``; unless told, that of the first. Values are
        converted on the way.

    Raises
    ------
    DescriptionError
        If a target does not exist, or they differ in causality, type, shape or dimension; if the
        unit is none, or of another dimension.
    """
    where = f"system '{system.name}': connector '{name}'"
    if not name or "." in name:
        raise DescriptionError(f"{where}: a name must not be empty nor hold a dot")
    if name in system.connectors:
        raise DescriptionError(f"{where}: there is one of this name already")
    ends = [Endpoint.parse(text) for text in ([to] if isinstance(to, str) else to)]
    if not ends:
        raise DescriptionError(f"{where}: expected at least one connector that it leads to")
    found = {end: target_of(system, str(end)) for end in ends}
    connectors = {end: connector for end, (_, connector) in found.items()}
    first = connectors[ends[0]]
    _agree(where, connectors)
    out = _goes_out(first.causality)
    if out and len(ends) > 1:
        raise ConnectorMismatchError(
            f"{where}: leads to {len(ends)} outputs, {', '.join(map(str, ends))}; expected one"
        )
    own = replace(first, name=name, start=None)
    if description is not None:
        own = replace(own, description=description)
    if unit is not None:
        own = _in_unit(where, own, unit)
    sides = [(end, Endpoint("", name)) if out else (Endpoint("", name), end) for end in ends]
    lines = tuple(Connection(source, target) for source, target in sides)
    result = replace(
        system,
        connectors={**system.connectors, name: own},
        connections=(*system.connections, *lines),
    )
    return result if out else _taken_up(result, where, own, connectors, value)


def _in_unit(where: str, own: Connector, unit: str) -> Connector:
    """Return a connector in another unit; it must convert."""
    if own.type is not DataType.REAL:
        raise UnitMismatchError(f"{where}: unit '{unit}': its type is {own.type}, which has none")
    if unit == own.unit:
        return own
    changed = replace(own, unit=unit, unit_definition=None)
    try:
        base_unit(unit)
        conversion_between(own, changed)
    except DescriptionError as error:
        raise UnitMismatchError(f"{where}: {error}") from None
    return changed


def _goes_out(causality: Causality) -> bool:
    return causality in {Causality.OUTPUT, Causality.CALCULATED_PARAMETER}


def _agree(where: str, connectors: Mapping[Endpoint, Connector]) -> None:
    """Refuse connectors that one signal cannot serve."""
    (start, first), *rest = connectors.items()
    for end, other in rest:
        kinds = [(c.causality, c.type, c.shape) for c in (first, other)]
        if kinds[0] != kinds[1]:
            raise ConnectorMismatchError(
                f"{where}: '{start}' is {_kind(first)}, but '{end}' is {_kind(other)};"
                " expected the same of all"
            )
        try:
            conversion_between(first, other)
        except UnitMismatchError as error:
            raise UnitMismatchError(f"{where}: '{start}' and '{end}': {error}") from None


def _kind(connector: Connector) -> str:
    shape = f" of shape {connector.shape}" if connector.shape else ""
    return f"{connector.causality} {connector.type}{shape}"


def _taken_up(
    system: System,
    where: str,
    own: Connector,
    connectors: Mapping[Endpoint, Connector],
    value: Value | None,
) -> System:
    """Let the values of what a connector leads to be its own: what is outside then decides."""
    taken = []
    for end, connector in connectors.items():
        holder, _ = target_of(system, str(end))
        if end.connector in holder.values:
            taken.append(converted(holder.values[end.connector], connector, own))
            system = system.unset(str(end))
    if value is None and len(set(taken)) > 1:
        raise DescriptionError(
            f"{where}: what it leads to has the values {', '.join(map(repr, taken))};"
            " say one: value=.."
        )
    value = taken[0] if value is None and taken else value
    return system if value is None else system.set(own.name, value)


def withdraw(system: System, name: str) -> System:
    """Take away a connector of the system's own, with its connections."""
    if name not in system.connectors:
        raise lacking(f"system '{system.name}'", "connector of its own", name, system.connectors)
    end = Endpoint("", name)
    return replace(
        system,
        connectors={key: c for key, c in system.connectors.items() if key != name},
        values={key: value for key, value in system.values.items() if key != name},
        connections=tuple(c for c in system.connections if end not in (c.source, c.target)),
    )


def expose_power(system: System, name: str, to: str) -> System:
    """Give the system a power port of its own that leads to one of what is in it.

    Its connectors are called by its name and theirs: ``"tip_force"`` of the port ``"tip"``.
    """
    end = Endpoint.parse(to)
    owner = element(system, end.component)
    if isinstance(owner, Bus):
        raise DescriptionError(f"'{to}': a bus has no power ports")
    if name in system.power_ports:
        raise DescriptionError(f"system '{system.name}' already has a power port '{name}'")
    inner = power_port(owner, end.connector)
    for connector in inner.connectors:
        system = expose(system, f"{name}_{connector}", to=f"{end.component}.{connector}")

    def own(connectors: Iterable[str]) -> tuple[str, ...]:
        return tuple(f"{name}_{connector}" for connector in connectors)

    port = replace(
        inner,
        name=name,
        effort=own(inner.effort),
        flow=own(inner.flow),
        displacement=own(inner.displacement),
    )
    return replace(system, power_ports={**system.power_ports, name: port})
