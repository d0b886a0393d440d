"""Devices as units, and what each says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orchestrator.core.simunits import Capabilities, UnitDescription
from orchestrator.core.simunits.registry import UnitKind, refuse_fmu_options, refuse_process_options
from orchestrator.core.system import Causality, Component, Connector, Source
from orchestrator.core.system.ports import Limits
from orchestrator.rig.device_units.facts import HEALTH, device_facts, stepped_device
from orchestrator.rig.devices import DeviceConnector, DeviceConnectors, SteppedDevice

if TYPE_CHECKING:
    from orchestrator.core.simunits import SimulationUnit, WorkerProcess


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
    ports = device.connectors()
    return UnitDescription(
        name=location.partition("?")[0],
        connectors={connector.name: connector for connector in ports.connectors},
        feedthrough=ports.feedthrough,
        capabilities=Capabilities(is_repeatable=False, fixed_step=ports.step),
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
