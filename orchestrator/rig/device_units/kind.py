"""Devices as units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.core.simunits.kinds import UnitKind, refuse_fmu_options, refuse_process_options
from orchestrator.core.system import Component, Source
from orchestrator.rig.device_units.description import describe_device, device_facts, stepped_device

if TYPE_CHECKING:
    from orchestrator.core.simunits import SimulationUnit, UnitDescription, WorkerProcess


class DeviceKind(UnitKind):
    """A device has a process of its own, unless the run steps it."""

    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe it by its adapter; nothing is opened."""
        return describe_device(component.source.location)

    def make(
        self, component: Component, processes: dict[str, WorkerProcess] | None
    ) -> SimulationUnit:
        """Make it."""
        from orchestrator.rig.device_units.device_unit import DeviceUnit
        from orchestrator.rig.device_units.stepped_unit import SteppedUnit

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
