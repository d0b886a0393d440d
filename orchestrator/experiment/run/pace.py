"""What an experiment and the command say of real time, together."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.file.realtime_table import RealTimeTable
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.realtime import RealTime


def realtime_of(
    experiment: Experiment, settings: RunSettings, cases: Mapping[str, PreparedCase]
) -> RealTime | None:
    """Return how all cases are kept to real time; ``None``: they are not.

    Raises
    ------
    DescriptionError
        If a figure lies out of its range, a processor is not there, or a case has no component
        that a budget is given to.
    """
    table = experiment.realtime
    if table is None and settings.realtime is None:
        return None
    realtime = (table or RealTimeTable()).settings(settings.realtime)
    realtime.expect_cpus()
    for case in cases.values():
        realtime.unit_budgets_ns(case.system.components)
    return realtime
