"""Looks at what a run in real time records, and its journal: its steps wait for nothing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import CapabilityError, RunEndedError
from orchestrator.core.recording import Journal, Result
from orchestrator.core.recording.journal_process import JournalProcess

if TYPE_CHECKING:
    from types import FrameType

    from orchestrator.core.master import Execution
    from orchestrator.core.realtime import SharedRows
    from orchestrator.study.prepare.simulate import Watch


#: s, between two looks.
_INTERVAL = 0.05


@contextmanager
def watched(execution: Execution, watch: Watch) -> Iterator[None]:
    """Let a thread look at the rows of a run, and end it as a signal does."""
    if execution.schedule.varies or threading.current_thread() is not threading.main_thread():
        raise CapabilityError(
            "a run in real time is watched only with a fixed step, and in the main thread: leave"
            " out what stops it, or 'realtime'"
        )
    said: list[str] = []
    done = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: FrameType | None) -> None:
        if said:
            raise KeyboardInterrupt  # as that of an operator: no block takes it for its own error
        if callable(before):
            before(number, frame)

    def look() -> None:
        seen = 0
        while not done.wait(_INTERVAL):
            rows = execution.recording_since(seen)
            whole = slice(max(len(rows.time_ns) - 1, 0))  # the last may be being written
            seen += len(rows.time_ns[whole])
            text = watch(replace(rows, time_ns=rows.time_ns[whole], values=rows.values[whole]))
            if text and not done.is_set():
                said.append(text)
                signal.pthread_kill(main, signal.SIGINT)
                return

    main = threading.main_thread().ident or 0
    signal.signal(signal.SIGINT, interrupted)
    thread = threading.Thread(target=look, name="watch")
    thread.start()
    try:
        yield
    except KeyboardInterrupt:
        if said:
            raise RunEndedError(said[0]) from None
        raise
    finally:
        done.set()
        thread.join()
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


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
