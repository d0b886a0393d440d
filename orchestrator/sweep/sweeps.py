"""Sweeps of an experiment file that were run as campaigns, for their figures."""

from __future__ import annotations

import math
from collections.abc import Mapping

from orchestrator.campaign.axes import is_time
from orchestrator.campaign.experiment import Experiment
from orchestrator.campaign.outcome import ExperimentOutcome, Measured, SweepOutcome
from orchestrator.campaign.sweeping import paths_of
from orchestrator.sweep.runner import CampaignOutcome
from orchestrator.system import nanoseconds, seconds


def as_sweeps(experiment: Experiment, outcomes: Mapping[str, CampaignOutcome]) -> ExperimentOutcome:
    """Return what was swept as a run would; a figure that is missing is no number."""
    found = ExperimentOutcome(experiment.title)
    for name, outcome in outcomes.items():
        if name in experiment.sweep and name not in experiment.campaign:
            found.sweeps[name] = _sweep(name, experiment, outcome)
    return found


def _sweep(name: str, experiment: Experiment, outcome: CampaignOutcome) -> SweepOutcome:
    sweep = experiment.sweep[name]
    axis = outcome.plan.roster.campaign.over["value"]
    numbers = [job.point["value"].value for job in outcome.plan.jobs]
    if is_time(axis):
        values = [seconds(nanoseconds(number)) for number in numbers]
    else:
        values = [float(number) for number in numbers]
    missing = Measured(math.nan, "", {"predicted": math.nan})
    rows = [outcome.records[job.key].measured for job in outcome.plan.jobs]
    measured = {key: [row.get(key, missing) for row in rows] for key in sweep.measures}
    return SweepOutcome(sweep.case, ", ".join(paths_of(sweep)), values, measured)
