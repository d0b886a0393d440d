"""Builds many FMUs at once."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import SoftdockError
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

    Each runs in a process, since rumoca's objects may not leave the thread that made them.

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
    finished = 0

    def count(_: Future[BuildResult]) -> None:
        nonlocal finished
        finished += 1
        if done is not None:
            done(finished)

    if not jobs:
        return []
    workers = min(len(jobs), workers or os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("forkserver")) as pool:
        futures = [pool.submit(build_recipe, job.recipe, job.output, force=force) for job in jobs]
        for future in futures:
            future.add_done_callback(count)
        return [_outcome(future) for future in futures]


def _outcome(future: Future[BuildResult]) -> BuildResult | SoftdockError:
    try:
        return future.result()
    except SoftdockError as error:
        return error
