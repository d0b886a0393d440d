"""Where jobs run: lanes, each of which does one chunk of jobs at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import Protocol

from orchestrator.sweep.job import Job, Record, Roster
from orchestrator.sweep.worker import run_jobs

#: Libraries that start threads of their own read one of these when they are loaded.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
Chunk = Callable[[Roster, Sequence[Job]], list[Record]]


class Lane(Protocol):
    """A place that does one thing at a time."""

    #: What a chunk raises whose process died.
    deaths: tuple[type[Exception], ...]

    @property
    def is_ready(self) -> bool:
        """Whether it has begun with what was submitted, so that its time counts."""
        ...

    def submit(self, roster: Roster, jobs: Sequence[Job]) -> Future[list[Record]]:
        """Start a chunk."""
        ...

    def renew(self) -> None:
        """Begin again after a death."""
        ...

    def kill(self) -> None:
        """End what runs, now."""
        ...

    def close(self) -> None:
        """End when nothing runs."""
        ...


class HereLane:
    """The process itself: a chunk is done when it is submitted."""

    deaths: tuple[type[Exception], ...] = ()
    is_ready = False

    def submit(self, roster: Roster, jobs: Sequence[Job]) -> Future[list[Record]]:
        """Do a chunk."""
        done: Future[list[Record]] = Future()
        done.set_result(run_jobs(roster, jobs))
        return done

    def renew(self) -> None:
        """Nothing can have died."""

    def kill(self) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is left."""


class ProcessLane:
    """A process of its own, which a chunk can bring down without hurting the others.

    Parameters
    ----------
    folder
        For temporary files; whoever makes the lane removes it.
    """

    deaths: tuple[type[Exception], ...] = (BrokenExecutor, CancelledError)

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.renew()

    def renew(self) -> None:
        """Start a process; it is ready when the first chunk comes."""
        spawn = multiprocessing.get_context("spawn")
        self._executor = ProcessPoolExecutor(
            1, mp_context=spawn, initializer=_begin, initargs=(self._folder,)
        )
        self._process = self._executor.submit(os.getpid)

    @property
    def is_ready(self) -> bool:
        """Whether the process has started and loaded what it needs."""
        return self._process.done()

    def submit(self, roster: Roster, jobs: Sequence[Job]) -> Future[list[Record]]:
        """Send a chunk to the process."""
        try:
            return self._executor.submit(run_jobs, roster, jobs)
        except BrokenExecutor:  # it died after its last chunk, of which everything is known
            self.renew()
            return self._executor.submit(run_jobs, roster, jobs)

    def kill(self) -> None:
        """Kill the process."""
        if self._process.done() and self._process.exception() is None:
            os.kill(self._process.result(), signal.SIGKILL)
        self._executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Let the process end."""
        self._executor.shutdown()


def _begin(folder: str) -> None:
    """Set a worker up: Ctrl-C is for the parent, and nobody outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = folder
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def local_lanes(workers: int, *, apart: bool = False) -> Iterator[list[Lane]]:
    """Give lanes on this machine; one alone is this process itself.

    Parameters
    ----------
    workers
        How many, >= 1.
    apart
        Whether one alone is a process of its own, too, so that it can be killed.
    """
    if workers == 1 and not apart:
        yield [HereLane()]
        return
    with tempfile.TemporaryDirectory(prefix="softdock-sweep-") as folder, _one_thread_each():
        lanes: list[Lane] = []
        try:
            lanes += [ProcessLane(folder) for _ in range(workers)]
            yield lanes
        except BaseException:
            for lane in lanes:
                lane.kill()
            raise
        finally:
            for lane in lanes:
                lane.close()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that are started use one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
