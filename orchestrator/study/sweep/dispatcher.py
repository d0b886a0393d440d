"""Sharing of jobs among executors, so that all are busy until the end and a death costs one job."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from orchestrator.study.sweep.executors import JobExecutor
from orchestrator.study.sweep.job import Job, JobContext, Record

#: Seconds that a chunk shall take: long against sending it, short against waiting for the last.
_CHUNK_SECONDS = 1.0
#: No fewer chunks than this for each executor are left, so that the last executors end together.
_CHUNKS_LEFT = 4

#: Seconds between two looks at how long chunks take.
_LOOK = 0.2
Chunk = tuple[Job, ...]


@dataclass(slots=True)
class Busy:
    """A chunk under way.

    Parameters
    ----------
    executor, chunk
        Who does what.
    compiled
        Seconds that its executor had compiled before.
    began
        When its executor was first seen ready.
    too_long
        Whether it was ended.
    """

    executor: JobExecutor
    chunk: Chunk
    compiled: float = 0.0
    began: float | None = None
    too_long: bool = False


@dataclass(slots=True)
class Dispatcher:
    """Executors with what they do.

    Parameters
    ----------
    executors
        At least one.
    context
        Of the sweep.
    done
        Called with each record, in the order in which they are finished.
    timeout
        Seconds of wall time for a run; ``None``: as long as it takes. Processes of this machine
        only keep to it.
    """

    executors: Sequence[JobExecutor]
    context: JobContext
    done: Callable[[Record], None]
    timeout: float | None = None
    _waiting: deque[Job] = field(default_factory=deque)
    _suspects: deque[Job] = field(default_factory=deque)
    _busy: dict[Future[list[Record]], Busy] = field(default_factory=dict)
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
            finished, _ = wait(self._busy, look, return_when=FIRST_COMPLETED)
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

    def _next(self) -> Chunk:
        """Take the next jobs: one that may be deadly alone, others by the time that they take."""
        if self._suspects:
            return (self._suspects.popleft(),)
        size = 1
        if self._finished:
            each = max(self._seconds / self._finished, 1e-4)
            share = len(self._waiting) // (_CHUNKS_LEFT * len(self.executors))
            size = max(1, min(int(_CHUNK_SECONDS / each), share))
        return tuple(self._waiting.popleft() for _ in range(min(size, len(self._waiting))))

    def _take(self, busy: Busy, future: Future[list[Record]]) -> None:
        chunk = busy.chunk
        try:
            records = future.result()
        except busy.executor.crashes:
            busy.executor.restart()
            if len(chunk) > 1:
                self._suspects.extend(chunk)
                return
            reason = "its process died: a unit crashed it, or the system ended it for its memory"
            if busy.too_long:
                reason = f"it took longer than {self.timeout:g} s and was ended"
            records = [Record.of(chunk[0], "died", reason)]
        else:
            if busy.too_long:  # it was done while it was being ended
                busy.executor.restart()
        for record in records:
            self._seconds += record.wall_seconds
            self._finished += 1
            self.done(record)
