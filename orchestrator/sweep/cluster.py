"""Jobs on a Dask cluster: its workers need Softdock, and get the FMUs sent."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin

from orchestrator.campaign.playback import know_playbacks
from orchestrator.errors import LoadError, SoftdockError
from orchestrator.simunits import block_class
from orchestrator.sweep.fingerprint import Fingerprints, digest, is_playback
from orchestrator.sweep.job import Job, Record, Roster
from orchestrator.sweep.lanes import Lane
from orchestrator.sweep.plan import Plan
from orchestrator.sweep.runner import Lanes
from orchestrator.sweep.worker import run_jobs
from orchestrator.system import Component, Source, SourceKind, System

_PATIENCE = "10 s"
#: In a worker: where the files of each parcel lie, by their paths on the machine that sent them.
_places: dict[str, dict[str, str]] = {}


class Parcel(WorkerPlugin):  # type: ignore[misc]
    """Files for all workers, also for those that come later.

    Parameters
    ----------
    files
        Contents by path.
    blocks
        Hashes of the blocks that are used, by name.
    """

    def __init__(self, files: Mapping[str, bytes], blocks: Mapping[str, str]) -> None:
        self.name = f"softdock-{digest(sorted(files.items()))}"
        self._files = dict(files)
        self._blocks = dict(blocks)
        self._version = version("softdock")

    def setup(self, worker: Any) -> None:
        """Write the files down on a worker, if what is installed there is the same as here."""
        del worker
        if (found := version("softdock")) != self._version:
            raise LoadError(f"a worker has Softdock {found}; expected {self._version}, as here")
        prints = Fingerprints()
        for name, expected in self._blocks.items():
            if prints.block(name) != expected:
                raise LoadError(
                    f"a worker has other sources of block '{name}'"
                    f" ({block_class(name).__module__}) than this machine: install the same"
                )
        self._folder = tempfile.TemporaryDirectory(prefix="softdock-sweep-")
        for path, content in self._files.items():
            place = Path(self._folder.name) / digest(path) / Path(path).name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            _places.setdefault(self.name, {})[path] = str(place)

    def teardown(self, worker: Any) -> None:
        """Remove them."""
        del worker
        self._folder.cleanup()


class ClusterLane:
    """One thread of a worker, whichever is free."""

    deaths: tuple[type[Exception], ...] = (KilledWorker,)
    is_ready = False

    def __init__(self, executor: Executor, parcel: str) -> None:
        self._executor = executor
        self._parcel = parcel

    def submit(self, roster: Roster, jobs: Sequence[Job]) -> Future[list[Record]]:
        """Send a chunk to the scheduler."""
        return self._executor.submit(run_sent, self._parcel, roster, jobs)

    def renew(self) -> None:
        """Nothing: the cluster starts workers again by itself."""

    def kill(self) -> None:
        """Nothing: closing the client cancels what has not begun."""

    def close(self) -> None:
        """Nothing: the executor is that of all lanes."""


def run_sent(parcel: str, roster: Roster, jobs: Sequence[Job]) -> list[Record]:
    """Run jobs in a worker, with the files that were sent in a parcel of this name."""
    places = _places.get(parcel, {})  # a system of blocks only needs none
    for variant in roster.variants.values():
        know_playbacks(variant.system)
    variants = {
        name: replace(variant, system=_at_hand(variant.system, places))
        for name, variant in roster.variants.items()
    }
    return run_jobs(replace(roster, variants=variants), jobs)


def _at_hand(system: System, places: Mapping[str, str]) -> System:
    changed = {}
    for name, component in system.components.items():
        source = component.source
        if source.kind is SourceKind.FMU:
            there = Source(source.kind, places[source.location])
            changed[name] = replace(component, source=there)
        elif is_playback(component):
            changed[name] = component.with_values({"file": places[str(component.values["file"])]})
    return replace(system, components={**system.components, **changed})


def on_cluster(address: str) -> Lanes:
    """Run jobs on a Dask cluster, as many at a time as its workers have threads now.

    Parameters
    ----------
    address
        Of the scheduler, such as ``"tcp://host:8786"``.
    """

    @contextmanager
    def lanes(plans: Sequence[Plan]) -> Iterator[Sequence[Lane]]:
        with _client(address) as client:
            threads = sum(client.nthreads().values())
            if not threads:
                raise LoadError(f"{address}: the cluster has no workers: start some")
            parcel = _parcel(plans)
            client.register_plugin(parcel)
            executor = client.get_executor(pure=False)
            yield [ClusterLane(executor, parcel.name) for _ in range(threads)]

    return lanes


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
            f"{address}: the cluster was lost ({type(error).__name__}: {error}); what is done is"
            " kept: the same command goes on"
        ) from error


def _parcel(plans: Sequence[Plan]) -> Parcel:
    files: dict[str, bytes] = {}
    blocks: dict[str, str] = {}
    prints = Fingerprints()
    for component in _components(plans):
        source = component.source
        if source.kind is SourceKind.FMU:
            files.setdefault(source.location, Path(source.location).read_bytes())
        elif is_playback(component):
            played = str(component.values["file"])
            files.setdefault(played, Path(played).read_bytes())
        elif source.kind is SourceKind.BLOCK:
            blocks[source.location] = prints.block(source.location)
    return Parcel(files, blocks)


def _components(plans: Sequence[Plan]) -> Iterator[Component]:
    for plan in plans:
        for variant in plan.roster.variants.values():
            yield from variant.system.components.values()
