"""Execution of a system: its units, the signal buffer and the engine that runs the schedule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from orchestrator.core.diagnostics import DescriptionError, counted
from orchestrator.core.master.run.assembly import assemble
from orchestrator.core.master.run.ports import Ports
from orchestrator.core.master.run.recorder import RowRecorder
from orchestrator.core.master.run.run_loop import Progress, RunLoop, Steer
from orchestrator.core.master.run.run_view import RunView, in_turn
from orchestrator.core.master.settings import ExecutionSettings, RunKeywords
from orchestrator.core.structs import replace
from orchestrator.core.system import System, Value, communication_step_ns, nanoseconds
from orchestrator.core.system.time import step_text, whole_steps
from orchestrator.engine import StepClock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from orchestrator.core.coupling import Mark, Tuned
    from orchestrator.core.master.run.checkpoint import Checkpoint, Checkpointer, StoredCheckpoint
    from orchestrator.core.master.run.pacing import Pacing
    from orchestrator.core.master.run.ports import PortValue
    from orchestrator.core.master.run.tuning import Tunable, Tuning
    from orchestrator.core.realtime import RealTime, SharedRows


class Execution(RunView):
    """A run of a system that you step yourself.

    One thread uses it at a time: a call that another thread makes meanwhile, or a component from
    within a step, raises BusyError and changes nothing. Any thread can read its time, and the rows
    of :meth:`share_rows`.

    Parameters
    ----------
    system
        Its sources are opened and it is checked before anything is loaded. Unconnected inputs of
        FMUs keep the FMU's start values; the ``notes`` name them.
    settings
        The following settings except ``step_clock``, completed; ``None``: completed here. Keywords
        override them.
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
        Largest number of threads that step units of one group at the same time; ``None``: the
        number of processors. They are used where they save time and never change a result.
    early_return
        Whether connected units with event mode may end a step at an event, if all units can
        restore a state: the step is repeated until the event. All states are then saved before
        every step.
    faults
        Faults with their times. Several faults of one value act in their order.
    strict
        Whether to refuse FMUs whose model descriptions break any rule of FMI; otherwise harmless
        flaws are among the ``notes``.
    realtime
        Settings of real time; ``None``: steps follow each other at once. Every :meth:`step` and
        :meth:`advance` begins now. One thread steps the units unless ``threads`` is larger.
    step_clock
        Clock that paces the steps in real time; ``None``: that of ``realtime``.
    limits
        Ranges of :meth:`set` in addition to those of the units, by ``component.connector``
        or ``source -> target``: minimum and maximum, for delays in seconds.
    tuned
        Changes recorded during another run, as in its result: see :meth:`replay`.

    Raises
    ------
    DescriptionError, LoadError
        If the system is wrong or a source cannot be opened.
    StepError
        If a unit does not initialise.

    Examples
    --------
    ::

        with Execution(system, step="1 ms") as run:
            while run.time < 1.0:
                run.set("chaser.thrust", 10.0 if run.time < 0.5 else 0.0)
                run.step()
    """

    def __init__(
        self,
        system: System,
        settings: ExecutionSettings | None = None,
        *,
        step_clock: StepClock | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> None:
        completed = ExecutionSettings.of(system, **keywords)
        if settings is not None:
            completed = replace(settings, **cast("dict[str, Any]", keywords))
        realtime = completed.realtime
        if realtime is not None:
            from orchestrator.core.master.run.pacing import expect_clock, threads_of

            completed = replace(completed, threads=threads_of(realtime, completed.threads))
            expect_clock(realtime, system, step_text(communication_step_ns(system, completed.step)))
        self._state = state = assemble(system, completed)
        self.system, self.start_ns = state.system, state.start_ns
        self.schedule, self.units, self._engine = state.schedule, state.units, state.engine
        #: When the faults act, and what they do.
        self.faults = state.faults
        self._ports = Ports(state)
        self._recorder = RowRecorder(state)
        self._pacing = self._paced(realtime, step_clock)
        self._loop = RunLoop(state, self._recorder, self._pacing)
        self._recorder.reserve(1)
        self._engine.write_row()
        if completed.limits or self.system.experiment.tuning:
            self._tuning  # noqa: B018 - says what is wrong with them
        if completed.tuned:
            self.replay(completed.tuned)

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
        from orchestrator.core.master.run.checkpoint import Checkpointer

        return Checkpointer(self._state, self._recorder)

    @cached_property
    def _tuning(self) -> Tuning:
        """Made when it is used, too: the loop of a run that is not tuned knows nothing of it."""
        from orchestrator.core.master.run.tuning import Tuning

        self._loop.tuning = Tuning(self._state, self._ports)
        return self._loop.tuning

    @in_turn
    def step(self, count: int = 1) -> None:
        """Do one communication step, or a number of them."""
        self._loop.step(count)

    @in_turn
    def share_rows(self, until_ns: int) -> SharedRows:
        """Record the steps until a time, in ns, where another process can read them.

        If the algorithm chooses its steps, nobody knows how many there will be: then there is room
        for a million rows, or 1 GiB, and later rows are omitted.
        """
        if self.schedule.varies:
            rows = self._recorder.share()
        else:
            steps, _ = whole_steps(until_ns - self._engine.time_ns, self.schedule.step_ns)
            rows = self._recorder.share(steps // self._recorder.every + 1)
        if self._pacing is not None:
            self._pacing.tell(rows)
        return rows

    @in_turn
    def writes_to(self, rows: SharedRows) -> bool:
        """Whether rows are still recorded there."""
        return self._recorder.writes_to(rows)

    @in_turn
    def advance(
        self,
        until: str | float,
        progress: Progress | None = None,
        begin: Callable[[], None] = lambda: None,
        steer: Steer | None = None,
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
        steer
            Called between pieces of the run, and may wait; returns how many steps the next has at
            most. In real time only when somebody asks for it: see :meth:`share_rows`.

        Raises
        ------
        CapabilityError
            If the time lies behind or off the grid.
        StepError
            If a unit fails; what was recorded until then stays.
        """
        self._loop.advance(nanoseconds(until, "time to advance to"), progress, begin, steer)

    @in_turn
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

    @in_turn
    def set(
        self,
        name: str,
        value: Value | NDArray[np.float64],
        ramp: str | float | None = None,
        *,
        by: str = "",
        granted: str = "",
    ) -> None:
        """Set an open input, a tunable parameter or a delay; it is held until it is set again.

        It acts from the next step on; outputs follow in that step. What is set is among
        :attr:`tuned`, but for inputs that are set at once and by nobody else: those are signals
        that a script feeds.

        Parameters
        ----------
        name
            ``component.connector`` of an input that nothing is connected to or of a parameter that
            its unit declares as tunable; ``source -> target`` of a delayed connection.
        value
            Of the connector's type; a sequence or array of its shape for an array. A delay is text
            or seconds.
        ramp
            Text or seconds in which a Real goes there from what it is, in equal parts, one each
            step; ``None``: at once. A delay needs as long as it grows by.
        by
            Who asks for it.
        granted
            By which margins the supervisor of its devices granted it; without, what is in a loop
            with devices is not tuned.

        Raises
        ------
        UnknownNameError
            If there is no such connector; the message lists the existing ones.
        CapabilityError
            If it is an output, another parameter, or connected: the connection would overwrite it;
            a delay that would change how values are exchanged; or devices are there.
        DescriptionError
            If the value has another type or shape, is not finite, or beyond its limits.
        StepError
            If the run has ended.
        """
        self._loop.expect_going()
        is_plain = self._loop.tuning is None and not (ramp or by) and "->" not in name
        if is_plain and self._ports.is_input(name):
            self._ports.set(name, value)
        else:
            self._tuning.set(name, value, ramp, by, granted)

    @in_turn
    def proposed(self, name: str, value: Value, ramp: str | float | None = None) -> Tuned:
        """Return what :meth:`set` would do, or raise what it would; nothing is changed.

        Margins and the consent of a supervisor are not looked at.
        """
        self._loop.expect_going()
        return self._tuning.proposed(name, value, ramp)

    @in_turn
    def mark(self, text: str, by: str = "") -> None:
        """Put an event with a text into the log of the run, at its present time."""
        self._loop.expect_going()
        self._tuning.mark(text, by)

    @in_turn
    def replay(self, tuned: Sequence[Tuned]) -> None:
        """Do again what was tuned in another run, each before the step that it was done before."""
        self._tuning.plan(tuned)

    @in_turn
    def listen(self, listener: Callable[[Tuned | Mark], None]) -> None:
        """Tell somebody each change and each mark, before the next step."""
        self._tuning.listeners.append(listener)

    @property
    @in_turn
    def inputs_set(self) -> tuple[str, ...]:
        """Open inputs that were set so far, as signals or by tuning."""
        return self._ports.inputs_set

    @property
    @in_turn
    def tunables(self) -> list[Tunable]:
        """What can be set while it runs, with what it is now and its limits."""
        return self._tuning.options()

    @in_turn
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
        return self._checkpointer.save(self._loop.tuning)

    @in_turn
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
        states = self._checkpointer.states_for(checkpoint, self._loop.tuning)
        with self._loop.restoring():
            self._checkpointer.restore(checkpoint, states)
            if checkpoint.log or self._loop.tuning is not None:
                self._tuning.restore(checkpoint.log)

    @in_turn
    def close(self) -> None:
        """Terminate all units; allowed more than once."""
        self._loop.ended = self._loop.ended or "it was closed"
        self._loop.unrecoverable = True
        self._terminate()
        if self._pacing is not None:
            self._pacing.remember_wine(self.system)

    def _terminate(self) -> None:
        for unit in self.units:
            unit.terminate()

    def __repr__(self) -> str:
        system, schedule = self._state.original, self.schedule
        step = "variable steps" if schedule.varies else f"step {schedule.step_ns / 1e6:g} ms"
        parts = counted(len(system.components), "component")
        return (
            f"Execution of '{system.name}': {parts}, {self._state.settings.algorithm}, {step},"
            f" at {self.time:.9g} s"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(system: System, **keywords: Unpack[RunKeywords]) -> Execution:
    """Initialise a system and return it as an Execution, to be stepped by your own loop.

    Parameters
    ----------
    system
        What to run.
    **given
        As in :class:`orchestrator.core.master.Execution`.

    Returns
    -------
    Execution
        At the start time, with consistent outputs. Use it in a ``with`` statement, or close it.

    Raises
    ------
    DescriptionError, LoadError, StepError
        As :class:`orchestrator.core.master.Execution` does.
    """
    return Execution(system, **keywords)
