"""The journal of a run in real time, which waits for no file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from orchestrator.core.recording import Journal, Result
from orchestrator.core.recording.journal_process import JournalProcess

if TYPE_CHECKING:
    from orchestrator.core.realtime.shared_rows import SharedRows


@contextmanager
def journal_beside(
    rows: SharedRows | None,
    journal: Journal,
    begun: Result,
    cpus: Collection[int],
    notes: list[str],
) -> Iterator[JournalProcess | None]:
    """Let a process of its own write the journal while a run goes on; it may not be to be had."""
    if rows is None:
        notes.append("a run in real time that chooses its steps has no journal")
        yield None
        return
    try:
        process = JournalProcess(journal, rows, begun, cpus)
    except OSError as error:
        notes.append(f"the run had no journal: its process cannot be started: {error}")
        yield None
        return
    try:
        yield process
    finally:
        if wrong := process.end():
            notes.append(f"the journal of the run is not whole: {wrong}")
