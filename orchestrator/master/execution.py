"""A system in motion: the units, the signal buffer and the engine that executes the schedule."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from orchestrator.coupling import DelayMode
from orchestrator.engine import Engine
from orchestrator.errors import CapabilityError, DescriptionError, StepError, UnknownNameError
from orchestrator.master.compile import compile_schedule
from orchestrator.master.initialisation import initialise
from orchestrator.master.recorder import Recorder, Recording
from orchestrator.master.schedule import Schedule
from orchestrator.master.selection import recordable
from orchestrator.simunits import SimulationUnit, make_unit, refuse_second_instances, resolve
from orchestrator.system import System, nanoseconds, seconds

#: The engine runs so many steps, or about so long, at a time; in between progress is reported, and
#: the interpreter sees signals such as Ctrl-C.
_CHUNK = 20_000
_CHUNK_SECONDS = 0.2
Progress = Callable[[float], None]


class Execution:
    """Steps a system from outside, or lets it run.

    Parameters
    ----------
    system
        Its components are resolved and the whole is checked before anything is loaded.
    step
        Communication step: seconds, or text such as ``"1 ms"``.
    algorithm
        A registered algorithm: ``"gauss-seidel"`` or ``"jacobi"``.
    delay
        ``"exact"``: co-simulation adds nothing to a declared delay; ``"plain"``: zero-order hold.
    start, stop
        Experiment times; ``stop`` is announced to the units and may be ``None``.
    record
        Outputs to record: ``component.connector``, or patterns with ``*`` and ``?``; ``None``
        means all that are numbers.
    every
        Record every n-th step. The start and the time that was reached are always recorded.

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
        algorithm: str = "gauss-seidel",
        delay: DelayMode | str = DelayMode.EXACT,
        start: str | float = 0.0,
        stop: str | float | None = None,
        record: Sequence[str] | str | None = None,
        every: int = 1,
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise DescriptionError(f"every: expected a whole number >= 1, found {every!r}")
        mode = _mode(delay)
        resolved = resolve(system)
        if mode is DelayMode.PLAIN:
            resolved = resolved.without_zero_delays()  # nothing to take a step's own delay off
        self.system = resolved.check()
        self.start_ns = nanoseconds(start, "start time")
        stop_ns = None if stop is None else nanoseconds(stop, "stop time")
        outputs = recordable(self.system, record)
        self.schedule: Schedule = compile_schedule(
            self.system, algorithm, nanoseconds(step, "communication step"), mode, outputs
        )
        self.units: list[SimulationUnit] = []
        refuse_second_instances(self.system)
        for member in self.schedule.members:
            unit = make_unit(self.system.components[member.name])
            unit.bind(member.inputs, member.outputs)
            self.units.append(unit)
        self._engine = self._make_engine()
        initialise(self.schedule, self.units, self._engine, self.start_ns, stop_ns)
        self.wall_seconds = 0.0
        self._ended = ""
        self._broken = False  # a step failed half-way: the signals belong to no one time
        self._recorder = Recorder(self.system, self.schedule, outputs, every, self.start_ns)
        self._recorder.reserve(self._engine, 1)
        self._engine.write_row()

    def _make_engine(self) -> Engine:
        plan = self.schedule
        members = [
            (unit.native, member.input_offset, member.output_offset)
            for unit, member in zip(self.units, plan.members, strict=True)
        ]
        return Engine(
            plan.signals, members, plan.histories, plan.copies, plan.reads, plan.operations
        )

    @property
    def recorded_columns(self) -> int:
        """Number of scalar signals that are recorded."""
        return self._recorder.columns

    @property
    def time(self) -> float:
        """Current time in seconds."""
        return seconds(self._engine.time_ns)

    def step(self) -> None:
        """Do one communication step."""
        self._run(1)

    def advance(self, until: str | float, progress: Progress | None = None) -> None:
        """Run to a time, which must lie on the grid of communication steps.

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
        distance = goal - self._engine.time_ns
        steps, rest = divmod(distance, self.schedule.step_ns)
        if distance < 0 or rest:
            raise CapabilityError(
                f"cannot advance to {seconds(goal):.9g} s: expected a time not before"
                f" {self.time:.9g} s that is a whole number of steps of"
                f" {self.schedule.step_ns / 1e6:g} ms away"
            )
        chunk = 1  # nobody knows yet how long a step takes
        while steps > 0:
            count = min(steps, chunk)
            taken = self._run(count)
            steps -= count
            chunk = min(_CHUNK, 10 * chunk, max(1, int(count * _CHUNK_SECONDS / taken)))
            if progress is not None:
                progress(self.time)

    def _run(self, steps: int) -> float:
        """Do some steps and return the seconds that they took."""
        if self._ended:
            raise StepError(
                f"this run ended at t = {self.time:.9g} s: {self._ended};"
                " its results are kept, make a new Execution to run again"
            )
        self._recorder.reserve(self._engine, steps // self._recorder.every + 1)
        began = time.perf_counter()
        _, status, failed, reason = self._engine.run(steps)
        taken = max(time.perf_counter() - began, 1e-9)
        self.wall_seconds += taken
        for unit in self.units:
            unit.forward_log()
        if status > 1:
            self._raise(status, self.units[failed], reason)
        return taken

    def _raise(self, status: int, unit: SimulationUnit, reason: str) -> NoReturn:
        self._broken = True
        names = ["ok", "warning", "discard", "error", "fatal", "pending"]
        member = next(m for m in self.schedule.members if m.name == unit.name)
        if reason.startswith("output number "):
            output = self._element(member.outputs, unit, int(reason.split()[2]))
            reason = f"output '{unit.name}.{output}' is not finite (NaN or infinite)"
        why = reason or unit.native.failure or "the unit gave no reason"
        self._ended = f"component '{unit.name}' failed ({why})"
        cause = unit.exception()
        if cause is not None and not isinstance(cause, Exception):
            raise cause  # Ctrl-C or an exit while a block had the word
        raise StepError(
            f"component '{unit.name}' failed in the step from t = {self.time:.9g} s"
            f" (status {names[status]}): {why}; results up to there are kept"
        ) from cause

    @staticmethod
    def _element(outputs: Sequence[str], unit: SimulationUnit, number: int) -> str:
        for name in outputs:
            size = unit.description.connectors[name].size
            if number < size:
                return name if size == 1 else f"{name}[{number}]"
            number -= size
        return outputs[-1]

    def get(self, name: str) -> float | NDArray[np.float64]:
        """Return the current value of a bound connector (``component.connector``)."""
        slot, size = self._slot(name)
        shape = self._shape(name)
        values = self._engine.signals[slot : slot + size].copy()
        return values.reshape(shape) if shape else float(values[0])

    def _slot(self, name: str) -> tuple[int, int]:
        try:
            return self.schedule.slots[name]
        except KeyError:
            known = ", ".join(self.schedule.slots)
            raise UnknownNameError(f"no signal '{name}' in this run; signals: {known}") from None

    def _shape(self, name: str) -> tuple[int, ...]:
        component, _, connector = name.partition(".")
        return self.system.components[component].connectors[connector].shape

    def recording(self) -> Recording:
        """Return everything recorded so far, also after a failed step.

        The last row is the time that was reached. Only where a step failed it is the last
        ``every``-th before: some units have done that step then and others have not.
        """
        return self._recorder.recording(self._engine, latest=not self._broken)

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
        self._ended = self._ended or "it was closed"
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


def _mode(delay: DelayMode | str) -> DelayMode:
    try:
        return DelayMode(delay)
    except ValueError:
        raise UnknownNameError(
            f"delay mode: expected one of {', '.join(DelayMode)}, found '{delay}'"
        ) from None
