"""Jobs on a Dask cluster: its workers need Softdock, and get the FMUs sent."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin

from orchestrator.core.diagnostics import LoadError, SoftdockError
from orchestrator.core.simunits import class_of, files_at
from orchestrator.core.structs import replace
from orchestrator.core.system import Source, SourceKind, System
from orchestrator.study.prepare.inputs import is_playback
from orchestrator.study.sweep.executors import JobExecutor
from orchestrator.study.sweep.jobs import (
    Fingerprints,
    Job,
    JobContext,
    JobRecord,
    SweepPlan,
    digest,
    run_jobs,
)
from orchestrator.study.sweep.runner import Executors

_PATIENCE = "10 s"
#: Of a file: the folder that is kept together, and its bytes.
Content = tuple[str, bytes]
#: In a worker: where the files of each parcel lie, by their paths on the machine that sent them.
_paths_of_parcel: dict[str, dict[str, str]] = {}


class Parcel(WorkerPlugin):  # type: ignore[misc]
    """Files for all workers, also for later ones.

    files: Contents by path, each with the folder that is kept together: a Python file finds others
        in its folder.
    blocks: Hashes of the blocks that are used and not sent, by location.
    """

    def __init__(self, files: Mapping[str, Content], blocks: Mapping[str, str]) -> None:
        self.name = f"softdock-{digest(sorted(files.items()))}"
        self._files = dict(files)
        self._blocks = dict(blocks)
        self._version = version("softdock")

    def setup(self, worker: Any) -> None:
        """Write the files down on a worker, if what is installed there is the same as here."""
        del worker
        if (installed := version("softdock")) != self._version:
            raise LoadError(f"a worker has Softdock {installed}; expected {self._version}, as here")
        prints = Fingerprints()
        for name, expected in self._blocks.items():
            source = Source(SourceKind.BLOCK, name)
            if prints.block(source) != expected:
                raise LoadError(
                    f"a worker has other sources of block '{name}'"
                    f" ({class_of(source).__module__}) than this machine: install the same"
                )
        self._folder = tempfile.TemporaryDirectory(prefix="softdock-sweep-")
        for path, (root, content) in self._files.items():
            target = Path(self._folder.name) / digest(root) / Path(path).relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            _paths_of_parcel.setdefault(self.name, {})[path] = str(target)

    def teardown(self, worker: Any) -> None:
        """Remove them."""
        del worker
        self._folder.cleanup()


class ClusterExecutor(JobExecutor):
    """One thread of a worker, whichever is free: the cluster itself starts and ends workers."""

    crashes = (KilledWorker,)

    def __init__(self, pool: Executor, parcel: str) -> None:
        self._pool = pool
        self._parcel = parcel

    def submit(self, context: JobContext, jobs: Sequence[Job]) -> Future[list[JobRecord]]:
        """Send a chunk to the scheduler."""
        return self._pool.submit(run_sent, self._parcel, context, jobs)


def run_sent(parcel: str, context: JobContext, jobs: Sequence[Job]) -> list[JobRecord]:
    """Run jobs in a worker, with the files that were sent in a parcel of this name."""
    paths = _paths_of_parcel.get(parcel, {})  # a system of blocks only needs none
    cases = {
        name: replace(case, system=_at_hand(case.system, paths))
        for name, case in context.cases.items()
    }
    return run_jobs(replace(context, cases=cases), jobs)


def _at_hand(system: System, paths: Mapping[str, str]) -> System:
    changed = {}
    for name, component in system.components.items():
        source = component.source
        if source.file is not None and source.definition is None:
            there = source.with_file(paths[str(source.file)])
            changed[name] = replace(component, source=there)
        elif is_playback(component):
            changed[name] = component.with_values({"file": paths[str(component.values["file"])]})
    return replace(system, components={**system.components, **changed})


def on_cluster(address: str) -> Executors:
    """Run jobs on a Dask cluster, as many at a time as its workers have threads now."""

    @contextmanager
    def executors(plans: Sequence[SweepPlan]) -> Iterator[Sequence[JobExecutor]]:
        with _client(address) as client:
            threads = sum(client.nthreads().values())
            if not threads:
                raise LoadError(f"{address}: the cluster has no workers: start at least one")
            parcel = _parcel(plans)
            client.register_plugin(parcel)
            pool = client.get_executor(pure=False)
            yield [ClusterExecutor(pool, parcel.name) for _ in range(threads)]

    return executors


@contextmanager
def _client(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise LoadError(f"{address}: no Dask scheduler answers: {error}") from None
    try:
        with client:
            yield client
    except (OSError, CancelledError, TimeoutError) as error:
        raise SoftdockError(
            f"{address}: the cluster was lost ({type(error).__name__}: {error}); finished runs"
            " are kept: repeat the command to continue"
        ) from error


def _parcel(plans: Sequence[SweepPlan]) -> Parcel:
    files: dict[str, Content] = {}
    blocks: dict[str, str] = {}
    prints = Fingerprints()
    cases = [case for plan in plans for case in plan.context.cases.values()]
    for component in (
        case_of_sweep for case in cases for case_of_sweep in case.system.components.values()
    ):
        source = component.source
        if source.kind in {SourceKind.FMU, SourceKind.LOG} and source.file is not None:
            files |= _sent(source.file)
        elif is_playback(component):
            files |= _sent(Path(str(component.values["file"])))
        elif source.file is not None:
            files |= _sent(source.file, files_at(source))
        elif source.kind is SourceKind.BLOCK:
            blocks[source.location] = prints.block(source)
    return Parcel(files, blocks)


def _sent(file: Path, needed: Sequence[Path] = ()) -> dict[str, Content]:
    """Contents of a file and of the files in its folder that it needs."""
    return {str(path): (str(file.parent), path.read_bytes()) for path in needed or [file]}
