"""Sweeps of listed values as `softdock run` gives them, for figures of kind ``"sweep"``."""

from __future__ import annotations

import math
from collections.abc import Mapping

from orchestrator.experiment.file.experiment import Experiment
from orchestrator.experiment.file.sweep_table import ListedSweep
from orchestrator.experiment.measure.outcome import ExperimentOutcome, Measured, SweepOutcome
from orchestrator.experiment.prepare.axes import is_time
from orchestrator.experiment.sweep.runner import FinishedSweep
from orchestrator.system import nanoseconds, seconds


def as_run(experiment: Experiment, outcomes: Mapping[str, FinishedSweep]) -> ExperimentOutcome:
    """Return what was swept as a run would; a figure that is missing is no number."""
    found = ExperimentOutcome(experiment.title)
    for name, sweep in experiment.listed_sweeps.items():
        if name in outcomes:
            found.sweeps[name] = _sweep(sweep, outcomes[name])
    return found


def _sweep(sweep: ListedSweep, outcome: FinishedSweep) -> SweepOutcome:
    axis = outcome.plan.context.sweep.over["value"]
    numbers = [job.point["value"].value for job in outcome.plan.jobs]
    if is_time(axis):
        values = [seconds(nanoseconds(number)) for number in numbers]
    else:
        values = [float(number) for number in numbers]
    missing = Measured(math.nan, "", {"predicted": math.nan})
    rows = [outcome.records[job.key].measured for job in outcome.plan.jobs]
    measured = {key: [row.get(key, missing) for row in rows] for key in sweep.measures}
    return SweepOutcome(sweep.case, ", ".join(sweep.paths), values, measured)
