"""The process that writes the journal of a run in real time: ``python -m`` by JournalProcess."""

from __future__ import annotations

import pickle
import select
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from orchestrator.core import posix
from orchestrator.core.realtime.shared_rows import SharedRows
from orchestrator.core.recording.journal import Journal
from orchestrator.core.recording.result import Result
from orchestrator.core.simunits import Notice

_LOWEST = 19  # of nice(2)


@dataclass(frozen=True, slots=True)
class JournalOrder:
    """What is written where.

    Parameters
    ----------
    folder, interval
        As of :class:`Journal`.
    file, rows
        Of the :class:`SharedRows`.
    begun
        What stands before those rows, and what holds for all of them.
    cpus
        Processors that are left to the run, where there are others.
    grows
        As of :class:`Journal`.
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
    order: JournalOrder = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the run that started us
    if others := posix.processors() - order.cpus:
        posix.keep_to(others)
    write_journal(order, sys.stdin.buffer)


def _yield_to_all() -> None:
    posix.yield_to_others(_LOWEST, threading.get_native_id())


def write_journal(order: JournalOrder, run: BinaryIO) -> None:
    """Write rows every interval, and all that there are when the run is no more.

    While the run goes on that is done by a thread that yields to all others. What is left is
    written as any program writes: then nobody is disturbed, and somebody waits for it.
    """
    rows = SharedRows(order.rows, len(order.begun.names), order.file)
    journal = Journal(order.folder, order.interval, grows=order.grows)
    with ThreadPoolExecutor(1, initializer=_yield_to_all) as low:
        while not select.select([run], [], [], order.interval)[0]:
            low.submit(_add, journal, order, rows, max(rows.written - 1, 0)).result()
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
    if journal.rows == 0:
        times = np.concatenate([order.begun.time_ns, times])
        values = np.concatenate([order.begun.values, values])
    journal.add(replace(order.begun, time_ns=times, values=values))


if __name__ == "__main__":
    main()
