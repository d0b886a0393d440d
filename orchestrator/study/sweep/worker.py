"""What a worker does: it runs jobs of one sweep and reads their measures off."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.recording import Result
from orchestrator.core.terminal import errors_only
from orchestrator.study.measure.measures import evaluate
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.prepare.design import placed
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.run.case_run import run_case
from orchestrator.study.sweep.job import SAFE, Job, JobContext, Record

#: Results of cases that others are compared with, kept for the next jobs.
_KEPT = 6
_kept = threading.local()


def run_jobs(context: JobContext, jobs: Sequence[Job]) -> list[Record]:
    """Run jobs one after the other; one that fails is a record, unless it ends the sweep."""
    with errors_only():  # thousands of runs would repeat them; `softdock check` tells them once
        return [_run(context, job) for job in jobs]


def _run(context: JobContext, job: Job) -> Record:
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
        return Record.of(job, "failed", _sentence(error), wall_seconds=wall)
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
) -> Record:
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
    return Record.of(job, status, reason, measured=found, wall_seconds=wall)


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, SoftdockError) else f"{type(error).__name__}: {text}"
