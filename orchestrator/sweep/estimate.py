"""How long campaigns will take, from one run of each case."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from orchestrator.sweep.plan import Plan
from orchestrator.sweep.store import Store
from orchestrator.sweep.worker import run_jobs


def estimate(
    plans: Mapping[str, Plan], output: Path, workers: int | None, *, fresh: bool = False
) -> dict[str, tuple[int, float]]:
    """Return for each campaign how many runs are missing, and about how many seconds they take.

    One run of each case that is missing is made, and forgotten.

    Parameters
    ----------
    plans
        By name.
    output
        Folder in which earlier records are.
    workers
        How many processes will run them; ``None``: one for each processor.
    fresh
        Whether earlier records will be thrown away.
    """
    lanes = workers or len(os.sched_getaffinity(0))
    found = {}
    for name, plan in plans.items():
        known = {} if fresh else Store(output / f"{name}.jsonl").read()
        missing = [job for job in plan.distinct if job.key not in known]
        first = {job.case: job for job in reversed(missing)}
        taken = {case: run_jobs(plan.roster, [job])[0].wall_seconds for case, job in first.items()}
        found[name] = len(missing), sum(taken[job.case] for job in missing) / lanes
    return found
