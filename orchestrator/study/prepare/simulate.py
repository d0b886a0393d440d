"""One run of one system, from description to result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from orchestrator.core.coupling import DEFAULT_DELAY
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    NeverEngagedError,
    RunEndedError,
    SoftdockError,
    StepError,
)
from orchestrator.core.notebook import Progress, progress_bar
from orchestrator.core.system import communication_step_ns, nanoseconds, seconds
from orchestrator.core.system.step_length import step_text, whole_steps
from orchestrator.core.wings import of_wing

if TYPE_CHECKING:
    from orchestrator.core.coupling import Tuned
    from orchestrator.core.master import DelayMode, Execution, Recording
    from orchestrator.core.realtime import RealTime
    from orchestrator.core.realtime.shared_rows import SharedRows
    from orchestrator.core.recording import Journal, Result
    from orchestrator.core.system import Fault, System
    from orchestrator.core.system.ports.limits import Limits

#: 8 GB of float64: what a run may hold in memory.
MOST_VALUES = 1_000_000_000

#: Is given rows as they come, and returns why the run is to end; nothing: it goes on.
Watch = Callable[["Recording"], str]
#: Is given the run between chunks of steps, and may wait; returns how many the next has at most.
#: What it raises as a RunEndedError ends the run.
Steer = Callable[["Execution"], int | None]
#: Is given the memory that a run will record in, what is recorded before its first step, and it.
Share = Callable[["SharedRows", "Result", "Execution"], None]


@dataclass(frozen=True, slots=True)
class Where:
    """Says how far a run is while it goes on.

    Parameters
    ----------
    start_ns, last_ns
        Times of the first and the last row.
    time_ns
        Returns the time that was reached; any thread may ask, in runs that are not in real time.
    rows
        Of a run in real time, which no thread of its process disturbs: what another one can read.
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


class InterruptedRun(KeyboardInterrupt):
    """A run that was interrupted (Ctrl-C); ``result`` holds what was recorded until then."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"case '{result.name}' was interrupted at {result.time[-1]:.9g} s")
        self.result = result


def horizon(
    system: System,
    start: str | float | None,
    stop: str | float | None,
    step: str | float | None,
) -> tuple[int, int, int]:
    """Start, stop and step in nanoseconds; what is ``None`` is the system's own."""
    default = system.experiment
    start_ns = default.start_ns if start is None else nanoseconds(start, "start time")
    stop_ns = default.stop_ns if stop is None else nanoseconds(stop, "stop time")
    if stop_ns is None:
        raise DescriptionError(
            f"system '{system.name}': no stop time is given; give one (stop, or --stop)"
        )
    step_ns = communication_step_ns(system, step)
    if step_ns <= 0 or stop_ns - start_ns < step_ns:
        raise DescriptionError(
            f"system '{system.name}': expected a step > 0 s and a stop at least one step after the"
            f" start; found start {seconds(start_ns):.9g} s, stop {seconds(stop_ns):.9g} s, step"
            f" {seconds(step_ns):.9g} s"
        )
    return start_ns, stop_ns, step_ns


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """How a system is run; see :func:`simulate`.

    ``on_begin`` is called when all is ready for the first step, which is done when it returns;
    ``on_end`` is called as soon as the last step was done, or one failed: before files are written,
    and before devices are closed. ``watch`` is given the rows of a chunk of steps when it is done,
    ``share`` all rows in memory that other processes can read, before the first step. ``steer`` is
    called between chunks of a run, in real time when somebody asks for it. ``look`` is entered for
    the steps, with what says how far the run is. ``limits`` are those of
    :class:`orchestrator.core.master.Execution`.
    """

    step: str | float | None = None
    stop: str | float | None = None
    start: str | float | None = None
    algorithm: str | None = None
    algorithm_options: Mapping[str, Any] | None = None
    rates: Mapping[str, int] | None = None
    delay: DelayMode | str = DEFAULT_DELAY
    record: Sequence[str] | None = None
    every: int = 1
    early_return: bool | None = None
    threads: int | None = None
    faults: Sequence[Fault] = ()
    strict: bool = False
    realtime: RealTime | None = None
    tuned: Sequence[Tuned] = ()
    limits: Mapping[str, Limits] | None = None
    name: str | None = None
    progress: Progress | None = None
    journal: Journal | None = None
    on_begin: Callable[[], None] = lambda: None
    on_end: Callable[[], None] = lambda: None
    watch: Watch | None = None
    share: Share | None = None
    steer: Steer | None = None
    look: Look | None = None


def simulate(  # the options of a run are what they are
    system: System,
    *,
    step: str | float | None = None,
    stop: str | float | None = None,
    start: str | float | None = None,
    algorithm: str | None = None,
    algorithm_options: Mapping[str, Any] | None = None,
    rates: Mapping[str, int] | None = None,
    delay: DelayMode | str = DEFAULT_DELAY,
    record: Sequence[str] | None = None,
    every: int = 1,
    early_return: bool | None = None,
    threads: int | None = None,
    faults: Sequence[Fault] = (),
    strict: bool = False,
    realtime: RealTime | None = None,
    tuned: Sequence[Tuned] = (),
    name: str | None = None,
    progress: Progress | None = None,
    journal: Journal | None = None,
) -> Result:
    """Run a system from start to stop, or to where a unit ends the run, which a note then says.

    What its schedule does to its loops is worked out when the ``remarks`` of the result are asked
    for, and they begin with what is off by more than a twentieth, or has the wrong sign.

    Parameters
    ----------
    system
        What to run.
    step, stop, start, algorithm, algorithm_options, rates, early_return, threads
        See :class:`orchestrator.core.master.Execution`; what is ``None`` is taken from the system's
        default experiment. A stop time off the grid of steps is reached by the last
        whole step before it.
    delay
        ``"waveform"``, ``"mean"`` or ``"plain"``: see :class:`orchestrator.core.master.DelayMode`.
    record, every
        Variables to record (all outputs; names, also of local variables and inputs, or patterns
        with ``*`` and ``?``), and of how many steps one is recorded; the first and the last time
        always are.
    faults, strict
        See :class:`orchestrator.core.master.Execution`.
    realtime
        How the run is kept to real time; ``None``: it is as fast as it can be. Values are the same
        in both. In real time a run goes in one piece: progress comes at its end, and a process of
        its own writes the journal.
    tuned
        What was changed while another run went on, as its result has it: the same is done again,
        each before the step that it was done before.
    name
        Name of the result; the system's name if ``None``.
    progress
        Called with the share that is done, 0 to 1. ``None``: a notebook shows a bar.
    journal
        Is given what was recorded whenever it is due, between two chunks of steps. If it cannot be
        written the run goes on without it, and the result says so.

    Raises
    ------
    FailedRunError
        If a unit fails, or real time is not kept where it must be; its ``result`` holds all up
        to there.
    InterruptedRun
        On Ctrl-C, likewise.
    DescriptionError, LoadError
        If the system or an option is wrong.
    """
    settings = SimulationSettings(
        step=step,
        stop=stop,
        start=start,
        algorithm=algorithm,
        algorithm_options=algorithm_options,
        rates=rates,
        delay=delay,
        record=record,
        every=every,
        early_return=early_return,
        threads=threads,
        faults=faults,
        strict=strict,
        realtime=realtime,
        tuned=tuned,
        name=name,
        progress=progress,
        journal=journal,
    )
    shown = nullcontext(progress) if progress or realtime else progress_bar(name or system.name)
    with shown as bar:
        result = simulate_with(system, replace(settings, progress=bar))
    chosen = {"start": start, "algorithm": algorithm, "algorithm_options": algorithm_options}
    way = chosen | {"step": step, "rates": rates, "delay": delay}
    return replace(result, warnings=partial(_warnings, system, way))


def _warnings(system: System, way: Mapping[str, Any]) -> tuple[str, ...]:
    found: tuple[str, ...] = of_wing("loops.warnings")(system, **way)
    return found


def simulate_with(system: System, settings: SimulationSettings) -> Result:
    """Run a system from start to stop; see :func:`simulate`."""
    from orchestrator.core.master import Execution

    given, name, journal = settings, settings.name or system.name, settings.journal
    start_ns, stop_ns, step_ns = horizon(system, given.start, given.stop, given.step)
    with Execution(
        system,
        step=step_text(step_ns),
        algorithm=given.algorithm,
        algorithm_options=given.algorithm_options,
        rates=given.rates,
        delay=given.delay,
        start=f"{start_ns} ns",
        stop=f"{stop_ns} ns",
        record=given.record,
        every=given.every,
        early_return=given.early_return,
        threads=given.threads,
        faults=given.faults,
        strict=given.strict,
        realtime=given.realtime,
        limits=given.limits,
    ) as execution:
        if given.tuned:
            execution.replay(given.tuned)
        count, rest_ns = whole_steps(stop_ns - start_ns, step_ns)
        last_ns = stop_ns if execution.schedule.varies else stop_ns - rest_ns
        _expect_room(execution, count // given.every + 1, name)
        notes = _notes_of_end(last_ns, stop_ns, step_ns)

        report = _Report(execution, given, name, notes, start_ns, last_ns)
        try:
            paced = given.realtime is not None and (journal or given.watch) is not None
            with ExitStack() as stack:
                stack.enter_context(_read_beside(execution, given, last_ns, name, notes))
                stack.enter_context(_watched(execution, given))
                stack.callback(given.on_end)
                if given.realtime is not None and given.progress is not None:
                    given.progress(0.0)  # devices are open; a paced run tells no more until its end
                steer = None if given.steer is None else partial(given.steer, execution)
                until = f"{last_ns} ns"
                execution.advance(until, None if paced else report, given.on_begin, steer)
        except RunEndedError as error:
            notes.append(str(error))
        except (StepError, NeverEngagedError) as error:
            result = _result(execution, execution.recording(), name, notes)
            raise FailedRunError(f"case '{result.name}': {error}", result) from error
        except KeyboardInterrupt:
            raise InterruptedRun(_result(execution, execution.recording(), name, notes)) from None
        return _result(execution, execution.recording(), name, notes)


@contextmanager
def _read_beside(
    execution: Execution, given: SimulationSettings, last_ns: int, name: str, notes: list[str]
) -> Iterator[None]:
    """Let other processes read the rows: the journal's and a terminal's in real time, and others.

    What is looked at in real time is looked at so, too.
    """
    pace, journal = given.realtime, given.journal
    lasts = 0.0 if pace is None else (seconds(last_ns) - execution.time) / pace.factor
    if pace is None or (journal is not None and lasts < journal.interval):
        journal = None
    is_shared = journal is not None or given.share is not None
    if pace is not None and given.look is not None:
        is_shared = True
    rows = execution.share_rows(last_ns) if is_shared else None
    varies = execution.schedule.varies
    with ExitStack() as stack:
        if given.look is not None and (pace is None or not varies):
            where = Where(execution.time_ns, last_ns, lambda: execution.time_ns, rows)
            stack.enter_context(given.look(where))
        begun = _result(execution, execution.recording(), name, notes) if is_shared else None
        if given.share is not None and begun is not None and rows is not None:
            given.share(rows, begun, execution)
        if journal is not None and pace is not None and begun is not None:
            from orchestrator.study.prepare.paced_journal import journal_beside

            whole = None if varies else rows
            writer = stack.enter_context(journal_beside(whole, journal, begun, pace.cpus, notes))
            if writer is not None and (given.steer is not None or given.tuned):
                execution.listen(writer.tell)
        yield
        if rows is not None and not execution.writes_to(rows):
            seen = f"its first {rows.written} rows: there was no room for more"
            notes.append(f"who looked at the run saw {seen}")


@dataclass(slots=True)
class _Report:
    """Called between two chunks of steps: writes the journal, and says how far a run has come."""

    execution: Execution
    given: SimulationSettings
    name: str
    notes: list[str]
    start_ns: int
    last_ns: int
    seen: int = 0
    journal: Journal | None = field(init=False)

    def __post_init__(self) -> None:
        self.journal = self.given.journal

    def __call__(self, time: float) -> None:
        execution, given = self.execution, self.given
        if self.journal is not None and self.journal.due:
            rows = execution.recording_since(self.journal.rows)
            try:
                self.journal.add(_result(execution, rows, self.name, self.notes))
            except SoftdockError as error:
                why = f"the run went on without its journal from {time:.9g} s: {error}"
                self.notes.append(why)
                self.journal = None
        if given.progress is not None:
            whole = max(seconds(self.last_ns - self.start_ns), 1e-9)
            given.progress((time - seconds(self.start_ns)) / whole)
        if given.watch is not None:
            rows = execution.recording_since(self.seen)
            self.seen += len(rows.time_ns)
            if said := given.watch(rows):
                raise RunEndedError(said)


def _watched(execution: Execution, given: SimulationSettings) -> AbstractContextManager[None]:
    """Return what looks at a run in real time, which has no chunks, if that is asked for."""
    if given.realtime is None or given.watch is None:
        return nullcontext()
    from orchestrator.study.prepare.paced_watch import watched

    return watched(execution, given.watch)


def _notes_of_end(last_ns: int, stop_ns: int, step_ns: int) -> list[str]:
    """Say where a run ends that does not end at its stop time."""
    if last_ns == stop_ns:
        return []
    told = (
        f"the stop time of {seconds(stop_ns):.9g} s is no whole number of steps of"
        f" {step_ns / 1e6:g} ms away: the run ends at {seconds(last_ns):.9g} s"
    )
    return [told]


def _expect_room(execution: Execution, rows: int, name: str) -> None:
    values = rows * execution.recorded_columns
    if values > MOST_VALUES:
        raise CapabilityError(
            f"'{name}': the run would record {values:.3g} values in memory;"
            f" expected at most {MOST_VALUES:.3g}: record fewer outputs or every n-th step"
        )


def _result(execution: Execution, recording: Recording, name: str, notes: Sequence[str]) -> Result:
    from orchestrator.core.recording import Result, parameters_of

    schedule = execution.schedule
    return Result(
        name=name,
        time_ns=recording.time_ns,
        names=recording.names,
        values=recording.values,
        units=recording.units,
        descriptions=recording.descriptions,
        clock_ns=recording.clock_ns,
        parameters=parameters_of(execution.system),
        step_ns=schedule.step_ns,
        algorithm=schedule.algorithm,
        delay_mode=str(schedule.mode),
        loops=schedule.loop_delays,
        plans=schedule.plans,
        line_statistics=execution.line_statistics(),
        faults=execution.faults,
        notices=execution.notices,
        tuned=execution.tuned,
        marks=execution.marks,
        wall_seconds=execution.wall_seconds,
        simulated_seconds=execution.time - seconds(execution.start_ns),
        notes=(*notes, *execution.notes),
        timing=execution.timing,
        system=execution.system,
    )
