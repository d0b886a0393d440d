"""Steps of the engine in real time, and the record of how that went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import CapabilityError, DeadlineError, DescriptionError
from orchestrator.core.master.run.privileges import Grants, kernel, privileges
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.realtime import (
    Drift,
    Durations,
    Overrun,
    OverrunPolicy,
    RealTime,
    RealTimeRecord,
)
from orchestrator.core.realtime.settings import KEPT_OVERRUNS
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system import seconds
from orchestrator.engine import (
    DriftEstimate,
    Engine,
    LatencyHistogram,
    MonotonicClock,
    Outcome,
    PaceEnd,
    Pacer,
    StepClock,
)

if TYPE_CHECKING:
    from orchestrator.core.realtime.shared_rows import SharedRows

_POLICIES = {OverrunPolicy.CATCH_UP: 0, OverrunPolicy.SLIP: 1, OverrunPolicy.STOP: 2}


def threads_of(realtime: RealTime, threads: int | None) -> int:
    """Return how many threads step units in real time: one, unless more are asked for."""
    if threads is not None and realtime.cpus and threads > len(set(realtime.cpus)):
        raise DescriptionError(
            f"threads: expected at most one for each of the {len(set(realtime.cpus))} processors of"
            f" realtime.cpus, found {threads}"
        )
    return 1 if threads is None else threads


class Pacing:
    """Keeps the steps of a run to real time.

    Parameters
    ----------
    realtime
        What is asked for.
    schedule, units
        What runs; units in its order.
    clock
        That steps wait for; ``None``: that of ``realtime.clock``, or the computer's.

    Raises
    ------
    DescriptionError
        If a budget is given to a component that is not there, or a processor is not.
    CapabilityError
        If steps of varying length shall wait for a device's clock, whose ticks are all the same.
    """

    def __init__(
        self,
        realtime: RealTime,
        schedule: Schedule,
        units: Sequence[SimulationUnit],
        clock: StepClock | None = None,
    ) -> None:
        master = next((unit for unit in units if unit.name == realtime.clock), None)
        own = None if master is None else master.step_clock()
        clock = own if clock is None else clock
        if clock is not None and schedule.varies:
            raise CapabilityError(
                f"algorithm '{schedule.algorithm}' chooses its steps, and a device's clock has"
                " ticks of one length: choose an algorithm with a fixed step"
            )
        realtime.expect_cpus()
        self._realtime = realtime
        self._names = tuple(unit.name for unit in units)
        self._device = clock
        self._master = None if own is None else master
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
            return DeadlineError(f"the clock that steps wait for fell silent {now}")
        cause = self._master.exception()
        why = f"silent for {self._master.silence:g} s" if cause is None else "lost"
        error = DeadlineError(
            f"component '{self._master.name}', whose samples are the clock (realtime.clock), was"
            f" {why} {now}{'' if cause is None else f': {cause}'}"
        )
        error.__cause__ = cause
        return error

    def _overruns(self) -> tuple[Overrun, ...]:
        return tuple(
            Overrun(*row[:5], self._names[row[5]] if row[5] >= 0 else "", *row[6:])
            for row in self._pacer.listed
        )

    @property
    def record(self) -> RealTimeRecord:
        """The timing so far."""
        pacer, asked, drift = self._pacer, self._realtime, self._clock.drift
        return RealTimeRecord(
            factor=asked.factor,
            policy=str(asked.policy),
            priority=asked.priority,
            cpus=tuple(sorted(asked.cpus)),
            granted=tuple(self._grants.granted),
            refused=tuple(self._grants.refused),
            kernel=kernel(),
            wake=_durations(pacer.wake),
            computing=_durations(pacer.computing),
            slack=_durations(pacer.slack),
            lateness=_durations(pacer.lateness),
            units={n: _durations(pacer.unit(i)) for i, n in enumerate(self._names)},
            overruns=pacer.overruns,
            longest_row=pacer.longest_row,
            slipped_ns=pacer.slipped_ns,
            listed=self._overruns(),
            drift=_drift(drift) if self._device else None,
            clock=self._master.name if self._master else "",
        )


def _drift(found: DriftEstimate) -> Drift:
    silent = found.silent_ns * 1e-9
    return Drift(found.ppm, found.sigma_ppm, found.samples, found.silences, silent)


def _durations(histogram: LatencyHistogram) -> Durations:
    return Durations(
        histogram.count,
        histogram.minimum,
        histogram.maximum,
        histogram.total,
        tuple(histogram.buckets),
    )
