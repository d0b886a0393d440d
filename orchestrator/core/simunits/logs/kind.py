"""Recordings as units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.core.simunits.kinds import UnitKind, refuse_fmu_options, refuse_process_options
from orchestrator.core.simunits.logs.log_unit import describe_log
from orchestrator.core.system import Component

if TYPE_CHECKING:
    from orchestrator.core.simunits.isolation.worker_process import WorkerProcess
    from orchestrator.core.simunits.protocol.description import UnitDescription
    from orchestrator.core.simunits.protocol.unit import SimulationUnit


class LogKind(UnitKind):
    """A recording runs in the process of the run."""

    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe what was recorded, by the connectors of what it stands for."""
        return describe_log(component.source, component)

    def make(
        self, component: Component, processes: dict[str, WorkerProcess] | None
    ) -> SimulationUnit:
        """Make it."""
        from orchestrator.core.simunits.logs.log_unit import LogUnit

        refuse_fmu_options(component, "a recording")
        refuse_process_options(component, "a recording, which runs in the process of the run,")
        return LogUnit(component, self.describe(component, runnable=True))
