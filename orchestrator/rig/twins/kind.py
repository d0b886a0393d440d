"""Twins as units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.core.simunits.kinds import UnitKind
from orchestrator.core.system import Component, Source
from orchestrator.rig.twins.description import complete_twin, describe_twin, inner_of, late_outputs

if TYPE_CHECKING:
    from orchestrator.core.simunits import SimulationUnit, UnitDescription, WorkerProcess


class TwinKind(UnitKind):
    """A twin is around an FMU or a block, which all options are for."""

    def complete(self, source: Source, name: str, like: Component | None) -> Source:
        """Say what it is around."""
        return complete_twin(source, name, like)

    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe it by what it is around."""
        from orchestrator.core.simunits import description_of

        inner = description_of(inner_of(component), runnable=runnable)
        return describe_twin(component.source, inner)

    def make(
        self, component: Component, processes: dict[str, WorkerProcess] | None
    ) -> SimulationUnit:
        """Make it around the unit of what it is around."""
        from orchestrator.core.simunits import make_unit
        from orchestrator.rig.twins.twin_unit import TwinUnit

        inner = make_unit(inner_of(component), processes=processes)
        return TwinUnit(component, self.describe(component, runnable=True), inner)

    def late_ns(self, source: Source, description: UnitDescription) -> Mapping[str, int]:
        """Return what its device adds."""
        return late_outputs(source, description)
