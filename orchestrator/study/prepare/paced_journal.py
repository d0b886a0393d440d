"""The journal of a run in real time, which waits for no file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.core.master import Execution
from orchestrator.core.realtime import RealTime
from orchestrator.core.recording import Journal, Result
from orchestrator.core.recording.journal_process import JournalProcess
from orchestrator.core.system import seconds


@contextmanager
def journal_beside(
    execution: Execution,
    until_ns: int,
    journal: Journal,
    begun: Result,
    realtime: RealTime,
    notes: list[str],
) -> Iterator[None]:
    """Let a process of its own write the journal while a run goes on, if it lasts long enough."""
    lasts = (seconds(until_ns) - execution.time) / realtime.factor
    if lasts < journal.interval:
        yield
        return
    rows = execution.share_rows(until_ns)
    if rows is None:
        notes.append("a run in real time that chooses its steps has no journal")
        yield
        return
    try:
        process = JournalProcess(journal, rows, begun, realtime.cpus)
    except OSError as error:
        notes.append(f"the run had no journal: its process cannot be started: {error}")
        yield
        return
    try:
        yield
    finally:
        if wrong := process.end():
            notes.append(f"the journal of the run is not whole: {wrong}")
