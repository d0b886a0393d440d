"""One run of one system, from description to result."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import (
    CapabilityError,
    NeverEngagedError,
    RunEndedError,
    SoftdockError,
    StepError,
    counted,
)
from orchestrator.core.display import Progress, progress_bar
from orchestrator.core.structs import Struct
from orchestrator.core.system import horizon, seconds
from orchestrator.core.system.time import whole_steps
from orchestrator.core.upward import loop_warnings

if TYPE_CHECKING:
    from types import FrameType

    from orchestrator.core.master import Execution, ExecutionSettings, Recording, RunKeywords
    from orchestrator.core.realtime import SharedRows
    from orchestrator.core.recording import Journal, Result
    from orchestrator.core.recording.journal import JournalProcess
    from orchestrator.core.system import System

#: 8 GB of float64: what a run may hold in memory.
MOST_VALUES = 1_000_000_000

#: Is given rows as they come, and returns why the run is to end; nothing: it goes on.
Watch = Callable[["Recording"], str]
#: Is given the run between chunks of steps, and may wait; returns how many the next has at most.
#: What it raises as a RunEndedError ends the run.
Steer = Callable[["Execution"], int | None]
#: Is given the memory that a run will record in, what is recorded before its first step, and it.
Share = Callable[["SharedRows", "Result", "Execution"], None]


class Where(Struct):
    """Says how far a run is while it goes on.

    start_ns, last_ns: Times of the first and the last row.
    time_ns: Returns the time that was reached; any thread may ask, in runs that are not in real
        time.
    rows: Of a run in real time, which no thread of its process disturbs: what another one can read.
    """

    start_ns: int
    last_ns: int
    time_ns: Callable[[], int]
    rows: SharedRows | None = None


#: Is entered for the steps of a run.
Look = Callable[[Where], AbstractContextManager[None]]


class FailedRunError(StepError):
    """A run that a unit ended; ``result`` holds what was recorded until then."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result


class RunStop(Struct):
    """Who stopped a run before its end, and why.

    by: ``"operator"`` or ``"supervisor"``.
    reason: By which means an operator stopped it; which fault a supervisor found.
    is_whole: Whether the stop explains a step that failed: the rig was at rest already.
    """

    by: str
    reason: str
    is_whole: bool = True


class StoppedRunError(RunEndedError):
    """Somebody stopped a run. What was recorded is its result."""

    def __init__(self, stop: RunStop) -> None:
        super().__init__(stop.reason)
        self.stop = stop


class InterruptedRun(KeyboardInterrupt):
    """A run that was interrupted (Ctrl-C); ``result`` holds what was recorded until then."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"case '{result.name}' was interrupted at {result.time[-1]:.9g} s")
        self.result = result


class RunHooks(Struct):
    """Hooks around the steps of a run; see :func:`simulate`.

    ``on_begin`` is called when all is ready for the first step, which is done when it returns;
    ``on_end`` is called as soon as the last step was done, or one failed: before files are written,
    and before devices are closed; a stop that it returns explains a step that failed, so that the
    run keeps its result. ``on_stopped`` is called with such a stop and of that of a
    :class:`StoppedRunError`, with a sentence that has its time. ``watch`` is given the rows of a
    chunk of steps when it is done, ``share`` all rows in memory that other processes can read,
    before the first step. ``steer`` is called between chunks of a run, in real time when somebody
    asks for it.
    ``look`` is entered for the steps, with what says how far the run is.
    """

    progress: Progress | None = None
    journal: Journal | None = None
    on_begin: Callable[[], None] = lambda: None
    on_end: Callable[[], RunStop | None] = lambda: None
    on_stopped: Callable[[RunStop, str], None] = lambda _stop, _text: None
    watch: Watch | None = None
    share: Share | None = None
    steer: Steer | None = None
    look: Look | None = None


_ALONE = RunHooks()


def simulate(
    system: System,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    journal: Journal | None = None,
    **keywords: Unpack[RunKeywords],
) -> Result:
    """Run a system: ``simulate(system, step="1 ms", stop="10 s")["sheet.force_a"]`` is an array.

    A unit may end the run earlier; a note of the result then says so. The effect of the step on
    the loops is computed when the ``remarks`` of the result are read. They begin with loops whose
    growth rate the step changes by more than 5 % or in sign.

    Parameters
    ----------
    system
        What to run.
    name
        Name of the result; the system's name if ``None``.
    progress
        Called with the finished share, 0 to 1.
    journal
        Gets the recorded rows between two chunks of steps. If it cannot be written, the run
        continues without it and the result has a note.
    **given
        See :class:`orchestrator.core.master.Execution`; a ``stop`` that is ``None`` is that of the
        system's default experiment, too. A stop time off the grid of steps is reached by the last
        whole step before it. In real time a run goes in one piece: progress comes at its end, and
        a process of its own writes the journal.

    Raises
    ------
    FailedRunError
        If a unit fails, or a run in real time misses too many deadlines; its ``result`` holds
        everything until then.
    InterruptedRun
        On Ctrl-C, likewise.
    DescriptionError, LoadError
        If the system or an option is wrong.
    """
    from orchestrator.core.master import ExecutionSettings

    settings = ExecutionSettings.of(system, **keywords)
    is_silent = progress is not None or settings.realtime is not None
    display = nullcontext(progress) if is_silent else progress_bar(name or system.name)
    with display as bar:
        result = simulate_with(system, settings, RunHooks(bar, journal), name)
    return replace(result, warnings=partial(loop_warnings, system, settings.stepping))


def simulate_with(
    system: System, settings: ExecutionSettings, hooks: RunHooks = _ALONE, name: str | None = None
) -> Result:
    """Run a system from start to stop; see :func:`simulate`."""
    from orchestrator.core.master import Execution

    name = name or system.name
    start_ns, stop_ns, step_ns = horizon(system, settings.start, settings.stop, settings.step)
    with Execution(system, settings, stop=f"{stop_ns} ns") as execution:
        count, rest_ns = whole_steps(stop_ns - start_ns, step_ns)
        last_ns = stop_ns if execution.schedule.varies else stop_ns - rest_ns
        values = (count // settings.every + 1) * execution.recorded_columns
        if values > MOST_VALUES:
            raise CapabilityError(
                f"'{name}': the run would record {values:.3g} values in memory;"
                f" expected at most {MOST_VALUES:.3g}: record fewer outputs or every n-th step"
            )
        notes = []
        if last_ns != stop_ns:
            notes.append(
                f"the stop time of {seconds(stop_ns):.9g} s is not a whole number of steps of"
                f" {step_ns / 1e6:g} ms after the start: the run ends at {seconds(last_ns):.9g} s"
            )
        pace = settings.realtime
        report = _Report(execution, hooks, name, notes, start_ns, last_ns)
        try:
            is_read = pace is not None and (hooks.journal or hooks.watch) is not None
            with ExitStack() as stack:
                reader = _read_beside(execution, settings, hooks, last_ns, name, notes)
                rows = stack.enter_context(reader)
                if pace is not None and hooks.watch is not None:
                    stack.enter_context(_watched(execution, rows, hooks.watch))
                if pace is None:  # else a process of its own writes the journal
                    stack.enter_context(report.kept_at_exit())
                stack.enter_context(_ended(hooks.on_end))
                if pace is not None and hooks.progress is not None:
                    hooks.progress(0.0)  # devices are open; a paced run tells no more until its end
                steer = None if hooks.steer is None else partial(hooks.steer, execution)
                until = f"{last_ns} ns"
                execution.advance(until, None if is_read else report, hooks.on_begin, steer)
        except StoppedRunError as error:
            notes += _stopped(error, execution.time, hooks)
        except RunEndedError as error:
            notes.append(str(error))
        except (StepError, NeverEngagedError) as error:
            result = _result(execution, execution.recording(), name, notes)
            raise FailedRunError(f"case '{name}': {error}", result) from error
        except KeyboardInterrupt:
            raise InterruptedRun(_result(execution, execution.recording(), name, notes)) from None
        return _result(execution, execution.recording(), name, notes)


def _stopped(error: StoppedRunError, time: float, hooks: RunHooks) -> Iterator[str]:
    """Say who stopped the run and when, and what failed besides."""
    stop = error.stop
    text = f"stopped by the {stop.by} at {round(time, 1 if time >= 1.0 else 4):.9g} s"
    if stop.by == "operator":
        hooks.on_stopped(stop, text)
        yield f"{text} ({stop.reason})"
    else:
        hooks.on_stopped(stop, f"{text}: {stop.reason}")
    if not stop.is_whole and error.__cause__ is not None:
        yield f"the run ended while the rig came to rest: {error.__cause__}"


@contextmanager
def _ended(on_end: Callable[[], RunStop | None]) -> Iterator[None]:
    """Call what follows the last step; a stop that it returns explains a step that failed."""
    failure: StepError | None = None
    try:
        yield
    except StepError as error:
        failure = error
    finally:
        stop = on_end()
    if failure is not None:
        if stop and not isinstance(failure, RunEndedError):
            raise StoppedRunError(stop) from failure
        raise failure


@contextmanager
def _read_beside(
    execution: Execution,
    settings: ExecutionSettings,
    hooks: RunHooks,
    last_ns: int,
    name: str,
    notes: list[str],
) -> Iterator[SharedRows | None]:
    """Let others read the rows: in real time the processes of journal and terminal, and a watch.

    Yields the rows, if anybody reads them.
    """
    pace, journal = settings.realtime, hooks.journal
    lasts = 0.0 if pace is None else (seconds(last_ns) - execution.time) / pace.factor
    if pace is None or (journal is not None and lasts < journal.interval):
        journal = None
    is_shared = journal is not None or hooks.share is not None
    if pace is not None and (hooks.look is not None or hooks.watch is not None):
        is_shared = True
    rows = execution.share_rows(last_ns) if is_shared else None
    varies = execution.schedule.varies
    with ExitStack() as stack:
        if hooks.look is not None and (pace is None or not varies):
            progress = Where(execution.time_ns, last_ns, lambda: execution.time_ns, rows)
            stack.enter_context(hooks.look(progress))
        begun = _result(execution, execution.recording(), name, notes) if is_shared else None
        if hooks.share is not None and begun is not None and rows is not None:
            hooks.share(rows, begun, execution)
        if journal is not None and pace is not None and begun is not None:
            fixed = None if varies else rows
            writer = stack.enter_context(_journal_beside(fixed, journal, begun, pace.cpus, notes))
            if writer is not None and (hooks.steer is not None or settings.tuned):
                execution.listen(writer.tell)
        yield rows
        if rows is not None and not execution.writes_to(rows):
            visible = f"its first {counted(rows.written, 'row')}: there was no room for more"
            notes.append(f"who looked at the run saw {visible}")


@dataclass(slots=True)
class _Report:
    """Called between two chunks of steps: writes the journal, and says how far a run has come."""

    execution: Execution
    hooks: RunHooks
    name: str
    notes: list[str]
    start_ns: int
    last_ns: int
    rows_seen: int = 0
    journal: Journal | None = field(init=False)

    def __post_init__(self) -> None:
        self.journal = self.hooks.journal
        if self.journal is not None:
            self.journal.begin()

    def __call__(self, time: float) -> None:
        execution, hooks = self.execution, self.hooks
        if self.journal is not None and self.journal.due:
            rows = execution.recording_since(self.journal.rows)
            try:
                self.journal.add(_result(execution, rows, self.name, self.notes))
            except SoftdockError as error:
                self.notes.append(f"the run went on without its journal from {time:.9g} s: {error}")
                self.journal = None
        if hooks.progress is not None:
            duration_s = max(seconds(self.last_ns - self.start_ns), 1e-9)
            hooks.progress((time - seconds(self.start_ns)) / duration_s)
        if hooks.watch is not None:
            rows = execution.recording_since(self.rows_seen)
            self.rows_seen += len(rows.time_ns)
            if reason := hooks.watch(rows):
                raise RunEndedError(reason)

    @contextmanager
    def kept_at_exit(self) -> Iterator[None]:
        """Keep the rows of a run whose component ends the whole program, as C's exit() does."""
        from orchestrator.engine import call_at_exit

        call_at_exit(self._leave)
        try:
            yield
        finally:
            call_at_exit(sys.stderr.flush)

    def _leave(self) -> None:
        text = f"'{self.name}': the code of a component ended the program (C function exit)"
        outcome = "its rows are lost"
        if self.journal is not None:
            rows = self.execution.recording_since(self.journal.rows)
            self.journal.add(_result(self.execution, rows, self.name, self.notes))
            outcome = (
                f"the recording keeps {counted(self.journal.rows, 'row')} in {self.journal.folder}"
            )
        advice = 'give the component a process of its own (isolation = "process")'
        sys.stderr.write(f"{text} after t = {self.execution.time:.9g} s; {outcome}; {advice}\n")
        sys.stderr.flush()
        os._exit(2)


#: s, between two looks.
_INTERVAL = 0.05


def _coming(begun: Recording, rows: SharedRows, done: threading.Event) -> Iterator[Recording]:
    """Yield what a run recorded before its first step, and then what it adds, until it is done."""
    yield begun
    first = 0
    while not done.wait(_INTERVAL):
        new = slice(first, max(rows.written - 1, first))  # the last may lack values yet
        first = new.stop
        yield replace(begun, time_ns=rows.times_ns[new], values=rows.values[new], clock_ns=None)


class _Watcher:
    """Looks at the rows of a run in a thread, and ends the run as a signal does.

    error: By which it ends; ``None``: it does not.
    """

    def __init__(self, begun: Recording, rows: SharedRows, watch: Watch) -> None:
        self._begun, self._rows, self._watch = begun, rows, watch
        self.error: SoftdockError | None = None
        self.done = threading.Event()

    def look(self) -> None:
        """Look until the run is over."""
        for fresh in _coming(self._begun, self._rows, self.done):
            try:
                text = self._watch(fresh)
                error: SoftdockError | None = RunEndedError(text) if text else None
            except SoftdockError as failed:
                error = failed
            if error is not None and not self.done.is_set():
                self.error = error
                operating_system.interrupt_main()
                return


@contextmanager
def _watched(execution: Execution, rows: SharedRows | None, watch: Watch) -> Iterator[None]:
    """Let a thread look at the rows of a run, and end it as a signal does."""
    here = threading.current_thread()
    if rows is None or execution.schedule.varies or here is not threading.main_thread():
        raise CapabilityError(
            "a run in real time is watched only with a fixed step, and in the main thread: leave"
            " out what stops it, or 'realtime'"
        )
    watcher = _Watcher(execution.recording(), rows, watch)
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: FrameType | None) -> None:
        if watcher.error is not None:
            raise KeyboardInterrupt  # as that of an operator: no block takes it for its own error
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, interrupted)
    thread = threading.Thread(target=watcher.look, name="watch")
    try:
        thread.start()
        yield
    except KeyboardInterrupt:
        if watcher.error is not None:
            raise watcher.error from None
        raise
    finally:
        watcher.done.set()
        thread.join()
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@contextmanager
def _journal_beside(
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
    from orchestrator.core.recording.journal import JournalProcess

    try:
        process = JournalProcess(journal, rows, begun, cpus)
    except OSError as error:
        notes.append(f"the run had no journal: its process cannot be started: {error}")
        yield None
        return
    try:
        yield process
    finally:
        if failure := process.end():
            notes.append(f"the journal of the run is not whole: {failure}")


def result_of(execution: Execution, name: str | None = None) -> Result:
    """Return what a run that you step recorded so far; ``name``: default is its system's."""
    return _result(execution, execution.recording(), name or execution.system.name)


def _result(execution: Execution, rows: Recording, name: str, notes: Sequence[str] = ()) -> Result:
    from orchestrator.core.recording import Result, parameters_of

    schedule = execution.schedule
    return Result(
        name=name,
        **{field: getattr(rows, field) for field in rows.__struct_fields__},
        parameters=parameters_of(execution.system),
        step_ns=schedule.step_ns,
        algorithm=schedule.algorithm,
        delay_mode=str(schedule.mode),
        rates={member.name: member.ticks for member in schedule.members if member.ticks > 1},
        every=execution.recorded_every,
        loops=schedule.loop_delays,
        plans=execution.plans,
        line_statistics=execution.line_statistics(),
        faults=execution.faults,
        notices=execution.notices,
        tuned=execution.tuned,
        marks=execution.marks,
        inputs_set=execution.inputs_set,
        wall_seconds=execution.wall_seconds,
        simulated_seconds=execution.time - seconds(execution.start_ns),
        notes=(*notes, *execution.notes),
        timing=execution.timing,
        system=execution.system,
    )
