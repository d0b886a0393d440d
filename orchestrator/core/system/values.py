"""Values of parameters, start values of inputs, and signals as results name them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, with_article
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system.checks import value_misfit
from orchestrator.core.system.component import Component
from orchestrator.core.system.connection import Endpoint
from orchestrator.core.system.hierarchy import element, with_component
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.core.system.ports import Causality, Connector, DataType, Value, plain_value
from orchestrator.core.system.source import SourceKind

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


def set_value(system: System, path: str, value: Value) -> System:
    """Set a parameter or an input's start value: ``system.set("chaser.m", 750.0)``."""
    end = Endpoint.of_line(path)
    part = element(system, end.component) if end.component else system
    if isinstance(part, Component) and not part.connectors:
        return with_component(system, end.component, part.with_values({end.connector: value}))
    holder, connector = target_of(system, path)
    name = connector.name
    if not connector.causality.is_settable:
        raise DescriptionError(
            f"'{path}' is {with_article(connector.causality)}; only inputs and parameters can be"
            " set"
        )
    value = plain_value(value, connector)
    if not connector.accepts(value):
        raise DescriptionError(f"{path}: {value_misfit(connector, value)}")
    return _with_values(system, end.component, holder, {**holder.values, name: value})


def _with_values(
    system: System, path: str, holder: Component | System, values: Mapping[str, Value]
) -> System:
    """Give the component or system of a path other values."""
    if isinstance(holder, Component):
        return with_component(system, path, replace(holder, values=values))
    return system.edit(path, lambda inner: replace(inner, values=values))


def unset_value(system: System, path: str) -> System:
    """Take away a value that was set, so that the source's own holds."""
    end = Endpoint.of_line(path)
    holder = _holder(system, path)
    connector = holder.connectors.get(end.connector)
    unset = end.connector if connector is None else connector.name
    values = {name: value for name, value in holder.values.items() if name != unset}
    if unset not in holder.values:
        raise DescriptionError(f"{path}: no value is set")
    return _with_values(system, end.component, holder, values)


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
        part = element(system, end.component)
        if not isinstance(part, (Component, type(system))):
            raise DescriptionError(f"{path}: '{part.name}' is a bus, which has no values")
        holder = part
    if isinstance(holder, Component):
        return holder, holder.connector(end.connector)
    if end.connector not in holder.connectors:
        error = unknown_name_error(
            f"system '{holder.name}'", "connector", end.connector, holder.connectors
        )
        inside, _, name = end.connector.partition(".")
        if not (name and inside in holder.components):
            raise error
        raise DescriptionError(
            f"{error}; expose it: edit('{end.component}', lambda s:"
            f" s.expose('{name}', to='{end.connector}'))"
        )
    return holder, holder.connectors[end.connector]


def _holder(system: System, path: str) -> Component | System:
    """Return what has a value, which may be one of a connector that is not declared."""
    end = Endpoint.of_line(path)
    part = element(system, end.component) if end.component else system
    if isinstance(part, Component) and end.connector in part.values:
        return part
    return target_of(system, path)[0]


class KeptStart(Struct):
    """An input that keeps the value which its FMU begins with, in its unit if it has one."""

    end: Endpoint
    value: Value
    unit: str | None = None

    def __str__(self) -> str:
        return f"{self.end} = {self.value!r}{f' {self.unit}' if self.unit else ''}"


def with_starts(system: System, *, closed: bool = True) -> tuple[System, list[KeptStart]]:
    """Return a flat, resolved system whose FMUs' inputs all have something to hold, and say which.

    Inputs of blocks are left alone: a block says nothing of how it is used alone.
    """
    held = {*system.values, *(n for n, c in system.connectors.items() if c.start is not None)}
    fed = {
        line.target
        for line in system.connections
        if not closed or line.source.component or line.source.connector in held
    }
    outside = {line.target for line in system.connections} - fed
    components = dict(system.components)
    kept_starts = []
    for name, component in system.components.items():
        if component.source.kind is not SourceKind.FMU:
            continue
        starts: dict[str, Value] = {}
        for connector in component.connectors.values():
            end = Endpoint(name, connector.name)
            takes = connector.causality is Causality.INPUT and end not in fed
            if connector.start is None or connector.name in component.values:
                continue
            if (takes or end in outside) and connector.type is not DataType.CLOCK:
                starts[connector.name] = connector.start
                kept_starts.append(KeptStart(end, connector.start, connector.unit))
        if starts:
            components[name] = component.with_values(starts)
    return replace(system, components=components), kept_starts


def kept_notes(starts: Sequence[KeptStart]) -> tuple[str, ...]:
    """Say what :func:`with_starts` told, as one sentence; none if that is nothing."""
    if not starts:
        return ()
    listed = ", ".join(map(str, starts))
    return (f"nothing feeds these inputs, they keep what their FMUs begin with: {listed}",)


def without_starts(system: System, starts: Sequence[KeptStart]) -> System:
    """Take the values away again that :func:`with_starts` gave to a system."""
    components = dict(system.components)
    for start in starts:
        name, connector = start.end.component, start.end.connector
        values = {key: v for key, v in components[name].values.items() if key != connector}
        components[name] = replace(components[name], values=values)
    return replace(system, components=components)


_ELEMENT = re.compile(r"(?P<whole>.+)\[(?P<index>\d+)\]", re.DOTALL)


class Signal(Struct):
    """What the name of a signal means.

    end, connector: Of the component.
    index: Which element of an array, from 0; ``None`` if it is the whole connector.
    """

    end: Endpoint
    connector: Connector
    index: int | None = None


def signal_of(system: System, name: str) -> Signal:
    """Return what a name means: a connector, or one element of an array connector.

    Brackets may belong to the connector's own name: ``"arm.phi[1]"`` is the scalar ``phi[1]`` of
    an FMU that has one, else element 1 of its array ``phi``.
    """
    end = Endpoint.parse(name)
    component = system.component(end.component)
    match = _ELEMENT.fullmatch(end.connector)
    if match and end.connector not in component.connectors:
        array, index = component.connectors.get(match["whole"]), int(match["index"])
        if array is not None and array.shape:
            if index >= array.size:
                raise UnknownNameError(
                    f"'{name}': expected an element from 0 to {array.size - 1} of"
                    f" '{match['whole']}', found {index}"
                )
            return Signal(Endpoint(end.component, array.name), array, index)
    connector = component.connector(end.connector)
    return Signal(Endpoint(end.component, connector.name), connector)
