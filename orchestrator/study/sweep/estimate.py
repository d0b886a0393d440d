"""How long sweeps will take, from one run of each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.core import posix
from orchestrator.study.sweep.dispatcher import Dispatcher
from orchestrator.study.sweep.executors import JobExecutor, local_executors
from orchestrator.study.sweep.job import Job, Record
from orchestrator.study.sweep.plan import Plan
from orchestrator.study.sweep.store import Store


def estimate(
    plans: Mapping[str, Plan], output: Path, workers: int | None, *, fresh: bool = False
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


def _seconds(executors: Sequence[JobExecutor], plan: Plan, job: Job) -> float:
    """Time a run in a process of its own, once it has loaded everything."""
    records: list[Record] = []
    dispatcher = Dispatcher(executors, plan.context, records.append)
    for _ in range(2):
        dispatcher.run([job])
    return min(record.wall_seconds for record in records)
