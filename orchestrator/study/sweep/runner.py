"""Running of sweeps: how long they will take, what is missing, what was run before."""

from __future__ import annotations

import logging
import math
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from orchestrator.core import posix
from orchestrator.core.diagnostics import DescriptionError, SoftdockError, UnknownNameError
from orchestrator.core.diagnostics.validation import format_validation_error
from orchestrator.core.notebook import progress_bar
from orchestrator.core.recording import whole_folder
from orchestrator.core.simunits import flaw_notes, resolve
from orchestrator.core.system import (
    System,
    kept_notes,
    nanoseconds,
    nearest,
    seconds,
    with_starts,
    without_starts,
)
from orchestrator.study.extension import Extension, Run
from orchestrator.study.file.experiment import Case, Experiment, RunOptions
from orchestrator.study.file.figure_tables import Axis, AxisValue, ListedSweep, Sweep
from orchestrator.study.file.table import Table
from orchestrator.study.measure.outcome import ExperimentOutcome, Measured, SweepOutcome
from orchestrator.study.prepare.axes import is_time
from orchestrator.study.prepare.prepare import prepare_all, with_chosen_steps
from orchestrator.study.prepare.prepared_case import PreparedCase, SystemReader
from orchestrator.study.reader import expect_sound
from orchestrator.study.run.case_runs import signal_names
from orchestrator.study.sweep.executors import (
    Dispatcher,
    InlineExecutor,
    JobExecutor,
    local_executors,
)
from orchestrator.study.sweep.job import Figure, Job, JobContext, JobRecord
from orchestrator.study.sweep.plan import EachItsOwn, SweepPlan, cases_needed, plan_of
from orchestrator.study.sweep.store import Store, table_of, write_table

if TYPE_CHECKING:
    import pandas as pd


_LOGGER = logging.getLogger(__name__)
#: Called with a sweep's name, how many of its runs are done, of how many, and how many failed.
Progress = Callable[[str, int, int, int], None]
#: Called with the outcomes when all jobs are done, and the folder into which further files may be
#: written that become visible together with the tables.
Finish = Callable[[Mapping[str, "FinishedSweep"], Path], None]
#: Makes the executors on which jobs run, given the plans.
Executors = Callable[[Sequence[SweepPlan]], AbstractContextManager[Sequence[JobExecutor]]]


@dataclass(slots=True)
class FinishedSweep:
    """A finished sweep.

    plan, records: Its jobs, and what came of them by key; what else is in the file is left out.
    ran, kept: How many were run now, and how many had been before.
    files: What was written.
    """

    plan: SweepPlan
    records: dict[str, JobRecord]
    ran: int = 0
    kept: int = 0
    files: list[Path] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Count the distinct runs by status."""
        found: dict[str, int] = {}
        for job in self.plan.distinct:
            if job.key in self.records:
                status = self.records[job.key].status
                found[status] = found.get(status, 0) + 1
        return found

    @property
    def lost(self) -> dict[tuple[str, str], list[JobRecord]]:
        """The runs that did not come to their measures, by status and reason."""
        found: dict[tuple[str, str], list[JobRecord]] = {}
        for job in self.plan.distinct:
            record = self.records.get(job.key)
            if record is not None and not record.is_good:
                found.setdefault((record.status, record.reason), []).append(record)
        return found

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
            "kept": self.kept,
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
            "files": [str(path) for path in self.files],
        }


def chosen_sweeps(experiment: Experiment, names: Sequence[str]) -> dict[str, Sweep]:
    """Return sweeps by name, in the form with axes; without names all of them."""
    known = experiment.sweeps
    if not known:
        raise UnknownNameError("the experiment has no sweep: add [sweep.NAME]")
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"no sweep '{name}'{nearest(name, known)}; the experiment has: {', '.join(known)}"
            )
    return {name: known[name] for name in names} if names else known


def plans_of(
    experiment: Experiment, folder: Path, names: Sequence[str] = ()
) -> dict[str, SweepPlan]:
    """Prepare and check the cases of sweeps, and make all their jobs."""
    chosen = chosen_sweeps(experiment, names)
    needed = [name for c in chosen.values() for name in cases_needed(c, experiment)]
    cases = prepare_all(experiment, dict.fromkeys(needed), SystemReader(folder))
    experiment, cases, choices = with_chosen_steps(experiment, cases)
    chosen = chosen_sweeps(experiment, names)
    expect_sound(experiment, cases)
    for name, choice in choices.items():
        _LOGGER.info("case '%s': %s", name, choice.note)
    for name, case in cases.items():
        for text in (*flaw_notes(case.system), *kept_notes(with_starts(case.system)[1])):
            _LOGGER.warning("case '%s': %s", name, text)  # its runs say it in their results
    return {name: plan_of(name, c, experiment, cases) for name, c in chosen.items()}


def local(workers: int | None = None, *, apart: bool = False) -> Executors:
    """Run jobs on this machine, in as many processes as it has processors unless given.

    One is this process itself, unless it shall be ``apart``.
    """
    count = workers or len(posix.processors())
    return lambda _plans: local_executors(count, apart=apart)


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
        found, wanted = stores[name].read(), plan.distinct
        records = {job.key: found[job.key] for job in wanted if job.key in found}
        missing[name] = [
            job
            for job in wanted
            if job.key not in records or (retry_failed and not records[job.key].is_good)
        ]
        outcomes[name] = FinishedSweep(plan, records, kept=len(wanted) - len(missing[name]))
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
            progress(name, outcome.kept + outcome.ran, outcome.kept + missing, failed)

    if progress is not None:
        progress(name, outcome.kept, outcome.kept + missing, 0)
    return keep


def with_kept(
    experiment: Experiment, folder: Path, output: Path, outcomes: Mapping[str, FinishedSweep]
) -> tuple[dict[str, FinishedSweep], list[str]]:
    """Add the sweeps of an experiment that were finished before."""
    found, told = dict(outcomes), []
    order = list(chosen_sweeps(experiment, ()))
    for name in order:
        store = Store(output / f"{name}.jsonl")
        if name in outcomes or not store.path.exists():
            continue
        try:
            outcome = _finished(name, experiment, folder, store)
        except SoftdockError as error:
            told.append(f"{name}: was run before, and is not on the page: {error}")
            continue
        missing = len(outcome.plan.distinct) - outcome.kept
        if missing:
            told.append(
                f"{name}: was run before, and is not on the page: {missing} of"
                f" {len(outcome.plan.distinct)} runs are missing, or were of another description;"
                f" run it: softdock sweep .. {name}"
            )
        else:
            found[name] = outcome
    return {name: found[name] for name in order if name in found}, told


def _finished(name: str, experiment: Experiment, folder: Path, store: Store) -> FinishedSweep:
    plan = plans_of(experiment, folder, [name])[name]
    known = store.read()
    records = {job.key: known[job.key] for job in plan.distinct if job.key in known}
    stem = store.path.with_suffix("")
    tables = (stem.with_name(f"{stem.name}{suffix}") for suffix in (".parquet", ".csv"))
    files = [path for path in (*tables, store.path) if path.exists()]
    return FinishedSweep(plan, records, kept=len(records), files=files)


def estimate(
    plans: Mapping[str, SweepPlan], output: Path, workers: int | None, *, fresh: bool = False
) -> dict[str, tuple[int, float]]:
    """Return for each sweep how many runs are missing, and about how many seconds they take.

    One run of each case that is missing is made, twice, and forgotten.
    """
    count = workers or len(posix.processors())
    found = {}
    with local_executors(1, apart=True) as executors:
        for name, plan in plans.items():
            known = {} if fresh else Store(output / f"{name}.jsonl").read()
            missing = [job for job in plan.distinct if job.key not in known]
            first = {job.case: job for job in reversed(missing)}
            taken = {case: _seconds(executors, plan, job) for case, job in first.items()}
            found[name] = len(missing), sum(taken[job.case] for job in missing) / count
    return found


def _seconds(executors: Sequence[JobExecutor], plan: SweepPlan, job: Job) -> float:
    """Time a run in a process of its own, once it has loaded everything."""
    records: list[JobRecord] = []
    dispatcher = Dispatcher(executors, plan.context, records.append)
    for _ in range(2):
        dispatcher.run([job])
    return min(record.wall_seconds for record in records)


def sweep(
    system: System,
    over: Mapping[str, Sequence[AxisValue] | Mapping[str, Any]],
    *,
    measures: Mapping[str, Mapping[str, Any] | Figure] | None = None,
    jobs: int = 1,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Run a system at every point of a grid.

    Parameters
    ----------
    system
        What to run.
    over
        Values of each axis by what it changes: a parameter or a held input (``"contact.k"``), the
        delay of a connection (``"a.y -> b.u"``), the ``"step"``; in its own unit, times in seconds
        or as text. Or, by any name, an axis as of ``[sweep.NAME.over.AXIS]`` of an experiment:
        ``{"set": ["contact.k"], "from": 1e3, "to": 1e5, "count": 9, "spacing": "log"}``.
    measures
        What is read off each run, by name: as of ``[case.NAME.measure.MEASURE]`` of an experiment,
        such as ``{"kind": "peak", "signal": "contact.force"}``, or a function of the result that
        returns a number. ``None``: the last value of every recorded signal.
    jobs
        Processes that run at the same time; 1: this one. Several take systems and functions that
        other processes can import, none of a notebook.
    timeout
        Seconds of wall time for a run of several jobs; ``None``: as long as it takes.
    progress
        Called with the share that is done, 0 to 1. ``None``: a notebook shows a bar.
    **options
        ``step``, ``start``, ``stop``, ``algorithm``, ``algorithm_options``, ``rates``, ``delay``,
        ``record``, ``every``, ``early_return``: as of :func:`simulate`.

    Returns
    -------
    pandas.DataFrame
        A row for each point, the first axis changing slowest: axes and measures with their units,
        ``status`` (``"done"``, or what it came to), ``reason``, ``wall time [s]``.

    Raises
    ------
    DescriptionError, LoadError
        If anything does not exist or does not fit. A run that fails is a row.
    """
    name, flat = system.name, _opened(system)
    functions = {key: one for key, one in (measures or {}).items() if callable(one)}
    tables = {key: one for key, one in (measures or {}).items() if not callable(one)}
    if measures is None:
        recorded = signal_names(flat, options.get("record"))
        tables = {signal: {"kind": "final", "signal": signal} for signal in recorded}
    case = _read(Case, {**options, "system": name, "measure": tables}, "")
    axes = {key: _read(Axis, _axis(key, one, flat), f"over '{key}': ") for key, one in over.items()}
    if not axes:
        raise DescriptionError("over: expected at least one axis, found none")
    table = Sweep.model_construct(cases=(name,), measures=tuple(tables), over=axes)
    experiment = Experiment.model_construct(title=name, case={name: case}, sweep={name: table})
    chosen = RunOptions.model_validate({key: getattr(case, key) for key in RunOptions.model_fields})
    prepared = {name: PreparedCase(name, case, chosen, flat)}
    experiment, prepared, _ = with_chosen_steps(experiment, prepared)
    expect_sound(experiment, prepared)
    plan = plan_of(name, experiment.sweeps[name], experiment, prepared, EachItsOwn())
    plan = replace(plan, context=replace(plan.context, functions=functions))
    if jobs > 1:
        _expect_importable(plan.context)
    records: dict[str, JobRecord] = {}
    shown = nullcontext(progress) if progress else progress_bar(f"sweep of {system.name}")
    with shown as bar, local_executors(jobs) as executors:

        def keep(record: JobRecord) -> None:
            records[record.key] = record
            if bar is not None:
                bar(len(records) / len(plan.jobs))

        Dispatcher(executors, plan.context, keep, timeout).run(plan.jobs)
    found = table_of(plan, records).drop(columns="case")
    return found if measures else found.filter(regex="^(?!.*: time_s$)")


def _read(form: type[Table], content: Mapping[str, Any], where: str) -> Any:
    """Read what an experiment's file would say, which may be wrong."""
    try:
        return form.model_validate(content)
    except ValidationError as error:
        told = format_validation_error(error, form)
        raise DescriptionError(*(f"{where}{one.message}" for one in told)) from None


def _opened(system: System) -> System:
    """Return a system with what its sources say of it, flat and checked."""
    opened, kept = with_starts(resolve(system).flat())
    return without_starts(opened.closed().check(algebraic_loops=True), kept)


def _axis(
    key: str, given: Sequence[AxisValue] | Mapping[str, Any], system: System
) -> dict[str, Any]:
    """Return the axis that a key stands for; one of a parameter has its unit."""
    if isinstance(given, Mapping):
        return {"label": key, **given}
    values = [one.item() if hasattr(one, "item") else one for one in given]
    if key == "step":
        return {"label": key, "step": True, "values": values}
    if "->" in key:
        return {"label": key, "delay": [key], "values": values}
    component, _, name = key.partition(".")
    part = system.components.get(component)
    connector = None if part is None else part.connectors.get(name)
    unit = None if connector is None else connector.unit
    return {"label": key, "set": [key], "values": values, "unit": unit}


def _expect_importable(context: JobContext) -> None:
    """Expect that other processes find what they are to run."""
    try:
        pickle.dumps(context)
        own = getattr(sys.modules["__main__"], "__file__", None) is None
        inner = [n for n, f in context.functions.items() if own and f.__module__ == "__main__"]
        if inner:
            raise DescriptionError(f"measure '{inner[0]}' is a function of a prompt or a notebook")
    except SoftdockError as error:
        raise DescriptionError(
            f"jobs: {error}; other processes cannot import it: expected 1 job"
        ) from None
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise DescriptionError(
            f"jobs: other processes cannot import what they are to run: {error}; define it in a"
            " module, or give 1 job"
        ) from None


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


class ListedSweeps(Extension):
    """Runs the sweeps whose cases are run."""

    follows = ("verify",)

    def end(self, run: Run) -> None:
        """Run them, behind the cases."""
        for name, sweep in run.experiment.listed_sweeps.items():
            if sweep.case in run.cases:
                done = partial(run.tell, f"sweep {name}")
                run.outcome.sweeps[name] = run_listed(name, run.experiment, run.cases, done)
