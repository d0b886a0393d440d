"""Inputs of simulated components that come to rest when a device of their case is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.core.simunits import Block, Input, Notice, Output, Parameter, State, block
from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    DataType,
    Endpoint,
    SourceKind,
    System,
    Value,
)
from orchestrator.study.prepare.playback import BlockInUnit
from orchestrator.study.tables import RestTable


class Rest(Block):
    """Passes a signal, bit for bit, until its device is lost; then leads it to rest.

    ``value = from + (at - from) min(1, t/within)``, t since the first step in which ``valid`` was 0
    after it had been 1; it stays there.
    """

    wanted: float = Input(description="What is passed")
    valid: float = Input(unit="1", description="Of the device: > 0.5, it is there")
    value: float = Output(depends_on=("wanted", "valid"), description="What is passed on")
    at: float = Parameter(start=0.0, description="At rest")
    within: float = Parameter(start=0.1, unit="s", above=0.0, description="Time to rest")
    device: str = Parameter(start="", description="Whose loss it is")

    begun: float = State(start=-1.0, description="When the device was lost, s; -1: it is there")
    known: float = State(start=0.0, description="1: the device was there")
    before: float = State(start=0.0, description="What was passed last, before")

    def initialise(self, t: float) -> None:
        """Pass what is there."""
        self.known = 1.0 if self.valid > 0.5 else 0.0
        self.value = self.before = self.wanted

    def step(self, t: float, h: float) -> None:
        """Pass the signal, or go on to rest."""
        if self.valid > 0.5:
            self.known = 1.0
        elif self.known and self.begun < 0.0:
            self.begun = t
        if self.begun < 0.0:
            self.value = self.before = self.wanted
            return
        share = min(1.0, (t + h - self.begun) / self.within)
        self.value = self.before + (self.at - self.before) * share

    def notices(self) -> tuple[Notice, ...]:
        """Say when the device was lost."""
        if self.begun < 0.0:
            return ()
        what = f"device '{self.device}' was lost: from {self.before:.4g} to {self.at:.4g}"
        how = f" within {self.within:.4g} s"
        return (Notice(round(self.begun * 1e9), what + how, "see why it was lost", safe=True),)


def _ports(unit: str) -> dict[str, object]:
    return {
        "wanted": Input(unit=unit, description="What is passed"),
        "value": Output(unit=unit, depends_on=("wanted", "valid"), description="What is passed on"),
        "at": Parameter(start=0.0, unit=unit, description="At rest"),
    }


REST = BlockInUnit(Rest, _ports)
__getattr__ = REST.named


def with_rests(system: System, rests: Mapping[str, RestTable]) -> System:
    """Put a block before each input that comes to rest when its device is lost."""
    for path, table in rests.items():
        system = _with_rest(system, path, table)
    return system


def _with_rest(system: System, path: str, table: RestTable) -> System:
    end = Endpoint.parse(path)
    target = system.component(end.component)
    connector = target.connector(end.connector)
    is_input = connector.causality is Causality.INPUT
    if not is_input or connector.type is not DataType.REAL or connector.shape:
        raise DescriptionError(f"rest.'{path}': expected a Real scalar input, found {connector}")
    device = _device_of(system, path, table)
    if device is None:
        return system
    name = f"rest_{end.component}_{end.connector}"
    if name in system.components:
        raise DescriptionError(f"rest.'{path}': the system has a component '{name}' already")
    made = block(Rest if connector.unit is None else REST.of(connector.unit))
    definition = connector.unit_definition
    ports = {
        key: replace(made.connectors[key], unit_definition=definition)
        for key in ("wanted", "value", "at")
    }
    values: dict[str, Value] = {"at": table.value, "within": table.seconds, "device": device}
    fed = [line for line in system.connections if line.target == end]
    if not fed:
        values["wanted"] = target.values.get(end.connector, connector.start or 0.0)
    made = replace(made, name=name, connectors={**made.connectors, **ports}).with_values(values)
    kept = {key: value for key, value in target.values.items() if key != end.connector}
    lines = tuple(
        replace(line, target=Endpoint(name, "wanted")) if line in fed else line
        for line in system.connections
    )
    return replace(
        system,
        components=_before(system.components, name, made, replace(target, values=kept)),
        connections=(
            *lines,
            Connection(Endpoint(device, "valid"), Endpoint(name, "valid")),
            Connection(Endpoint(name, "value"), end),
        ),
    )


def _device_of(system: System, path: str, table: RestTable) -> str | None:
    """Return the device that may be lost; ``None``: something else stands in its place."""
    components = system.components
    devices = [n for n, c in components.items() if c.source.kind is SourceKind.DEVICE]
    if table.device is not None:
        if table.device not in components:
            hint = nearest(table.device, components)
            raise UnknownNameError(f"rest.'{path}': no component '{table.device}'{hint}")
        return table.device if table.device in devices else None
    if len(devices) > 1:
        raise DescriptionError(
            f"rest.'{path}': expected a key 'device', since the case has several:"
            f" {', '.join(devices)}"
        )
    return devices[0] if devices else None


def _before(
    components: Mapping[str, Component], name: str, made: Component, target: Component
) -> dict[str, Component]:
    """Put a component right before its target, so that what it passes is as late as before."""
    found: dict[str, Component] = {}
    for key, component in components.items():
        if key == target.name:
            found[name] = made
            found[key] = target
        else:
            found[key] = component
    return found
