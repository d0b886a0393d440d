"""Journals: folders of what runs have recorded until now, and the process that writes one.

The process is ``python -m`` of this module, started by :class:`JournalProcess`.
"""

from __future__ import annotations

import os
import pickle
import select
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from orchestrator.core import operating_system
from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.realtime import SharedRows
from orchestrator.core.recording.files import GROWING
from orchestrator.core.recording.formats import default_format, writer
from orchestrator.core.recording.result import Result
from orchestrator.core.simunits import Notice
from orchestrator.core.structs import Struct

if TYPE_CHECKING:
    from orchestrator.core.recording.mcap import GrowingMcap


#: s, before the first writing of a journal; each further one waits twice as long as the last.
_FIRST = 0.1


class Journal:
    """A folder of Parquet or npz files, each with further rows, or one MCAP that grows.

    A file appears under its name when it is complete, so the folder can be read at any moment, and
    when the process died: by :func:`read_result`, and by pandas. (A single
    Parquet file cannot be read before its end is written.) What the operating system has not yet
    brought to the disk is lost if the whole machine fails.

    folder: Where the files go. It is made, or emptied of an earlier run's, when the first is
        written.
    interval: Seconds of wall time between two files, or chunks of one, > 0. The first ones come
        earlier, since a run may be killed before it has passed once.
    grows: Whether it is ``rows.mcap``, of which a reader of MCAP sees all but the last interval.
    rows: Number of rows that the files hold.
    """

    def __init__(self, folder: Path, interval: float, *, grows: bool = False) -> None:
        self.folder = folder
        self.rows = 0
        self.interval = interval
        self.grows = grows
        self._growing: GrowingMcap | None = None
        self._parts = 0
        self._wait = min(_FIRST, interval)
        self._next = time.monotonic() + self._wait

    def begin(self) -> None:
        """Take the interval from now on: the first step begins."""
        self._next = time.monotonic() + self._wait

    @property
    def due(self) -> bool:
        """Whether the interval has passed."""
        return time.monotonic() >= self._next

    def add(self, result: Result) -> None:
        """Write further rows."""
        if self._parts == 0:
            self.remove()
        if self.grows:
            if self._growing is None:
                from orchestrator.core.recording.mcap import GrowingMcap

                self._growing = GrowingMcap(self.folder / GROWING, result)
            self._growing.add(result)
        else:
            kind = default_format()
            writer(kind)(result, self.folder / f"part-{self._parts:06d}.{kind}")
        self._parts += 1
        self.rows += len(result.time_ns)
        self._wait = min(2.0 * self._wait, self.interval)
        self._next = time.monotonic() + self._wait

    def remove(self) -> None:
        """Remove the folder, which another file now holds the whole of."""
        if self._growing is not None:
            self._growing.close()
            self._growing = None
        try:
            shutil.rmtree(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = error.strerror or error
            raise SoftdockError(f"{self.folder}: cannot be removed: {reason}") from error


class JournalProcess:
    """Writes what a run records while its steps wait for nothing.

    The process has the memory of all rows before the first step is done, so a run that is killed
    loses none that it had recorded, however late this process comes to its turn. It writes at the
    lowest priority, on other processors than the run's where there are some; when the run is gone,
    it writes the rest as any program.

    journal: Where files go, and how often.
    rows: That the run writes.
    begun: What was recorded before, and what holds for all rows.
    cpus: Processors that the run keeps to.
    Raises OSError: if the process cannot be started.
    """

    def __init__(
        self, journal: Journal, rows: SharedRows, begun: Result, cpus: Collection[int]
    ) -> None:
        order = JournalOrder(
            journal.folder.absolute(),
            journal.interval,
            rows.file,
            len(rows.times_ns),
            replace(begun, system=begun.system if journal.grows and _travels(begun) else None),
            frozenset(cpus),
            grows=journal.grows,
        )
        self._process = OwnProcess(
            "orchestrator.core.recording.journal",
            files=[rows.file],
            stdin=subprocess.PIPE,
            keeps_stderr=True,
        )
        self._put(order)

    def tell(self, event: Tuned | Mark) -> None:
        """Let what was done to the run stand in the journal, too."""
        with suppress(OSError):  # it is gone, as the end will say
            self._put(event)

    def _put(self, message: object) -> None:
        data = pickle.dumps(message)
        self._process.stdin.write(LENGTH.pack(len(data)) + data)
        self._process.stdin.flush()

    def end(self) -> str:
        """End the process, as the run has all rows itself; return why it failed, if it did.

        It is killed, not asked: at the priority of what it may be writing it could be long in
        answering, and that file is needed no more.
        """
        answer, code = self._process.finish(), self._process.returncode
        if code is None:
            return "its process did not end when it was killed"
        if code == 0 or operating_system.is_killed(code):
            return ""
        lines = answer.splitlines()
        return lines[-1] if lines else f"its process ended with {code}"


def _travels(begun: Result) -> bool:
    """Whether another process can have the system: not if a block is known to this one only."""
    try:
        pickle.dumps(begun.system)
    except SoftdockError:
        return False
    return True


_LOWEST = 19  # of nice(2)
#: In front of each message of the run.
LENGTH = struct.Struct("<q")


class JournalOrder(Struct):
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
    if others := operating_system.processors() - order.cpus:
        operating_system.keep_to(others)
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
    kind = "tuned" if isinstance(event, Tuned) else "marks"
    events: Any = {kind: (*getattr(order.begun, kind), event)}
    return replace(order, begun=replace(order.begun, **events))


def _yield_to_all() -> None:
    operating_system.yield_to_others(_LOWEST, threading.get_native_id())


def write_journal(order: JournalOrder, run: BinaryIO) -> None:
    """Write rows every interval, and all that there are when the run is no more.

    While the run continues that is done by a thread that yields to all others. What is left is
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
        "what it computed in an unrecorded step is lost",
    )
    ended = replace(begun, notices=(*begun.notices, notice))
    _add(journal, replace(order, begun=ended), rows, count)


def _add(journal: Journal, order: JournalOrder, rows: SharedRows, row_count: int) -> None:
    """Write the rows that are whole and in no file yet."""
    row_total = max(journal.rows - len(order.begun.time_ns), 0)
    if row_count <= row_total and journal.rows:
        return
    times, values = rows.times_ns[row_total:row_count], rows.values[row_total:row_count]
    clocks = None if order.begun.clock_ns is None else rows.clocks_ns[row_total:row_count]
    if journal.rows == 0:
        times = np.concatenate([order.begun.time_ns, times])
        values = np.concatenate([order.begun.values, values])
        if clocks is not None and order.begun.clock_ns is not None:
            clocks = np.concatenate([order.begun.clock_ns, clocks])
    journal.add(replace(order.begun, time_ns=times, values=values, clock_ns=clocks))


if __name__ == "__main__":
    main()
