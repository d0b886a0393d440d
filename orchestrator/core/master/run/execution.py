"""Execution of a system: its units, the signal buffer and the engine that runs the schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master.algorithms.settings import ExecutionSettings, RunKeywords
from orchestrator.core.master.run.assembly import assemble
from orchestrator.core.master.run.ports import Ports
from orchestrator.core.master.run.recorder import Recorder
from orchestrator.core.master.run.run_loop import Progress, RunLoop
from orchestrator.core.master.run.run_view import RunView
from orchestrator.core.system import System, Value, communication_step_ns, nanoseconds
from orchestrator.core.system.step_length import step_text, whole_steps
from orchestrator.engine import StepClock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from orchestrator.core.master.run.checkpoint import Checkpoint, StoredCheckpoint
    from orchestrator.core.master.run.checkpointer import Checkpointer
    from orchestrator.core.master.run.pacing import Pacing
    from orchestrator.core.master.run.ports import PortValue
    from orchestrator.core.realtime import RealTime
    from orchestrator.core.realtime.shared_rows import SharedRows


class Execution(RunView):
    """Steps a system from outside, or lets it run.

    Parameters
    ----------
    system
        Its components are resolved and the whole is checked before anything is loaded. Inputs of
        FMUs that nothing feeds keep what the FMU begins with; the ``notes`` name them.
    settings
        What follows but ``step_clock``, completed; ``None``: it is completed here. Keywords go
        before it.
    step
        Communication step: seconds, or text such as ``"1 ms"``; the first one where the
        algorithm chooses the others. Like ``start``, ``algorithm``, ``algorithm_options``,
        ``rates`` and ``early_return`` it is that of the system's default experiment if ``None``.
    algorithm, algorithm_options
        A registered algorithm, such as ``"gauss-seidel"`` or ``"newton"``, and its own options.
    delay
        ``"waveform"``: co-simulation adds nothing to a declared delay, and units that can follow
        their inputs over the whole step do; ``"mean"``: all hold them, and a delay is the declared
        one in the mean; ``"plain"``: zero-order hold.
    start, stop
        Experiment times; ``stop`` is announced to the units, some of which then go no further.
        ``None`` announces none, whatever the default experiment says.
    record
        What to record: ``component.variable``, or patterns with ``*`` and ``?``; ``None`` means all
        outputs that are numbers. See :func:`orchestrator.core.master.recordable`.
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
    realtime
        How steps are kept to real time; ``None``: they follow each other at once. Every
        :meth:`step` and :meth:`advance` begins now. Units are stepped by one thread then, unless
        ``threads`` asks for more.
    step_clock
        That steps wait for in real time; ``None``: that of ``realtime``.

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
        settings: ExecutionSettings | None = None,
        *,
        step_clock: StepClock | None = None,
        **given: Unpack[RunKeywords],
    ) -> None:
        chosen = ExecutionSettings.of(system, **given)
        if settings is not None:
            chosen = replace(settings, **cast("dict[str, Any]", given))
        realtime = chosen.realtime
        if realtime is not None:
            from orchestrator.core.master.run.device_clock import expect_clock
            from orchestrator.core.master.run.pacing import threads_of

            chosen = replace(chosen, threads=threads_of(realtime, chosen.threads))
            expect_clock(realtime, system, step_text(communication_step_ns(system, chosen.step)))
        self._made = made = assemble(system, chosen)
        self.system, self.start_ns = made.system, made.start_ns
        self.schedule, self.units, self._engine = made.schedule, made.units, made.engine
        #: When the faults act, and what they do.
        self.faults = made.faults
        self._ports = Ports(self.system, self.schedule, self.units, self._engine)
        self._recorder = Recorder(self.system, self.schedule, made.outputs, chosen.every)
        self._pacing = self._paced(realtime, step_clock)
        running = self.schedule, self.units, self._engine, self._recorder
        self._loop = RunLoop(*running, self._pacing, made.end)
        self._recorder.reserve(self._engine, 1)
        self._engine.write_row()

    def _paced(self, realtime: RealTime | None, clock: StepClock | None) -> Pacing | None:
        if realtime is None:
            return None
        from orchestrator.core.master.run.pacing import Pacing

        try:
            return Pacing(realtime, self.schedule, self.units, clock)
        except DescriptionError:
            self._terminate()
            raise

    @cached_property
    def _checkpointer(self) -> Checkpointer:
        """Made when it is used: a whole run does not need it."""
        from orchestrator.core.master.run.checkpointer import Checkpointer

        return Checkpointer(self.units, self._engine, self._recorder, self._made.facts)

    def step(self, count: int = 1) -> None:
        """Do one communication step, or so many."""
        self._loop.step(count)

    def share_rows(self, until_ns: int) -> SharedRows | None:
        """Record the steps until a time, in ns, where another process can read them.

        ``None`` if the algorithm chooses its steps, whose number nobody knows.
        """
        if self.schedule.varies:
            return None
        steps, _ = whole_steps(until_ns - self._engine.time_ns, self.schedule.step_ns)
        rows = self._recorder.share(self._engine, steps // self._recorder.every + 1)
        if self._pacing is not None:
            self._pacing.tell(rows)
        return rows

    def advance(
        self,
        until: str | float,
        progress: Progress | None = None,
        begin: Callable[[], None] = lambda: None,
    ) -> None:
        """Run to a time, which must lie on the grid of communication steps if there is one.

        Parameters
        ----------
        until
            Seconds or text.
        progress
            Called with the time in seconds, a few times a second.
        begin
            Called when all is ready for the first step, which is done as soon as it returns.

        Raises
        ------
        CapabilityError
            If the time lies behind or off the grid.
        StepError
            If a unit fails; what was recorded until then stays.
        """
        self._loop.advance(nanoseconds(until, "time to advance to"), progress, begin)

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
        from orchestrator.core.master.run.checkpoint import Checkpoint, StoredCheckpoint

        if not isinstance(checkpoint, (Checkpoint, StoredCheckpoint)):
            raise DescriptionError(f"restore: expected a checkpoint, found {checkpoint!r}")
        if self._loop.unrecoverable:
            self._loop.expect_going()
        states = self._checkpointer.states_for(checkpoint)
        with self._loop.restoring():
            self._checkpointer.restore(checkpoint, states)

    def close(self) -> None:
        """Terminate all units; allowed more than once."""
        self._loop.ended = self._loop.ended or "it was closed"
        self._loop.unrecoverable = True
        self._terminate()

    def _terminate(self) -> None:
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
