"""Sweeps of the short form as `softdock run` runs them, and as figures ``"sweep"`` show them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from orchestrator.core.system import nanoseconds, seconds
from orchestrator.study.file.experiment import Experiment
from orchestrator.study.file.sweep_table import ListedSweep
from orchestrator.study.measure.outcome import ExperimentOutcome, Measured, SweepOutcome
from orchestrator.study.prepare.axes import is_time
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.sweep.dispatcher import Dispatcher
from orchestrator.study.sweep.executors import InlineExecutor
from orchestrator.study.sweep.job import Record
from orchestrator.study.sweep.plan import EachItsOwn, plan_of
from orchestrator.study.sweep.runner import FinishedSweep


def run_listed(
    name: str,
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    tell: Callable[[float], None],
) -> SweepOutcome:
    """Run a sweep of the short form in this process; the first failure ends it by its error."""
    plan = plan_of(name, experiment.sweeps[name], experiment, cases, EachItsOwn())
    context = replace(plan.context, threads=None, ends_at_failure=True)
    records: dict[str, Record] = {}

    def keep(record: Record) -> None:
        records[record.key] = record
        tell(len(records) / len(plan.jobs))

    Dispatcher([InlineExecutor()], context, keep).run(plan.jobs)
    return _sweep(experiment.listed_sweeps[name], FinishedSweep(plan, records))


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
