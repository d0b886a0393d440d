"""Execution of a system: its units, the signal buffer and the engine that runs the schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from orchestrator.coupling import DelayMode, fault_records, unsolved
from orchestrator.diagnostics import (
    CapabilityError,
    DescriptionError,
    LoadError,
)
from orchestrator.master.algorithms.registry import DEFAULT_ALGORITHM
from orchestrator.master.run.capability_check import expect_capabilities, verify_rollback
from orchestrator.master.run.engine_tables import make_engine
from orchestrator.master.run.initialisation import initialise
from orchestrator.master.run.instantiation import make_units
from orchestrator.master.run.ports import Ports, PortValue
from orchestrator.master.run.preparation import mode_of, prepared
from orchestrator.master.run.recorder import Recorder, Recording
from orchestrator.master.run.run_loop import MOST_STEPS, Progress, RunLoop
from orchestrator.master.run.selection import recordable
from orchestrator.master.schedule.compile import compile_schedule
from orchestrator.master.schedule.events import EventStatistics, late_note
from orchestrator.master.schedule.reach import expect_in_reach
from orchestrator.master.schedule.schedule import Schedule
from orchestrator.simunits import (
    Notice,
    SimulationUnit,
)
from orchestrator.system import (
    REACH_NS,
    Fault,
    System,
    Value,
    nanoseconds,
    seconds,
)

if TYPE_CHECKING:
    from orchestrator.coupling import LineStatistics
    from orchestrator.master.run.checkpoint import Checkpoint, StoredCheckpoint
    from orchestrator.master.run.checkpointer import Checkpointer


class Execution:
    """Steps a system from outside, or lets it run.

    Parameters
    ----------
    system
        Its components are resolved and the whole is checked before anything is loaded. Inputs of
        FMUs that nothing feeds keep what the FMU begins with; the ``notes`` name them.
    step
        Communication step: seconds, or text such as ``"1 ms"``; the first one where the
        algorithm chooses the others.
    algorithm, algorithm_options
        A registered algorithm, such as ``"gauss-seidel"`` or ``"newton"``, and its own options.
    delay
        ``"exact"``: co-simulation adds nothing to a declared delay; ``"plain"``: zero-order hold.
    start, stop
        Experiment times; ``stop`` is announced to the units and may be ``None``.
    record
        What to record: ``component.variable``, or patterns with ``*`` and ``?``; ``None`` means all
        outputs that are numbers. See :func:`orchestrator.master.recordable`.
    every
        Record every n-th step. The start and the time that was reached are always recorded.
    rates
        For components that take several communication steps at once, how many; by name.
    threads
        Most threads that step units of one group at the same time; ``None``: as many as there are
        processors. They are used where they save time, and never change a result.

    early_return
        Whether units with event mode that others listen to may end a step at an event, where all
        units can go back: the step is done again as far as that. All states are saved before every
        step then.
    faults
        What goes wrong, and when. Of several that act on one value the first one acts first.
    strict
        Whether FMUs whose model descriptions break rules of FMI are refused; else what does no harm
        is among the ``notes``.

    Raises
    ------
    DescriptionError, LoadError
        If the system is wrong or a source cannot be opened.
    StepError
        If a unit does not initialise.
    """

    def __init__(
        self,
        system: System,
        *,
        step: str | float,
        algorithm: str = DEFAULT_ALGORITHM,
        delay: DelayMode | str = DelayMode.EXACT,
        start: str | float = 0.0,
        stop: str | float | None = None,
        record: Sequence[str] | str | None = None,
        every: int = 1,
        algorithm_options: Mapping[str, Any] | None = None,
        rates: Mapping[str, int] | None = None,
        threads: int | None = None,
        early_return: bool = True,
        faults: Sequence[Fault] = (),
        strict: bool = False,
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or not 1 <= every <= MOST_STEPS:
            raise DescriptionError(f"every: expected a whole number, 1 to 2**62, found {every!r}")
        if threads is not None and threads < 1:
            raise DescriptionError(f"threads: expected >= 1, found {threads!r}")
        mode = mode_of(delay)
        self.system, self._notes = prepared(system, mode, strict=strict)
        self.start_ns = nanoseconds(start, "start time")
        stop_ns = None if stop is None else nanoseconds(stop, "stop time")
        expect_in_reach({"start time": self.start_ns, "stop time": stop_ns})
        outputs = recordable(self.system, record)
        self.schedule: Schedule = compile_schedule(
            self.system,
            algorithm,
            nanoseconds(step, "communication step"),
            mode,
            outputs,
            algorithm_options,
            rates,
            faults,
        )
        if not self.schedule.loops:
            self._notes += unsolved(self.schedule.loop_delays)
        step_ns = None if self.schedule.varies else self.schedule.step_ns
        #: When the faults act, and what they do.
        self.faults = fault_records(faults, self.system, self.start_ns, stop_ns, step_ns)
        self.units: list[SimulationUnit]
        self.schedule, self.units = make_units(
            self.system, self.schedule, early_return=early_return
        )
        try:
            expect_capabilities(
                self.schedule, [unit.description.capabilities for unit in self.units]
            )
            self._engine = make_engine(self.schedule, self.units, threads)
            initialise(self.schedule, self.units, self._engine, self.start_ns, stop_ns)
            verify_rollback(self.schedule, self.units, self._engine.signals, self.start_ns)
        except BaseException:
            for unit in self.units:
                unit.terminate()
            raise
        self._ports = Ports(self.system, self.schedule, self.units, self._engine)
        self._recorder = Recorder(self.system, self.schedule, outputs, every)
        self._loop = RunLoop(self.schedule, self.units, self._engine, self._recorder)
        self._recorder.reserve(self._engine, 1)
        self._engine.write_row()
        options_text = ", ".join(
            f"{k} = {v!r}" for k, v in sorted((algorithm_options or {}).items())
        )
        if not early_return:
            options_text += "; no early return"
        self._made = (self.start_ns, stop_ns), outputs, every, options_text, tuple(faults)

    @cached_property
    def _checkpointer(self) -> Checkpointer:
        """Made when it is used: a whole run does not need it."""
        from orchestrator.master.run.checkpointer import Checkpointer
        from orchestrator.master.run.facts import facts

        said = facts(self.system, self.schedule, self.units, *self._made)
        return Checkpointer(self.units, self._engine, self._recorder, said)

    @property
    def recorded_columns(self) -> int:
        """Number of scalar signals that are recorded."""
        return self._recorder.columns

    @property
    def notes(self) -> tuple[str, ...]:
        """What happened to units and processes, in sentences."""
        late = late_note(self.event_statistics())
        return (
            *self._notes,
            *self._loop.notes,
            *late,
            *(note for unit in self.units for note in unit.notes),
        )

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What units warn of, and which went to a safe state, in the order of time."""
        said = [notice for unit in self.units for notice in unit.notices()]
        return tuple(sorted(said, key=lambda notice: notice.time_ns))

    @property
    def wall_seconds(self) -> float:
        """Time that the stepping took so far, in seconds."""
        return self._loop.wall_seconds

    @property
    def time(self) -> float:
        """Current time in seconds."""
        return seconds(self._engine.time_ns)

    @property
    def time_ns(self) -> int:
        """Current time in nanoseconds: what the run counts in."""
        return self._engine.time_ns

    def event_statistics(self) -> EventStatistics:
        """Return what event mode did so far: how often, and how late at most."""
        return EventStatistics(*self._engine.event_counts)

    def step(self, count: int = 1) -> None:
        """Do one communication step, or so many."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise DescriptionError(f"count: expected a whole number of steps >= 1, found {count!r}")
        if not self.schedule.varies:
            end_ns = self._engine.time_ns + count * self.schedule.step_ns
            expect_in_reach({"end of the steps": end_ns})
        self._loop.run(count, REACH_NS, None)
        if self.schedule.varies and self._engine.time_ns >= REACH_NS:
            expect_in_reach({"end of a further step": REACH_NS + 1})

    def advance(self, until: str | float, progress: Progress | None = None) -> None:
        """Run to a time, which must lie on the grid of communication steps if there is one.

        Parameters
        ----------
        until
            Seconds or text.
        progress
            Called with the time in seconds, a few times a second.

        Raises
        ------
        CapabilityError
            If the time lies behind or off the grid.
        StepError
            If a unit fails; what was recorded until then stays.
        """
        goal = nanoseconds(until, "time to advance to")
        expect_in_reach({"time to advance to": goal})
        distance = goal - self._engine.time_ns
        steps, rest = divmod(distance, self.schedule.step_ns)
        if self.schedule.varies:
            steps, rest = MOST_STEPS, 0
        if distance < 0 or rest:
            raise CapabilityError(
                f"cannot advance to {seconds(goal):.9g} s: expected a time not before"
                f" {self.time:.9g} s that is a whole number of steps of"
                f" {self.schedule.step_ns / 1e6:g} ms away (back in time lead only checkpoints)"
            )
        self._loop.run(steps, goal, progress)

    def get(self, name: str) -> PortValue:
        """Return the present value of a connector.

        Parameters
        ----------
        name
            ``component.connector``: input, output or parameter.

        Returns
        -------
        float, str, bytes or float64 array of the connector's shape
            Integers and Booleans as floats. What a delayed or undelayed connection brought is the
            value of the last exchange.
        """
        if name not in self.schedule.slots:
            self._loop.expect_going()  # it is read from its unit
        return self._ports.get(name)

    def set(self, name: str, value: Value | NDArray[np.float64]) -> None:
        """Set an input that nothing is connected to; it is held until it is set again.

        It acts from the next step on; outputs follow in that step.

        Parameters
        ----------
        name
            ``component.connector``.
        value
            Of the connector's type; a sequence or array of its shape for an array.

        Raises
        ------
        UnknownNameError
            If there is no such connector; the message lists those that exist.
        CapabilityError
            If it is an output or a parameter, or connected: the connection would overwrite it.
        DescriptionError
            If the value has another type or shape, or is not finite.
        """
        self._loop.expect_going()
        self._ports.set(name, value)

    def line_statistics(self) -> dict[str, LineStatistics]:
        """Return what varying and slerped connections did so far, by connection."""
        from orchestrator.coupling import LineStatistics

        return {
            line: LineStatistics(*self._engine.line_facts(history))
            for line, history in self.schedule.watched.items()
        }

    def save(self) -> Checkpoint:
        """Save the run as it stands: units, signals, pasts of all delays, clock and recording.

        Raises
        ------
        CapabilityError
            If units cannot save their states; all are named.
        StepError
            If the run has ended.
        """
        self._loop.expect_going()
        return self._checkpointer.save()

    def restore(self, checkpoint: Checkpoint | StoredCheckpoint) -> None:
        """Go back, or on, to a checkpoint; the run continues from it bit for bit.

        The recording becomes that of the checkpoint. A run that a unit ended can go on from an
        earlier checkpoint, unless the unit's failure was fatal.

        Parameters
        ----------
        checkpoint
            Of this execution; or a stored one of a run that was made from the same system with
            the same options.

        Raises
        ------
        LoadError
            If the checkpoint is of another system or of other options; nothing is changed then.
        StepError
            If the run was closed or ended by a fatal failure, or a unit cannot take its state.
        """
        from orchestrator.master.run.checkpoint import Checkpoint, StoredCheckpoint

        if not isinstance(checkpoint, (Checkpoint, StoredCheckpoint)):
            raise DescriptionError(f"restore: expected a checkpoint, found {checkpoint!r}")
        if self._loop.unrecoverable:
            self._loop.expect_going()
        states = self._checkpointer.states_for(checkpoint)
        before, self._loop.ended = self._loop.ended, "a checkpoint was restored in part only"
        try:
            self._checkpointer.restore(checkpoint, states)
            self._loop.broken = False
        except LoadError:  # the engine refused before anything was changed
            self._loop.ended = before
            raise
        self._loop.ended = ""

    def recording(self) -> Recording:
        """Return everything recorded so far, also after a failed step.

        The last row is the time that was reached. Only where a step failed it is the last
        ``every``-th before: some units have done that step then and others have not.
        """
        return self._recorder.recording(self._engine, latest=not self._loop.broken)

    def recording_since(self, row: int) -> Recording:
        """Return what was recorded on the grid of ``every`` steps, without the first rows.

        Parameters
        ----------
        row
            Number of rows to leave out.
        """
        return self._recorder.recording(self._engine, since=row)

    def close(self) -> None:
        """Terminate all units; allowed more than once."""
        self._loop.ended = self._loop.ended or "it was closed"
        self._loop.unrecoverable = True
        for unit in self.units:
            unit.terminate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
