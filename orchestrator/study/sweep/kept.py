"""Sweeps that were run before and are not run now: what is known of them stays on the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.study.file.experiment import Experiment
from orchestrator.study.sweep.runner import FinishedSweep, chosen_sweeps, plans_of
from orchestrator.study.sweep.store import Store


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
