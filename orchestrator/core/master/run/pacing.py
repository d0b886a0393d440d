"""Steps in real time: their clock, what the process is granted, and the record of how that went."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import (
    CapabilityError,
    DeadlineError,
    DescriptionError,
    UnknownNameError,
    choices_for,
)
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.realtime import (
    KEPT_OVERRUNS,
    Drift,
    Durations,
    Overrun,
    OverrunPolicy,
    RealTime,
    RealTimeRecord,
    SharedRows,
)
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.simunits.registry import clock_ns
from orchestrator.core.structs import MutableStruct, field
from orchestrator.core.system import System, nanoseconds, seconds
from orchestrator.engine import (
    Engine,
    LatencyHistogram,
    MonotonicClock,
    Outcome,
    PaceEnd,
    Pacer,
    StepClock,
    lock_memory,
    unlock_memory,
)


class Grants(MutableStruct):
    """What was granted, by name, and what was not, in sentences; each once."""

    granted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def grant(self, name: str) -> None:
        """Note what was granted."""
        if name not in self.granted:
            self.granted.append(name)

    def refuse(self, right: str, number: int, remedy: str) -> None:
        """Note what was not granted, by the number of the system's error."""
        sentence = f"not granted: {right} ({os.strerror(number)}); {remedy}"
        if sentence not in self.refused:
            self.refused.append(sentence)


@contextmanager
def privileges(realtime: RealTime, grants: Grants, processes: Sequence[int] = ()) -> Iterator[None]:
    """Take what the system grants of what is wanted, and give it back at the end."""
    with ExitStack() as stack:
        _keep_to_cpus(realtime, grants, stack)
        _raise_priority(realtime, grants, stack, processes)
        if not realtime.collect_garbage:
            if gc.isenabled():
                gc.disable()
                stack.callback(gc.enable)
            grants.grant("no garbage")
        if realtime.lock_memory:
            _lock_memory(grants, stack)
        yield


def _keep_to_cpus(realtime: RealTime, grants: Grants, stack: ExitStack) -> None:
    if not realtime.cpus:
        return
    before = operating_system.processors()
    try:
        operating_system.keep_to(realtime.cpus)
    except OSError as error:
        cpus = ", ".join(map(str, sorted(realtime.cpus)))
        grants.refuse(f"processors {cpus}", error.errno or 0, "the run used all")
        return
    stack.callback(operating_system.keep_to, before)
    grants.grant("cpus")


def _raise_priority(
    realtime: RealTime, grants: Grants, stack: ExitStack, processes: Sequence[int]
) -> None:
    if realtime.priority == 0:
        return
    before = operating_system.scheduling()
    try:
        for process in processes:
            operating_system.raise_priority(process, realtime.priority + 1)
        operating_system.take_priority(realtime.priority)
    except OSError as error:
        remedy = "needs CAP_SYS_NICE or a limit 'rtprio' (ulimit -r)"
        grants.refuse(f"SCHED_FIFO, priority {realtime.priority}", error.errno or 0, remedy)
        return
    stack.callback(operating_system.put_back_scheduling, *before)
    grants.grant("priority")


def _lock_memory(grants: Grants, stack: ExitStack) -> None:
    """Lock what is in use: a step allocates nothing, and later memory could then be refused."""
    number = lock_memory()
    if number:
        remedy = "needs CAP_IPC_LOCK or a limit 'memlock' (ulimit -l) as large as the process"
        grants.refuse("memory that is not paged out", number, remedy)
        return
    stack.callback(unlock_memory)
    grants.grant("memory")


_POLICIES = {OverrunPolicy.CATCH_UP: 0, OverrunPolicy.SLIP: 1, OverrunPolicy.STOP: 2}


def threads_of(realtime: RealTime, threads: int | None) -> int:
    """Return how many threads step units in real time: one, unless the settings request more."""
    if threads is not None and realtime.cpus and threads > len(set(realtime.cpus)):
        raise DescriptionError(
            f"threads: expected at most one for each of the {len(set(realtime.cpus))} processors of"
            f" realtime.cpus, found {threads}"
        )
    return 1 if threads is None else threads


class Pacing:
    """Keeps the steps of a run to real time.

    realtime: The requested settings.
    schedule, units: What runs; units in its order.
    clock: That steps wait for; ``None``: that of ``realtime.clock``, or the computer's.
    Raises DescriptionError: if a budget is given to a component that is not there, or a processor
        is not.
    Raises CapabilityError: if steps of varying length shall wait for a device's clock, whose ticks
        are all the same.
    """

    def __init__(
        self,
        realtime: RealTime,
        schedule: Schedule,
        units: Sequence[SimulationUnit],
        clock: StepClock | None = None,
    ) -> None:
        master = next((unit for unit in units if unit.name == realtime.clock), None)
        own_clock = None if master is None else master.step_clock()
        clock = own_clock if clock is None else clock
        if clock is not None and schedule.varies:
            raise CapabilityError(
                f"algorithm '{schedule.algorithm}' chooses its steps, and a device's clock has"
                " ticks of one length: choose an algorithm with a fixed step"
            )
        operating_system.expect_linux("a run in real time")
        realtime.expect_cpus()
        self._realtime = realtime
        self._names = tuple(unit.name for unit in units)
        self._device = clock
        self._master = None if own_clock is None else master
        self._processes = [unit.pid for unit in units if unit.pid]
        self._clock = clock or MonotonicClock()
        self._grants = Grants()
        self._pacer = Pacer(
            self._clock,
            realtime.factor,
            _POLICIES[OverrunPolicy(realtime.policy)],
            realtime.overruns,
            realtime.budget_ns,
            list(realtime.unit_budgets_ns(self._names).values()),
            KEPT_OVERRUNS,
        )

    @contextmanager
    def running(self, engine: Engine, begin: Callable[[], None]) -> Iterator[None]:
        """Take privileges, wait for ``begin``, and let the time of the engine be now."""
        with privileges(self._realtime, self._grants, self._processes):
            begin()
            self._pacer.start(engine.time_ns)
            yield

    def run(self, engine: Engine, steps: int, goal_ns: int) -> Outcome:
        """Do some steps, each at its moment; fewer if a signal came, which the caller then sees."""
        return engine.run_paced(self._pacer, steps, goal_ns)

    def tell(self, rows: SharedRows) -> None:
        """Let every step leave how late it was for another process, which may end a piece."""
        self._pacer.tell(rows.told)
        self._pacer.listen(rows.asked)

    def expect_going(self, engine: Engine) -> None:
        """Expect that the run may go on."""
        now = f"at {seconds(engine.time_ns):.9g} s"
        if self._pacer.end is PaceEnd.SILENT:
            raise self._silence(now)
        if self._pacer.end is PaceEnd.OVERRUN:
            latest = self._overruns()[-1]
            raise DeadlineError(
                f"{self._realtime.overruns} overruns in a row ended the run {now}, as"
                f" realtime.policy 'stop' asks for; the last one: {latest}"
            )

    def _silence(self, now: str) -> DeadlineError:
        if self._master is None:
            return DeadlineError(f"the clock that paces the steps fell silent {now}")
        cause = self._master.exception()
        cause_text = f"silent for {self._master.silence:g} s" if cause is None else "lost"
        details = self._master.remark if cause is None else str(cause)
        error = DeadlineError(
            f"component '{self._master.name}', whose samples are the clock (realtime.clock), was"
            f" {cause_text} {now}{f': {details}' if details else ''}"
        )
        error.__cause__ = cause
        return error

    def _overruns(self) -> tuple[Overrun, ...]:
        return tuple(
            Overrun(*row[:5], self._names[row[5]] if row[5] >= 0 else "", *row[6:])
            for row in self._pacer.listed
        )

    def remember_wine(self, system: System) -> None:
        """Keep what steps of components under Wine took, for checks and for the next run."""
        for number, name in enumerate(self._names):
            component, durations = system.components[name], self._pacer.unit(number)
            if component.options.platform is not None and durations.count:
                from orchestrator.core.simunits.fmi.wine import remember

                taken_ns = _durations(durations).percentile_ns(99.9) or 0
                remember(component.source.location, taken_ns, durations.count)

    @property
    def record(self) -> RealTimeRecord:
        """The timing so far."""
        pacer, realtime, drift = self._pacer, self._realtime, self._clock.drift
        rate = drift.ppm, drift.sigma_ppm, drift.samples
        drift_record = Drift(*rate, drift.silences, drift.silent_ns * 1e-9)
        return RealTimeRecord(
            factor=realtime.factor,
            policy=str(realtime.policy),
            priority=realtime.priority,
            cpus=tuple(sorted(realtime.cpus)),
            granted=tuple(self._grants.granted),
            refused=tuple(self._grants.refused),
            kernel=operating_system.kernel(),
            wake=_durations(pacer.wake),
            computing=_durations(pacer.computing),
            slack=_durations(pacer.slack),
            lateness=_durations(pacer.lateness),
            units={n: _durations(pacer.unit(i)) for i, n in enumerate(self._names)},
            overruns=pacer.overruns,
            longest_row=pacer.longest_row,
            slipped_ns=pacer.slipped_ns,
            listed=self._overruns(),
            drift=drift_record if self._device else None,
            clock=self._master.name if self._master else "",
        )


def _durations(histogram: LatencyHistogram) -> Durations:
    figures = histogram.count, histogram.minimum, histogram.maximum, histogram.total
    return Durations(*figures, tuple(histogram.buckets))


def expect_no_wine(system: System, step_ns: int) -> None:
    """Expect that a system for a run in real time has no component under Wine.

    Raises
    ------
    CapabilityError
        If it has one; the message names what its steps took when they were last measured.
    """
    for name, component in system.components.items():
        if component.options.platform is None:
            continue
        from orchestrator.core.simunits.fmi.wine import measured_text

        raise CapabilityError(
            f"component '{name}' runs under Wine, which guarantees no timing, in a run in real"
            f" time with a step of {step_ns / 1e3:.6g} us:"
            f" {measured_text(component.source.location)}; set realtime.wine = true to run it"
        )


def expect_clock(realtime: RealTime | None, system: System, step: str | float) -> None:
    """Expect that the component which is to be the clock can be it; nothing is opened."""
    if realtime is None or realtime.clock is None:
        return
    name, components = realtime.clock, system.components
    if name not in components:
        raise UnknownNameError(
            f"realtime.clock: no component '{name}'{choices_for(name, components, 'component')}"
        )
    source = components[name].source
    period_ns = clock_ns(source)
    if period_ns is None:
        raise DescriptionError(
            "realtime.clock: expected a device, whose samples can pace the steps; found"
            f" component '{name}' ({source.short})"
        )
    step_ns = nanoseconds(step, "communication step")
    if step_ns % period_ns:
        raise DescriptionError(
            f"realtime.clock: component '{name}' ticks every {period_ns / 1e6:g} ms; expected a"
            f" step of a whole number of ticks, found {step_ns / 1e6:g} ms"
        )
