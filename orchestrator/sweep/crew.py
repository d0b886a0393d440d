"""Sharing of jobs among lanes, so that all are busy until the end and a death costs one job."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from orchestrator.sweep.job import Job, Record, Roster
from orchestrator.sweep.lanes import Lane

#: Seconds that a chunk shall take: long against sending it, short against waiting for the last.
_CHUNK_SECONDS = 1.0
#: No fewer chunks than this for each lane are left, so that the last lanes end together.
_CHUNKS_LEFT = 4

Chunk = tuple[Job, ...]


@dataclass(slots=True)
class Crew:
    """Lanes with what they do.

    Parameters
    ----------
    lanes
        At least one.
    roster
        Of the campaign.
    done
        Called with each record, in the order in which they are finished.
    """

    lanes: Sequence[Lane]
    roster: Roster
    done: Callable[[Record], None]
    _waiting: deque[Job] = field(default_factory=deque)
    _suspects: deque[Job] = field(default_factory=deque)
    _busy: dict[Future[list[Record]], tuple[Lane, Chunk]] = field(default_factory=dict)
    _seconds: float = 0.0
    _finished: int = 0

    def run(self, jobs: Iterable[Job]) -> None:
        """Run all jobs.

        A job whose process dies is a record with the status ``"died"``. Chunks in which that
        happens are run again, job by job.
        """
        self._waiting.extend(jobs)
        free = list(self.lanes)
        while self._waiting or self._suspects or self._busy:
            while free and (chunk := self._next()):
                lane = free.pop()
                self._busy[lane.submit(self.roster, chunk)] = lane, chunk
            finished, _ = wait(self._busy, return_when=FIRST_COMPLETED)
            for future in finished:
                lane, chunk = self._busy.pop(future)
                self._take(lane, chunk, future)
                free.append(lane)

    def _next(self) -> Chunk:
        """Take the next jobs: one that may be deadly alone, others by the time that they take."""
        if self._suspects:
            return (self._suspects.popleft(),)
        size = 1
        if self._finished:
            each = max(self._seconds / self._finished, 1e-4)
            share = len(self._waiting) // (_CHUNKS_LEFT * len(self.lanes))
            size = max(1, min(int(_CHUNK_SECONDS / each), share))
        return tuple(self._waiting.popleft() for _ in range(min(size, len(self._waiting))))

    def _take(self, lane: Lane, chunk: Chunk, future: Future[list[Record]]) -> None:
        try:
            records = future.result()
        except lane.deaths:
            lane.renew()
            if len(chunk) > 1:
                self._suspects.extend(chunk)
                return
            reason = "its process died: a unit crashed it, or the system ended it for its memory"
            records = [Record.of(chunk[0], "died", reason)]
        for record in records:
            self._seconds += record.wall_seconds
            self._finished += 1
            self.done(record)
