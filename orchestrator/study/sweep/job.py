"""One run of a sweep, what workers need to know of all, and what they do."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.recording import Result
from orchestrator.core.terminal import errors_only
from orchestrator.study.experiment import Measure
from orchestrator.study.figure_tables import Sweep
from orchestrator.study.measure.measures import evaluate
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.prepare.axes import Point, placed
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.run.case_runs import run_case

#: Reads a figure off a result.
Figure = Callable[[Result], float]
#: Status of a run in which a component went to its safe state.
SAFE = "safe state"
Status = Literal["done", "failed", "unmeasured", "diverged", "died", "safe state"]


@dataclass(frozen=True, slots=True)
class JobContext:
    """A sweep with the systems of its cases, prepared: the same for all its jobs.

    name, sweep: The sweep.
    cases: By name as they are without it: its own, and those that measures compare with.
    measures: What is read off each case of the sweep.
    functions: Further figures, which are read off by Python.
    threads: Of each run; ``None``: what the run takes by itself.
    ends_at_failure: Whether the first run or measure that fails ends the sweep by its error,
        instead of becoming a record.
    """

    name: str
    sweep: Sweep
    cases: Mapping[str, PreparedCase]
    measures: Mapping[str, Mapping[str, Measure]]
    functions: Mapping[str, Figure] = field(default_factory=dict)
    threads: int | None = 1
    ends_at_failure: bool = False

    def others(self, case: str) -> list[str]:
        """Names of the cases that a case is compared with."""
        found = [m.to for m in self.measures[case].values() if m.to is not None]
        return [name for name in dict.fromkeys(found) if name != case]


@dataclass(frozen=True, slots=True)
class Job:
    """One case at one point, for one seed.

    key: Hash of all that determines what comes of it.
    case, point, seed: What is run.
    runs: Hashes of its own run and of those that it is compared with, by case.
    """

    key: str
    case: str
    point: Point
    seed: int | None
    runs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What came of a job.

    key, case, point, seed: Of the job; the point as it is shown.
    status: ``"done"``; ``"failed"``: the run ended with an error; ``"unmeasured"``: measures could
        not be read off; ``"diverged"``: one is infinite or no number; ``"died"``: its process did;
        ``"safe state"``: a component went to it, and the measures are those of what followed.
    reason: Why, unless it is done.
    measured: What could be read off, by the measure's name.
    wall_seconds: Of the whole run, with loading and initialisation.
    """

    key: str
    case: str
    point: Mapping[str, bool | float | str]
    seed: int | None
    status: str
    reason: str = ""
    measured: Mapping[str, Measured] = field(default_factory=dict)
    wall_seconds: float = 0.0

    @classmethod
    def of(cls, job: Job, status: str, reason: str = "", **rest: Any) -> JobRecord:
        """Make the record of a job."""
        shown = {name: value.shown for name, value in job.point.items()}
        return cls(job.key, job.case, shown, job.seed, status, reason, **rest)

    @property
    def where(self) -> str:
        """Name its case, point and seed."""
        said = [f"{axis} = {value}" for axis, value in self.point.items()]
        said += [] if self.seed is None else [f"seed {self.seed}"]
        return f"{self.case} at {', '.join(said)}" if said else self.case

    @property
    def is_good(self) -> bool:
        """Whether the run did what it was asked for; a safe state is part of that."""
        return self.status in {"done", SAFE}


#: Results of cases that others are compared with, kept for the next jobs.
_KEPT = 6
_kept = threading.local()


def run_jobs(context: JobContext, jobs: Sequence[Job]) -> list[JobRecord]:
    """Run jobs one after the other; one that fails is a record, unless it ends the sweep."""
    with errors_only():  # thousands of runs would repeat them; `softdock check` tells them once
        return [_run(context, job) for job in jobs]


def _run(context: JobContext, job: Job) -> JobRecord:
    began = time.perf_counter()
    try:
        there = placed(context.sweep, job.point, job.seed, context.cases[job.case])
        result = run_case(there, threads=context.threads)
        wall = time.perf_counter() - began
        others = {name: _other(context, job, name) for name in context.others(job.case)}
    except Exception as error:  # whatever it is, it is a row and not the end
        if context.ends_at_failure:
            raise
        wall = time.perf_counter() - began
        return JobRecord.of(job, "failed", _sentence(error), wall_seconds=wall)
    return _measured(context, job, there, {job.case: result, **others}, wall)


def _other(context: JobContext, job: Job, name: str) -> Result:
    """Run a case that is compared with, unless it was run just before."""
    results: OrderedDict[str, Result] = _kept.__dict__.setdefault("results", OrderedDict())
    key = job.runs[name]
    if key in results:
        results.move_to_end(key)
        return results[key]
    there = placed(context.sweep, job.point, job.seed, context.cases[name])
    results[key] = run_case(there, threads=context.threads)
    while len(results) > _KEPT:
        results.popitem(last=False)
    return results[key]


def _measured(
    context: JobContext, job: Job, there: PreparedCase, results: dict[str, Result], wall: float
) -> JobRecord:
    found: dict[str, Measured] = {}
    missing: list[str] = []
    result = results[job.case]
    for name, measure in context.measures[job.case].items():
        try:
            with np.errstate(all="ignore"):  # what diverges is told by its figures
                found[name] = evaluate(measure, result, there.system, results)
        except (DescriptionError, ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            if context.ends_at_failure:
                raise
            missing.append(f"measure '{name}': {_sentence(error)}")
    for name, figure in context.functions.items():
        try:
            found[name] = Measured(float(figure(result)), "")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a row and not the end
            missing.append(f"measure '{name}': {_sentence(error)}")
    infinite = [name for name, value in found.items() if not math.isfinite(value.value)]
    status, reason = "done", ""
    if result.safe_states:
        status, reason = SAFE, str(result.safe_states[0])
    elif missing:
        status, reason = "unmeasured", "; ".join(missing)
    elif infinite:
        status, reason = "diverged", f"not finite: {', '.join(infinite)}"
    return JobRecord.of(job, status, reason, measured=found, wall_seconds=wall)


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, SoftdockError) else f"{type(error).__name__}: {text}"
