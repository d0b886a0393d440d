"""The process that writes the journal of a run in real time: ``python -m`` by JournalProcess."""

from __future__ import annotations

import os
import pickle
import select
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO

import numpy as np

from orchestrator.core import posix
from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.realtime import SharedRows
from orchestrator.core.recording.files import Journal
from orchestrator.core.recording.result import Result
from orchestrator.core.simunits import Notice

_LOWEST = 19  # of nice(2)
#: In front of each message of the run.
LENGTH = Struct("<q")


@dataclass(frozen=True, slots=True)
class JournalOrder:
    """What is written where.

    folder, interval: As of :class:`Journal`.
    file, rows: Of the :class:`SharedRows`.
    begun: What stands before those rows, and what holds for all of them.
    cpus: Processors that are left to the run, where there are others.
    grows: As of :class:`Journal`.
    """

    folder: Path
    interval: float
    file: int
    rows: int
    begun: Result
    cpus: frozenset[int]
    grows: bool = False


def main() -> None:
    """Write rows as they come, until the run kills this process or is no more."""
    run = os.fdopen(sys.stdin.fileno(), "rb", 0, closefd=False)  # whose messages nothing keeps back
    order: JournalOrder = taken(run)
    if others := posix.processors() - order.cpus:
        posix.keep_to(others)
    write_journal(order, run)


def taken(run: BinaryIO) -> Any:
    """Return the next message of the run; EOFError: there is none any more."""
    (size,) = LENGTH.unpack(_read(run, LENGTH.size))
    return pickle.loads(_read(run, size))  # noqa: S301 - of the run that started us


def _read(run: BinaryIO, size: int) -> bytes:
    data = b""
    while len(data) < size:
        if not (part := run.read(size - len(data))):
            raise EOFError
        data += part
    return data


def _with(order: JournalOrder, event: Tuned | Mark) -> JournalOrder:
    """Let what was done to the run stand in all that is still to be written."""
    begun = order.begun
    if isinstance(event, Tuned):
        return replace(order, begun=replace(begun, tuned=(*begun.tuned, event)))
    return replace(order, begun=replace(begun, marks=(*begun.marks, event)))


def _yield_to_all() -> None:
    posix.yield_to_others(_LOWEST, threading.get_native_id())


def write_journal(order: JournalOrder, run: BinaryIO) -> None:
    """Write rows every interval, and all that there are when the run is no more.

    While the run goes on that is done by a thread that yields to all others. What is left is
    written as any program writes: then nobody is disturbed, and somebody waits for it.
    """
    rows = SharedRows(order.rows, len(order.begun.names), order.file)
    journal = Journal(order.folder, order.interval, grows=order.grows)
    due = time.monotonic() + order.interval
    with ThreadPoolExecutor(1, initializer=_yield_to_all) as low, suppress(EOFError):
        while True:
            if select.select([run], [], [], max(due - time.monotonic(), 0.0))[0]:
                order = _with(order, taken(run))
            else:
                low.submit(_add, journal, order, rows, max(rows.written - 1, 0)).result()
                due = time.monotonic() + order.interval
    count, begun = rows.written, order.begun
    last_ns = int(rows.times_ns[count - 1] if count else begun.time_ns[-1])
    notice = Notice(
        last_ns,
        f"the run was killed: these are all {len(begun.time_ns) + count} rows that it had recorded",
        "what it computed of a step that it did not come to record is lost",
    )
    ended = replace(begun, notices=(*begun.notices, notice))
    _add(journal, replace(order, begun=ended), rows, count)


def _add(journal: Journal, order: JournalOrder, rows: SharedRows, whole: int) -> None:
    """Write the rows that are whole and in no file yet."""
    known = max(journal.rows - len(order.begun.time_ns), 0)
    if whole <= known and journal.rows:
        return
    times, values = rows.times_ns[known:whole], rows.values[known:whole]
    clocks = None if order.begun.clock_ns is None else rows.clocks_ns[known:whole]
    if journal.rows == 0:
        times = np.concatenate([order.begun.time_ns, times])
        values = np.concatenate([order.begun.values, values])
        if clocks is not None and order.begun.clock_ns is not None:
            clocks = np.concatenate([order.begun.clock_ns, clocks])
    journal.add(replace(order.begun, time_ns=times, values=values, clock_ns=clocks))


if __name__ == "__main__":
    main()
