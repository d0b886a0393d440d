"""The process that writes the journal of a run in real time: ``python -m`` by JournalProcess."""

from __future__ import annotations

import os
import pickle
import select
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from orchestrator.realtime.shared_rows import SharedRows
from orchestrator.recording.journal import Journal
from orchestrator.recording.result import Result

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
    """

    folder: Path
    interval: float
    file: int
    rows: int
    begun: Result
    cpus: frozenset[int]


def main() -> None:
    """Write rows as they come, until the run kills this process or is no more."""
    order: JournalOrder = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the run that started us
    os.nice(_LOWEST)
    if others := os.sched_getaffinity(0) - order.cpus:
        os.sched_setaffinity(0, others)
    write_journal(order, sys.stdin.buffer)


def write_journal(order: JournalOrder, run: BinaryIO) -> None:
    """Write rows every interval, and all that there are when the run is no more.

    Parameters
    ----------
    order
        See :class:`JournalOrder`.
    run
        A pipe from the run, which ends with it.

    Raises
    ------
    SoftdockError
        If the journal cannot be written.
    """
    rows = SharedRows(order.rows, len(order.begun.names), order.file)
    journal = Journal(order.folder, order.interval)
    first = len(order.begun.time_ns)
    while True:
        ended = bool(select.select([run], [], [], order.interval)[0])
        whole = rows.written if ended else max(rows.written - 1, 0)
        known = max(journal.rows - first, 0)
        if whole > known:
            times, values = rows.times_ns[known:whole], rows.values[known:whole]
            if journal.rows == 0:
                times = np.concatenate([order.begun.time_ns, times])
                values = np.concatenate([order.begun.values, values])
            journal.add(replace(order.begun, time_ns=times, values=values))
        if ended:
            return


if __name__ == "__main__":
    main()
