"""Where jobs run: executors, and sharing of jobs among them so that all are busy until the end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Future,
    ProcessPoolExecutor,
)
from concurrent.futures import wait as wait_for_futures
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.connection import wait
from types import FrameType

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.display import log_to_terminal
from orchestrator.core.simunits import watch_compiling
from orchestrator.core.structs import MutableStruct, field
from orchestrator.study.sweep.jobs import Job, JobContext, JobRecord, run_jobs

#: Libraries that start threads of their own read one of these when they are loaded.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
Chunk = Callable[[JobContext, Sequence[Job]], list[JobRecord]]


class JobExecutor:
    """A place that does one thing at a time."""

    #: What a chunk raises whose process died.
    crashes: tuple[type[Exception], ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether it has begun with what was submitted, so that its time counts."""
        return False

    @property
    def compile_seconds(self) -> float:
        """How long it has compiled blocks since it began, which no run's time counts."""
        return 0.0

    def submit(self, context: JobContext, jobs: Sequence[Job]) -> Future[list[JobRecord]]:
        """Start a chunk."""
        raise NotImplementedError

    def restart(self) -> None:
        """Begin again after a death."""

    def kill(self) -> None:
        """End what runs, now."""

    def close(self) -> None:
        """End when nothing runs."""


class InlineExecutor(JobExecutor):
    """The process itself: a chunk is done when it is submitted."""

    def submit(self, context: JobContext, jobs: Sequence[Job]) -> Future[list[JobRecord]]:
        """Do a chunk."""
        done: Future[list[JobRecord]] = Future()
        done.set_result(run_jobs(context, jobs))
        return done


class CompileClock:
    """Counts the seconds in which a process compiles, for the one that has started it.

    shared: Memory of both: the seconds that are over, and when the present ones began or zero.
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


class ProcessExecutor(JobExecutor):
    """A process of its own, which a chunk can bring down without hurting the others.

    folder: For temporary files; whoever makes the executor removes it.
    """

    crashes = (BrokenExecutor, CancelledError)

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
        with operating_system.signals_held():  # until it knows what to do with them
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

    def submit(self, context: JobContext, jobs: Sequence[Job]) -> Future[list[JobRecord]]:
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


def _end_soon(_signal: int, _frame: FrameType | None) -> None:
    """End, unless the parent does it before: it has received the same signal, and loses no job."""
    last = threading.Timer(1.0, os._exit, (128 + signal.SIGTERM,))
    last.daemon = True
    last.start()


def _begin(folder: str, compiling: CompileClock) -> None:
    """Set a worker up: Ctrl-C is for the parent, and nobody outlives it."""
    for number in operating_system.ENDINGS:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else _end_soon)
    operating_system.release_signals()
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
def local_executors(workers: int, *, always_processes: bool = False) -> Iterator[list[JobExecutor]]:
    """Give executors on this machine; one alone is this process itself."""
    if workers == 1 and not always_processes:
        yield [InlineExecutor()]
        return
    if not operating_system.has_process_pools():
        raise CapabilityError(
            "worker processes need Windows 8 or newer, and this computer reports an older version:"
            " pass --workers 1 and no --timeout, or under Wine run 'winecfg -v win10'"
        )
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


#: Seconds that a chunk shall take: long against sending it, short against waiting for the last.
_CHUNK_SECONDS = 1.0
#: No fewer chunks than this for each executor are left, so that the last executors end together.
_CHUNKS_LEFT = 4

#: Seconds between two looks at how long chunks take.
_LOOK = 0.2
JobChunk = tuple[Job, ...]


class Busy(MutableStruct):
    """A chunk under way.

    executor, chunk: Who does what.
    compiled: Seconds that its executor had compiled before.
    began: When its executor was first seen ready.
    too_long: Whether it was ended.
    """

    executor: JobExecutor
    chunk: JobChunk
    compiled: float = 0.0
    began: float | None = None
    too_long: bool = False


class Dispatcher(MutableStruct):
    """Executors with what they do.

    executors: At least one.
    context: Of the sweep.
    done: Called with each record, in the order in which they are finished.
    timeout: Seconds of wall time for a run; ``None``: as long as it takes. Processes of this
        machine only keep to it.
    """

    executors: Sequence[JobExecutor]
    context: JobContext
    done: Callable[[JobRecord], None]
    timeout: float | None = None
    _waiting: deque[Job] = field(default_factory=deque)
    _suspects: deque[Job] = field(default_factory=deque)
    _busy: dict[Future[list[JobRecord]], Busy] = field(default_factory=dict)
    _seconds: float = 0.0
    _finished: int = 0

    def run(self, jobs: Iterable[Job]) -> None:
        """Run all jobs.

        A job whose process dies is a record with the status ``"died"``. Chunks in which that
        happens are run again, job by job.
        """
        self._waiting.extend(jobs)
        free = list(self.executors)
        while self._waiting or self._suspects or self._busy:
            while free and (chunk := self._next()):
                executor = free.pop()
                future = executor.submit(self.context, chunk)
                self._busy[future] = Busy(executor, chunk, executor.compile_seconds)
            look = None if self.timeout is None else _LOOK
            finished, _ = wait_for_futures(self._busy, look, return_when=FIRST_COMPLETED)
            for future in finished:
                busy = self._busy.pop(future)
                self._take(busy, future)
                free.append(busy.executor)
            if self.timeout is not None:
                self._end_long_ones(self.timeout)

    def _end_long_ones(self, timeout: float) -> None:
        """Kill processes whose chunk takes longer than its runs may, compiling not counted."""
        now = time.monotonic()
        for busy in self._busy.values():
            if busy.began is None:
                busy.began = now if busy.executor.is_ready else None
                continue
            compiling = busy.executor.compile_seconds - busy.compiled
            if not busy.too_long and now - busy.began - compiling > timeout * len(busy.chunk):
                busy.too_long = True
                busy.executor.kill()

    def _next(self) -> JobChunk:
        """Take the next jobs: one that may be deadly alone, others by the time that they take."""
        if self._suspects:
            return (self._suspects.popleft(),)
        size = 1
        if self._finished:
            seconds_per_job = max(self._seconds / self._finished, 1e-4)
            share = len(self._waiting) // (_CHUNKS_LEFT * len(self.executors))
            size = max(1, min(int(_CHUNK_SECONDS / seconds_per_job), share))
        return tuple(self._waiting.popleft() for _ in range(min(size, len(self._waiting))))

    def _take(self, busy: Busy, future: Future[list[JobRecord]]) -> None:
        chunk = busy.chunk
        try:
            records = future.result()
        except busy.executor.crashes:
            busy.executor.restart()
            if len(chunk) > 1:
                self._suspects.extend(chunk)
                return
            reason = (
                "its process died: a component crashed, or the operating system ended it"
                " for its memory"
            )
            if busy.too_long:
                reason = f"it took longer than {self.timeout:g} s and was ended"
            records = [JobRecord.of(chunk[0], "died", reason)]
        else:
            if busy.too_long:  # it was done while it was being ended
                busy.executor.restart()
        for record in records:
            self._seconds += record.wall_seconds
            self._finished += 1
            self.done(record)
