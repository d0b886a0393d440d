"""Running of campaigns: what is missing is run, then tables, maps and the page are written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.campaign.campaign_table import Campaign
from orchestrator.campaign.experiment import Experiment
from orchestrator.campaign.prepare import prepare_all
from orchestrator.campaign.validate import expect_sound
from orchestrator.errors import UnknownNameError
from orchestrator.sweep.crew import Crew
from orchestrator.sweep.job import Job, Record
from orchestrator.sweep.lanes import Lane, local_lanes
from orchestrator.sweep.plan import Plan, campaign_of, cases_needed, plan_of
from orchestrator.sweep.store import Store
from orchestrator.sweep.table import write_table

#: Called with a campaign's name, how many of its runs are done, of how many, and how many failed.
Progress = Callable[[str, int, int, int], None]
#: Makes the lanes on which jobs run, given the plans.
Lanes = Callable[[Sequence[Plan]], AbstractContextManager[Sequence[Lane]]]


@dataclass(slots=True)
class CampaignOutcome:
    """A finished campaign.

    Parameters
    ----------
    plan, records
        Its jobs, and what came of them by key; what else is in the file is left out.
    ran, kept
        How many were run now, and how many had been before.
    files
        What was written.
    """

    plan: Plan
    records: dict[str, Record]
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

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        campaign = self.plan.roster.campaign
        return {
            "title": campaign.title,
            "cases": list(campaign.cases),
            "axes": list(campaign.over),
            "rows": len(self.plan.jobs),
            "runs": len(self.plan.distinct),
            "ran": self.ran,
            "kept": self.kept,
            "status": self.counts(),
            "files": [str(path) for path in self.files],
        }


def chosen_campaigns(experiment: Experiment, names: Sequence[str]) -> dict[str, Campaign]:
    """Return campaigns by name, and sweeps as campaigns; without names all of them.

    Raises
    ------
    UnknownNameError
        If there is none of a name, or none at all.
    """
    known = dict(experiment.campaign)
    for name, sweep in experiment.sweep.items():
        known.setdefault(name, campaign_of(sweep, experiment))
    if not known:
        raise UnknownNameError("the experiment has no campaign and no sweep: add [campaign.NAME]")
    for name in names:
        if name not in known:
            raise UnknownNameError(f"no campaign '{name}'; the experiment has: {', '.join(known)}")
    return {name: known[name] for name in names} if names else known


def plans_of(experiment: Experiment, folder: Path, names: Sequence[str] = ()) -> dict[str, Plan]:
    """Prepare and check the cases of campaigns, and make all their jobs.

    Parameters
    ----------
    experiment
        As read.
    folder
        What its paths are relative to.
    names
        Campaigns and sweeps; all if empty.

    Raises
    ------
    DescriptionError, LoadError
        Everything that is wrong with them, together.
    """
    chosen = chosen_campaigns(experiment, names)
    needed = [case for c in chosen.values() for case in cases_needed(c, experiment)]
    systems = prepare_all({name: experiment.case[name] for name in dict.fromkeys(needed)}, folder)
    expect_sound(experiment, systems)
    return {name: plan_of(name, c, experiment, systems) for name, c in chosen.items()}


def local(workers: int | None = None, *, apart: bool = False) -> Lanes:
    """Run jobs on this machine, in as many processes as it has processors unless given.

    One is this process itself, unless it shall be ``apart``.
    """
    count = workers or len(os.sched_getaffinity(0))
    return lambda _plans: local_lanes(count, apart=apart)


def run_plans(
    plans: Mapping[str, Plan],
    output: Path,
    lanes: Lanes,
    *,
    fresh: bool = False,
    retry_failed: bool = False,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> dict[str, CampaignOutcome]:
    """Run what is missing of campaigns, and write their tables.

    Every finished job is appended to ``CAMPAIGN.jsonl`` at once. Jobs whose record is there
    already, under the same hash of all that determines them, are not run again.

    Parameters
    ----------
    plans
        By name, see :func:`plans_of`.
    output
        Folder for the files; made if absent.
    lanes
        Where jobs run.
    fresh
        Throw away what is there.
    retry_failed
        Run jobs again that did not come to their measures.
    timeout
        Seconds after which a run is ended, in processes of this machine.
    progress
        See :data:`Progress`.

    Raises
    ------
    SoftdockError
        If a file cannot be read or written.
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
        outcomes[name] = CampaignOutcome(plan, records, kept=len(wanted) - len(missing[name]))
    if any(missing.values()):
        with lanes(list(plans.values())) as open_lanes:
            for name in plans:
                jobs, store = missing[name], stores[name]
                keep = _keeper(outcomes[name], store, len(jobs), progress)
                with store:
                    Crew(open_lanes, plans[name].roster, keep, timeout).run(jobs)
    for name, outcome in outcomes.items():
        tables = write_table(outcome.plan, outcome.records, output / name)
        outcome.files += [*tables, output / f"{name}.jsonl"]
    return outcomes


def _keeper(
    outcome: CampaignOutcome, store: Store, missing: int, progress: Progress | None
) -> Callable[[Record], None]:
    """Return what is done with each record: it is written, counted and told."""
    name = outcome.plan.roster.name
    failed = 0

    def keep(record: Record) -> None:
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
