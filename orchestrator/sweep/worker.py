"""What a worker does: it runs jobs of one campaign and reads their measures off."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from orchestrator.campaign.case_run import run_case
from orchestrator.campaign.design import placed
from orchestrator.campaign.measures import evaluate
from orchestrator.campaign.outcome import Measured
from orchestrator.campaign.playback import know_playbacks
from orchestrator.campaign.targets import Variant
from orchestrator.errors import DescriptionError, SoftdockError
from orchestrator.recording import Result
from orchestrator.sweep.job import SAFE, Job, Record, Roster

#: Results of cases that others are compared with, kept for the next jobs.
_KEPT = 6
_kept = threading.local()


def run_jobs(roster: Roster, jobs: Sequence[Job]) -> list[Record]:
    """Run jobs one after the other; one that fails is a record like the others."""
    for variant in roster.variants.values():
        know_playbacks(variant.system)
    with _quiet():
        return [_run(roster, job) for job in jobs]


@contextmanager
def _quiet() -> Iterator[None]:
    """Log no warnings, which thousands of runs would repeat: ``softdock check`` tells them once."""
    logger = logging.getLogger("orchestrator")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _run(roster: Roster, job: Job) -> Record:
    began = time.perf_counter()
    try:
        there = placed(roster.campaign, job.point, job.seed, roster.variants[job.case])
        result = run_case(job.case, there.case, there.system, there.options, threads=1)
        wall = time.perf_counter() - began
        others = {name: _other(roster, job, name) for name in roster.others(job.case)}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a row and not the end
        wall = time.perf_counter() - began
        return Record.of(job, "failed", _sentence(error), wall_seconds=wall)
    return _measured(roster, job, there, {job.case: result, **others}, wall)


def _other(roster: Roster, job: Job, name: str) -> Result:
    """Run a case that is compared with, unless it was run just before."""
    results: OrderedDict[str, Result] = _kept.__dict__.setdefault("results", OrderedDict())
    key = job.runs[name]
    if key in results:
        results.move_to_end(key)
        return results[key]
    there = placed(roster.campaign, job.point, job.seed, roster.variants[name])
    results[key] = run_case(name, there.case, there.system, there.options, threads=1)
    while len(results) > _KEPT:
        results.popitem(last=False)
    return results[key]


def _measured(
    roster: Roster, job: Job, there: Variant, results: dict[str, Result], wall: float
) -> Record:
    found: dict[str, Measured] = {}
    missing: list[str] = []
    result = results[job.case]
    for name, measure in roster.measures[job.case].items():
        try:
            with np.errstate(all="ignore"):  # what diverges is told by its figures
                found[name] = evaluate(measure, result, there.system, results)
        except (DescriptionError, ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
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
