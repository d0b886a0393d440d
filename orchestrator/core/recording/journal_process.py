"""The journal of a run in real time, written by a process of its own."""

from __future__ import annotations

import pickle
import signal
import subprocess
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.realtime import SharedRows
from orchestrator.core.recording.files import Journal
from orchestrator.core.recording.journal_writer import LENGTH, JournalOrder
from orchestrator.core.recording.result import Result

_MODULE = "orchestrator.core.recording.journal_writer"


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
            _MODULE, files=[rows.file], stdin=subprocess.PIPE, keeps_stderr=True
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
        said, code = self._process.finish(), self._process.returncode
        if code is None:
            return "its process did not end when it was killed"
        if code in (0, -signal.SIGKILL):
            return ""
        lines = said.splitlines()
        return lines[-1] if lines else f"its process ended with {code}"


def _travels(begun: Result) -> bool:
    """Whether another process can have the system: not if a block is known to this one only."""
    try:
        pickle.dumps(begun.system)
    except SoftdockError:
        return False
    return True
