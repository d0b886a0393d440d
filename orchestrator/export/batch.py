"""Builds many FMUs at once."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.export.build import BuildResult, build_recipe
from orchestrator.export.recipe import Recipe


@dataclass(frozen=True, slots=True)
class BuildJob:
    """A recipe and the folder for its FMUs."""

    recipe: Recipe
    output: Path


def build_all(
    jobs: Sequence[BuildJob],
    *,
    workers: int | None = None,
    force: bool = False,
    done: Callable[[int], None] | None = None,
) -> list[BuildResult | SoftdockError]:
    """Build FMUs in parallel; one that fails does not stop the others.

    Each runs in a process: none waits for another.

    Parameters
    ----------
    workers
        Builds at one time; default the number of processors.
    force
        Build even if nothing changed.
    done
        Called with the number of finished builds after each.

    Returns
    -------
    list
        In the order of the jobs: what each gave, or why it failed.
    """
    workers = min(len(jobs), workers or os.cpu_count() or 1)
    report = done or (lambda _: None)
    outcomes: list[BuildResult | SoftdockError] = []
    if workers <= 1:
        for job in jobs:
            outcomes.append(_outcome(partial(_run, job, force)))
            report(len(outcomes))
        return outcomes
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # its imports take longer than a small build
    # the server keeps the environment of its first caller, whose compiler may be another
    given = (dict(os.environ),)
    with ProcessPoolExecutor(workers, context, _take_environment, given) as pool:
        futures = [pool.submit(_run, job, force) for job in jobs]
        for finished, _ in enumerate(as_completed(futures), start=1):
            report(finished)
    return [_outcome(future.result) for future in futures]


def _take_environment(given: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(given)


def _run(job: BuildJob, force: bool) -> BuildResult:  # noqa: FBT001 - called by the pool alone
    return build_recipe(job.recipe, job.output, force=force)


def _outcome(make: Callable[[], BuildResult]) -> BuildResult | SoftdockError:
    try:
        return make()
    except SoftdockError as error:
        return error
