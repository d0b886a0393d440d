"""Where jobs run: executors, each of which does one chunk of jobs at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.connection import wait
from types import FrameType
from typing import Protocol

from orchestrator.core import posix
from orchestrator.core.simunits import watch_compiling
from orchestrator.core.terminal import log_to_terminal
from orchestrator.study.sweep.job import Job, JobContext, Record
from orchestrator.study.sweep.worker import run_jobs

#: Libraries that start threads of their own read one of these when they are loaded.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
Chunk = Callable[[JobContext, Sequence[Job]], list[Record]]


class JobExecutor(Protocol):
    """A place that does one thing at a time."""

    #: What a chunk raises whose process died.
    crashes: tuple[type[Exception], ...]

    @property
    def is_ready(self) -> bool:
        """Whether it has begun with what was submitted, so that its time counts."""
        ...

    @property
    def compile_seconds(self) -> float:
        """How long it has compiled blocks since it began, which no run's time counts."""
        ...

    def submit(self, context: JobContext, jobs: Sequence[Job]) -> Future[list[Record]]:
        """Start a chunk."""
        ...

    def restart(self) -> None:
        """Begin again after a death."""
        ...

    def kill(self) -> None:
        """End what runs, now."""
        ...

    def close(self) -> None:
        """End when nothing runs."""
        ...


class InlineExecutor:
    """The process itself: a chunk is done when it is submitted."""

    crashes: tuple[type[Exception], ...] = ()
    is_ready = False
    compile_seconds = 0.0

    def submit(self, context: JobContext, jobs: Sequence[Job]) -> Future[list[Record]]:
        """Do a chunk."""
        done: Future[list[Record]] = Future()
        done.set_result(run_jobs(context, jobs))
        return done

    def restart(self) -> None:
        """Nothing can have died."""

    def kill(self) -> None:
        """Nothing runs."""

    def close(self) -> None:
        """Nothing is left."""


class CompileClock:
    """Counts the seconds in which a process compiles, for the one that has started it.

    Parameters
    ----------
    shared
        Memory of both: the seconds that are over, and when the present ones began or zero.
    """

    def __init__(self, shared: MutableSequence[float]) -> None:
        self._shared = shared

    def note(self, compiling: bool) -> None:  # noqa: FBT001 - a watcher
        """Note that compiling begins, or has ended."""
        now = time.monotonic()  # one clock for all processes of a machine
        if not compiling:
            self._shared[0] += now - self._shared[1]
        self._shared[1] = now if compiling else 0.0

    @property
    def seconds(self) -> float:
        """The seconds until now."""
        over, began = self._shared[0], self._shared[1]
        return over + (time.monotonic() - began if began else 0.0)


class ProcessExecutor:
    """A process of its own, which a chunk can bring down without hurting the others.

    Parameters
    ----------
    folder
        For temporary files; whoever makes the executor removes it.
    """

    crashes: tuple[type[Exception], ...] = (BrokenExecutor, CancelledError)

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.restart()

    def restart(self) -> None:
        """Start a process; it is ready when the first chunk comes."""
        spawn = multiprocessing.get_context("spawn")
        self._compiling = CompileClock(spawn.RawArray("d", 2))
        self._pool = ProcessPoolExecutor(
            1, mp_context=spawn, initializer=_begin, initargs=(self._folder, self._compiling)
        )
        with _signals_held():  # until it knows what to do with them
            self._ready = self._pool.submit(os.getpid)
        (self._process,) = self._pool._processes.values()  # noqa: SLF001 - no public way

    @property
    def is_ready(self) -> bool:
        """Whether the process has started and loaded what it needs."""
        return self._ready.done()

    @property
    def compile_seconds(self) -> float:
        """How long the process has compiled blocks."""
        return self._compiling.seconds

    def submit(self, context: JobContext, jobs: Sequence[Job]) -> Future[list[Record]]:
        """Send a chunk to the process."""
        try:
            return self._pool.submit(run_jobs, context, jobs)
        except BrokenExecutor:  # it died after its last chunk, of which everything is known
            self.restart()
            return self._pool.submit(run_jobs, context, jobs)

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Let the process end."""
        self._pool.shutdown()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let processes that are started hold back what would end them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, posix.ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_soon(_signal: int, _frame: FrameType | None) -> None:
    """End, unless the parent does it before: it was told, too, and loses no job by it."""
    last = threading.Timer(1.0, os._exit, (128 + signal.SIGTERM,))
    last.daemon = True
    last.start()


def _begin(folder: str, compiling: CompileClock) -> None:
    """Set a worker up: Ctrl-C is for the parent, and nobody outlives it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_soon)
    signal.signal(signal.SIGHUP, _end_soon)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, posix.ENDINGS)
    log_to_terminal()
    tempfile.tempdir = folder
    watch_compiling(compiling.note)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def local_executors(workers: int, *, apart: bool = False) -> Iterator[list[JobExecutor]]:
    """Give executors on this machine; one alone is this process itself."""
    if workers == 1 and not apart:
        yield [InlineExecutor()]
        return
    with tempfile.TemporaryDirectory(prefix="softdock-sweep-") as folder, _one_thread_each():
        executors: list[JobExecutor] = []
        try:
            executors += [ProcessExecutor(folder) for _ in range(workers)]
            yield executors
        except BaseException:
            for executor in executors:
                executor.kill()
            raise
        finally:
            for executor in executors:
                executor.close()


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
