"""Values of parameters and start values of inputs, through nested systems."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.checks import expected_value
from orchestrator.core.system.components.component import Component
from orchestrator.core.system.lines.connection import Endpoint
from orchestrator.core.system.naming import lacking
from orchestrator.core.system.nesting.hierarchy import component_at, element, with_component
from orchestrator.core.system.ports.connector import Causality, Connector, Value
from orchestrator.core.system.ports.plain_value import plain_value

if TYPE_CHECKING:
    from orchestrator.core.system.system import System

_SETTABLE = ("input", "parameter", "structuralParameter")


def set_value(system: System, path: str, value: Value) -> System:
    """Set a parameter or an input's start value: ``system.set("chaser.m", 750.0)``.

    ``"arm.force"`` and ``"force"`` are connectors of a nested system and of this one. A component
    that declares no connectors has those of its source later: any value is taken for now.
    """
    end = Endpoint.of_line(path)
    if _takes_anything(system, end.component):
        component = component_at(system, end.component)
        return with_component(system, end.component, component.with_values({end.connector: value}))
    holder, connector = target_of(system, path)
    name = connector.name
    if not connector.causality.is_settable:
        raise DescriptionError(
            f"{path}: is {_article(connector.causality)}; expected {' or '.join(_SETTABLE)}"
        )
    value = plain_value(value, connector)
    if not connector.accepts(value):
        raise DescriptionError(f"{path}: expected {expected_value(connector)}, found {value!r}")
    if isinstance(holder, Component):
        return with_component(system, end.component, holder.with_values({name: value}))

    def given(inner: System) -> System:
        return replace(inner, values={**inner.values, name: value})

    return system.edit(end.component, given)


def unset_value(system: System, path: str) -> System:
    """Take away a value that was set, so that the source's own holds."""
    end = Endpoint.of_line(path)
    holder = _holder(system, path)
    known = holder.connectors.get(end.connector)
    unset = end.connector if known is None else known.name
    values = {name: value for name, value in holder.values.items() if name != unset}
    if unset not in holder.values:
        raise DescriptionError(f"{path}: no value is set")
    if isinstance(holder, Component):
        return with_component(system, end.component, replace(holder, values=values))
    return system.edit(end.component, lambda inner: replace(inner, values=values))


def value_at(system: System, path: str) -> Value:
    """Return a parameter's or held input's value: the one that was set, else its default."""
    name = Endpoint.of_line(path).connector
    holder = _holder(system, path)
    start = None
    if name in holder.connectors:
        name, start = holder.connectors[name].name, holder.connectors[name].start
    value = holder.values.get(name, start)
    if value is None:
        raise DescriptionError(f"{path}: has no value; set one")
    return value


def target_of(system: System, path: str) -> tuple[Component | System, Connector]:
    """Return the component or system that has a connector, and the connector."""
    end = Endpoint.of_line(path) if system.connectors else Endpoint.parse(path)
    if not end.component:
        holder: Component | System = system
    else:
        found = element(system, end.component)
        if not isinstance(found, (Component, type(system))):
            raise DescriptionError(f"{path}: '{found.name}' is a bus, which has no values")
        holder = found
    if end.connector in holder.connectors:
        return holder, holder.connectors[end.connector]
    if isinstance(holder, Component):
        return holder, holder.connector(end.connector)
    raise lacking(
        f"system '{holder.name}'", "connector of its own", end.connector, holder.connectors
    )


def _holder(system: System, path: str) -> Component | System:
    """Return what has a value, which may be one of a connector that is not declared."""
    end = Endpoint.of_line(path)
    found = element(system, end.component) if end.component else system
    if isinstance(found, Component) and end.connector in found.values:
        return found
    return target_of(system, path)[0]


def _takes_anything(system: System, path: str) -> bool:
    found = element(system, path) if path else system
    return isinstance(found, Component) and not found.connectors


def _article(causality: Causality) -> str:
    return f"an {causality}" if causality[0] in "aeiou" else f"a {causality}"
