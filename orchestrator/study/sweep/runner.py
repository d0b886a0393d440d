"""Running of sweeps: how long they will take, what is missing, what was run before."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import SoftdockError, UnknownNameError, choices_for, counted
from orchestrator.core.recording import whole_folder
from orchestrator.core.simunits import flaw_notes
from orchestrator.core.structs import MutableStruct, field, replace
from orchestrator.core.system import (
    kept_notes,
    nanoseconds,
    seconds,
    with_starts,
)
from orchestrator.study.experiment import Experiment
from orchestrator.study.extension import Extension, Run
from orchestrator.study.figure_tables import ListedSweep, Sweep
from orchestrator.study.measure.outcome import ExperimentOutcome, Measured, SweepOutcome
from orchestrator.study.prepare.axes import is_time
from orchestrator.study.prepare.prepare import prepare_all, with_chosen_steps
from orchestrator.study.prepare.prepared_case import PreparedCase, SystemReader
from orchestrator.study.reader import expect_sound
from orchestrator.study.sweep.executors import (
    Dispatcher,
    InlineExecutor,
    JobExecutor,
    local_executors,
)
from orchestrator.study.sweep.jobs import (
    EachItsOwn,
    Job,
    JobRecord,
    SweepPlan,
    cases_needed,
    plan_of,
)
from orchestrator.study.sweep.store import Store, write_table

_LOGGER = logging.getLogger(__name__)
#: Called with a sweep's name, how many of its runs are done, of how many, and how many failed.
Progress = Callable[[str, int, int, int], None]
#: Called with the outcomes when all jobs are done, and the folder into which further files may be
#: written that become visible together with the tables.
Finish = Callable[[Mapping[str, "FinishedSweep"], Path], None]
#: Makes the executors on which jobs run, given the plans.
Executors = Callable[[Sequence[SweepPlan]], AbstractContextManager[Sequence[JobExecutor]]]


class FinishedSweep(MutableStruct):
    """A finished sweep.

    plan, records: Its jobs, and what came of them by key; what else is in the file is left out.
    ran, stored_count: How many were run now, and how many had been before.
    files: What was written.
    """

    plan: SweepPlan
    records: dict[str, JobRecord]
    ran: int = 0
    stored_count: int = 0
    files: list[Path] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Count the distinct runs by status."""
        records = (self.records.get(job.key) for job in self.plan.distinct)
        return dict(Counter(record.status for record in records if record is not None))

    @property
    def lost(self) -> dict[tuple[str, str], list[JobRecord]]:
        """The runs that did not come to their measures, by status and reason."""
        lost_records: dict[tuple[str, str], list[JobRecord]] = {}
        for job in self.plan.distinct:
            record = self.records.get(job.key)
            if record is not None and not record.is_good:
                lost_records.setdefault((record.status, record.reason), []).append(record)
        return lost_records

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        sweep = self.plan.context.sweep
        return {
            "title": sweep.title,
            "cases": list(sweep.cases),
            "axes": list(sweep.over),
            "rows": len(self.plan.jobs),
            "runs": len(self.plan.distinct),
            "ran": self.ran,
            "kept": self.stored_count,
            "status": self.counts(),
            "lost": [
                {
                    "case": record.case,
                    "point": dict(record.point),
                    "seed": record.seed,
                    "status": status,
                    "reason": reason,
                }
                for (status, reason), records in self.lost.items()
                for record in records
            ],
            "files": [path.as_posix() for path in self.files],
        }


def chosen_sweeps(experiment: Experiment, names: Sequence[str]) -> dict[str, Sweep]:
    """Return sweeps by name, in the form with axes; without names all of them."""
    sweeps = experiment.sweeps
    if not sweeps:
        raise UnknownNameError("the experiment has no sweep: add [sweep.NAME]")
    for name in names:
        if name not in sweeps:
            raise UnknownNameError(f"no sweep '{name}'{choices_for(name, sweeps, 'sweep')}")
    return {name: sweeps[name] for name in names} if names else sweeps


def plans_of(
    experiment: Experiment, folder: Path, names: Sequence[str] = ()
) -> dict[str, SweepPlan]:
    """Prepare and check the cases of sweeps, and make all their jobs."""
    sweeps = chosen_sweeps(experiment, names)
    needed = [name for c in sweeps.values() for name in cases_needed(c, experiment)]
    cases = prepare_all(experiment, dict.fromkeys(needed), SystemReader(folder))
    experiment, cases, choices = with_chosen_steps(experiment, cases)
    sweeps = chosen_sweeps(experiment, names)
    expect_sound(experiment, cases)
    for name, choice in choices.items():
        _LOGGER.info("case '%s': %s", name, choice.note)
    for name, case in cases.items():
        for text in (*flaw_notes(case.system), *kept_notes(with_starts(case.system)[1])):
            _LOGGER.warning("case '%s': %s", name, text)  # its runs say it in their results
    return {name: plan_of(name, c, experiment, cases) for name, c in sweeps.items()}


def local(workers: int | None = None, *, always_processes: bool = False) -> Executors:
    """Run jobs on this machine, in as many processes as it has processors unless given.

    One is this process itself, unless it shall be ``apart``.
    """
    count = workers or len(operating_system.processors())
    return lambda _plans: local_executors(count, always_processes=always_processes)


def run_plans(
    plans: Mapping[str, SweepPlan],
    output: Path,
    executors: Executors,
    *,
    fresh: bool = False,
    retry_failed: bool = False,
    timeout: float | None = None,
    progress: Progress | None = None,
    finish: Finish | None = None,
) -> dict[str, FinishedSweep]:
    """Run what is missing of sweeps, and write their tables.

    Every finished job is appended to ``SWEEP.jsonl`` at once. Jobs whose record is there
    already, under the same hash of all that determines them, are not run again. All other files
    take their place at one moment, when all are written.
    """
    stores = {name: Store(output / f"{name}.jsonl") for name in plans}
    outcomes = {}
    missing: dict[str, list[Job]] = {}
    for name, plan in plans.items():
        if fresh:
            stores[name].clear()
        stored, distinct_jobs = stores[name].read(), plan.distinct
        records = {job.key: stored[job.key] for job in distinct_jobs if job.key in stored}
        missing[name] = [
            job
            for job in distinct_jobs
            if job.key not in records or (retry_failed and not records[job.key].is_good)
        ]
        outcomes[name] = FinishedSweep(
            plan, records, stored_count=len(distinct_jobs) - len(missing[name])
        )
    if any(missing.values()):
        with executors(list(plans.values())) as open_executors:
            for name in plans:
                jobs, store = missing[name], stores[name]
                keep = _keeper(outcomes[name], store, len(jobs), progress)
                with store:
                    Dispatcher(open_executors, plans[name].context, keep, timeout).run(jobs)
    with whole_folder(output) as draft:
        for name, outcome in outcomes.items():
            tables = write_table(outcome.plan, outcome.records, draft.folder / name)
            outcome.files += [output / path.name for path in (*tables, stores[name].path)]
        if finish is not None:
            finish(outcomes, draft.folder)
    return outcomes


def _keeper(
    outcome: FinishedSweep, store: Store, missing: int, progress: Progress | None
) -> Callable[[JobRecord], None]:
    """Return what is done with each record: it is written, counted and told."""
    name = outcome.plan.context.name
    failed = 0

    def keep(record: JobRecord) -> None:
        nonlocal failed
        store.append(record)
        outcome.records[record.key] = record
        outcome.ran += 1
        failed += not record.is_good
        if progress is not None:
            progress(
                name, outcome.stored_count + outcome.ran, outcome.stored_count + missing, failed
            )

    if progress is not None:
        progress(name, outcome.stored_count, outcome.stored_count + missing, 0)
    return keep


def with_kept(
    experiment: Experiment, folder: Path, output: Path, outcomes: Mapping[str, FinishedSweep]
) -> tuple[dict[str, FinishedSweep], list[str]]:
    """Add the sweeps of an experiment that were finished before."""
    outcomes_with_kept, remarks = dict(outcomes), []
    order = list(chosen_sweeps(experiment, ()))
    for name in order:
        store = Store(output / f"{name}.jsonl")
        if name in outcomes or not store.path.exists():
            continue
        try:
            outcome = _finished(name, experiment, folder, store)
        except SoftdockError as error:
            remarks.append(f"{name}: ran earlier and is not on the page: {error}")
            continue
        missing = len(outcome.plan.distinct) - outcome.stored_count
        if missing:
            remarks.append(
                f"{name}: ran earlier and is not on the page: {missing} of"
                f" {counted(len(outcome.plan.distinct), 'run')} are missing or have another"
                f" description; run it again: softdock sweep .. {name}"
            )
        else:
            outcomes_with_kept[name] = outcome
    return {name: outcomes_with_kept[name] for name in order if name in outcomes_with_kept}, remarks


def _finished(name: str, experiment: Experiment, folder: Path, store: Store) -> FinishedSweep:
    plan = plans_of(experiment, folder, [name])[name]
    stored = store.read()
    records = {job.key: stored[job.key] for job in plan.distinct if job.key in stored}
    stem = store.path.with_suffix("")
    tables = (stem.with_name(f"{stem.name}{suffix}") for suffix in (".parquet", ".csv"))
    files = [path for path in (*tables, store.path) if path.exists()]
    return FinishedSweep(plan, records, stored_count=len(records), files=files)


def estimate(
    plans: Mapping[str, SweepPlan], output: Path, workers: int | None, *, fresh: bool = False
) -> dict[str, tuple[int, float]]:
    """Return for each sweep how many runs are missing, and about how many seconds they take.

    One run of each case that is missing is made, twice, and forgotten.
    """
    count = workers or len(operating_system.processors())
    estimates = {}
    with local_executors(1, always_processes=True) as executors:
        for name, plan in plans.items():
            stored = {} if fresh else Store(output / f"{name}.jsonl").read()
            missing = [job for job in plan.distinct if job.key not in stored]
            first = {job.case: job for job in reversed(missing)}
            taken = {}
            for case, job in first.items():
                records: list[JobRecord] = []
                for _ in range(2):  # the first loads everything
                    Dispatcher(executors, plan.context, records.append).run([job])
                taken[case] = min(record.wall_seconds for record in records)
            estimates[name] = len(missing), sum(taken[job.case] for job in missing) / count
    return estimates


def run_listed(
    name: str,
    experiment: Experiment,
    cases: Mapping[str, PreparedCase],
    tell: Callable[[float], None],
) -> SweepOutcome:
    """Run a sweep of the short form in this process; the first failure ends it by its error."""
    plan = plan_of(name, experiment.sweeps[name], experiment, cases, EachItsOwn())
    context = replace(plan.context, threads=None, ends_at_failure=True)
    records: dict[str, JobRecord] = {}

    def keep(record: JobRecord) -> None:
        records[record.key] = record
        tell(len(records) / len(plan.jobs))

    Dispatcher([InlineExecutor()], context, keep).run(plan.jobs)
    return _sweep(experiment.listed_sweeps[name], FinishedSweep(plan, records))


def as_run(experiment: Experiment, outcomes: Mapping[str, FinishedSweep]) -> ExperimentOutcome:
    """Return what was swept as a run would; a figure that is missing is no number."""
    outcome = ExperimentOutcome(experiment.title)
    for name, sweep in experiment.listed_sweeps.items():
        if name in outcomes:
            outcome.sweeps[name] = _sweep(sweep, outcomes[name])
    return outcome


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


class ListedSweeps(Extension):
    """Runs the sweeps whose cases are run."""

    follows = ("verify",)

    def end(self, run: Run) -> None:
        """Run them, behind the cases."""
        for name, sweep in run.experiment.listed_sweeps.items():
            if sweep.case in run.cases and not run.outcome.stopped:
                done = partial(run.tell, f"sweep {name}")
                run.outcome.sweeps[name] = run_listed(name, run.experiment, run.cases, done)
