"""What an experiment and the command say of real time, together."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.diagnostics import UnknownNameError, nearest
from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.file.realtime_table import RealTimeTable
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.realtime import RealTime
from orchestrator.system import SourceKind


def realtime_of(
    experiment: Experiment, settings: RunSettings, cases: Mapping[str, PreparedCase]
) -> RealTime | None:
    """Return how all cases are kept to real time; ``None``: they are not.

    Raises
    ------
    DescriptionError
        If a figure lies out of its range, a processor is not there, a case has no component
        that a budget is given to, or none has the one that is the clock.
    """
    table = experiment.realtime
    if table is None and settings.realtime is None:
        return None
    realtime = (table or RealTimeTable()).settings(settings.realtime)
    realtime.expect_cpus()
    for case in cases.values():
        realtime.unit_budgets_ns(case.system.components)
    known = {name for case in cases.values() for name in case.system.components}
    if realtime.clock is not None and realtime.clock not in known:
        raise UnknownNameError(
            f"realtime.clock: no case has a component '{realtime.clock}'"
            f"{nearest(realtime.clock, known)}; components: {', '.join(sorted(known))}"
        )
    return realtime


def is_paced(case: PreparedCase, realtime: RealTime) -> bool:
    """Whether a case keeps to real time: where a device is the clock, if it has that device."""
    if realtime.clock is None:
        return True
    component = case.system.components.get(realtime.clock)
    return component is not None and component.source.kind is SourceKind.DEVICE
