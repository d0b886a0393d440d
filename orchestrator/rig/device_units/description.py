"""Devices as units, and what each says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, PluginError, SoftdockError
from orchestrator.core.simunits import Capabilities, UnitDescription
from orchestrator.core.simunits.registry import UnitKind, refuse_fmu_options, refuse_process_options
from orchestrator.core.structs import Struct
from orchestrator.core.system import Causality, Component, Connector, Source
from orchestrator.core.system.ports import Limits
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceSettings,
    SteppedDevice,
    device_class,
    read_settings,
)
from orchestrator.rig.devices.registry import read_address

if TYPE_CHECKING:
    from orchestrator.core.simunits import SimulationUnit, WorkerProcess


#: What is known of the samples of every device, as the engine has it: name, unit, description.
HEALTH = (
    ("sample_age", "s", "Age of the sample that the outputs show"),
    ("lost", "1", "Samples that the device counted but that did not arrive"),
    ("late", "1", "Samples that arrived after a newer one, or more than half a period late"),
    ("repeated", "1", "Samples that arrived more than once"),
    ("malformed", "1", "Datagrams that were not valid samples"),
    ("restarts", "1", "Restarts of the device's sample counter"),
    ("clamped", "1", "Commands outside their range"),
    ("valid", "1", "1 if the device reports valid outputs and they are not stale"),
    ("samples", "1", "Samples received so far; plus the lost ones, this is the device's own count"),
    (
        "command_taken",
        "1",
        "Number of the newest command that the device took; -1: unknown",
    ),
    ("commands_missed", "1", "Commands that the device skipped: lost, late or overtaken"),
)


class DeviceFacts(Struct):
    """An adapter with its settings, before anything is opened.

    name: Of the adapter.
    kind, settings: Its class, and the validated settings.
    ports: What it takes and gives with them.
    """

    name: str
    kind: type[Device]
    settings: DeviceSettings
    ports: DeviceConnectors


def stepped_device(location: str) -> SteppedDevice | None:
    """Return what a run steps, if the device that a source names has no clock of its own."""
    name, kind, settings = _adapter(location)
    try:
        return kind.stepped(settings)
    except SoftdockError as error:
        raise DescriptionError(*error.within(f"device '{name}'")) from None


def _adapter(location: str) -> tuple[str, type[Device], DeviceSettings]:
    name, values = read_address(location)
    kind = device_class(name)
    return name, kind, read_settings(kind, values, f"device '{name}'")


def device_facts(location: str) -> DeviceFacts:
    """Find the adapter that a source names and validate the settings; nothing is opened."""
    name, kind, settings = _adapter(location)
    try:
        ports = kind.connectors(settings)
    except SoftdockError as error:
        raise DescriptionError(*error.within(f"device '{name}'")) from None
    taken = {health for health, _, _ in HEALTH} & {c.name for c in (*ports.inputs, *ports.outputs)}
    if taken:
        raise PluginError(
            f"device '{name}' has connectors {', '.join(map(repr, sorted(taken)))}: every device"
            " has outputs of these names; rename the connectors"
        )
    return DeviceFacts(name, kind, settings, ports)


def describe_device(location: str) -> UnitDescription:
    """Describe the device that a source names; raises as :func:`device_facts`."""
    if (stepped := stepped_device(location)) is not None:
        return _describe_stepped(location, stepped)
    facts = device_facts(location)
    connectors = {connector.name: connector for connector in _connectors(facts.ports)}
    return UnitDescription(
        name=facts.name,
        connectors=connectors,
        feedthrough={c.name: () for c in connectors.values() if c.causality is Causality.OUTPUT},
        capabilities=Capabilities(is_repeatable=False, is_realtime=True),
        details={
            "kind": "device",
            "class": f"{facts.kind.__module__}.{facts.kind.__qualname__}",
            "rate": f"{facts.ports.rate:g} Hz",
        },
    )


def _describe_stepped(location: str, device: SteppedDevice) -> UnitDescription:
    found = device.connectors()
    return UnitDescription(
        name=location.partition("?")[0],
        connectors={connector.name: connector for connector in found.connectors},
        feedthrough=found.feedthrough,
        capabilities=Capabilities(is_repeatable=False, fixed_step=found.step),
        details={"kind": "stepped device", "class": type(device).__qualname__},
    )


def _connectors(ports: DeviceConnectors) -> Iterator[Connector]:
    yield from (_connector(port, Causality.INPUT) for port in ports.inputs)
    yield from (_connector(port, Causality.OUTPUT) for port in ports.outputs)
    for name, unit, description in HEALTH:
        yield Connector(name, Causality.OUTPUT, unit=unit, description=description, start=0.0)


def _connector(port: DeviceConnector, causality: Causality) -> Connector:
    start = (port.start,) * port.size if port.shape else port.start
    return Connector(
        port.name,
        causality,
        unit=port.unit,
        shape=port.shape,
        description=port.description,
        start=start,
        limits=Limits.of(*port.range) if causality is Causality.INPUT else None,
        frame=port.frame,
    )


class DeviceKind(UnitKind):
    """A device has a process of its own, unless the run steps it."""

    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe it by its adapter; nothing is opened."""
        return describe_device(component.source.location)

    def make(
        self, component: Component, processes: dict[str, WorkerProcess] | None
    ) -> SimulationUnit:
        """Make it."""
        from orchestrator.rig.device_units.device_unit import DeviceUnit, SteppedUnit

        location = component.source.location
        refuse_fmu_options(component, f"device '{location}'")
        refuse_process_options(
            component, "a device, whose setting 'on_stale' says what silence does,"
        )
        described, stepped = self.describe(component, runnable=True), stepped_device(location)
        unit: SimulationUnit
        if stepped is not None:
            unit = SteppedUnit(component.name, described, stepped)
        else:
            unit = DeviceUnit(component.name, location, described)
        unit.set_values(component.values)
        return unit

    def clock_ns(self, source: Source) -> int | None:
        """Return its period, if its time goes on without the run."""
        if stepped_device(source.location) is not None:
            return None
        return round(1e9 / device_facts(source.location).ports.rate)
