"""What can be read of a run at any time, and set in it from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from orchestrator.core.master.run.recorder import Recording, RowRecorder
from orchestrator.core.master.run.run_loop import RunLoop
from orchestrator.core.master.run.run_state import RunState
from orchestrator.core.master.schedule.events import EventStatistics
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import Notice, SimulationUnit
from orchestrator.core.system import seconds
from orchestrator.engine import Engine

if TYPE_CHECKING:
    from orchestrator.core.coupling import DelayPlan, LineStatistics, Mark, Tuned
    from orchestrator.core.master.run.pacing import Pacing
    from orchestrator.core.realtime import RealTimeRecord

_Run = TypeVar("_Run", bound="RunView")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def in_turn(
    method: Callable[Concatenate[_Run, _Given], _Result],
) -> Callable[Concatenate[_Run, _Given], _Result]:
    """Let one thread at a time call a method of a run, and none from within its steps.

    Another thread that calls it, or another such method, meanwhile gets a BusyError.
    """

    @wraps(method)
    def call(run: _Run, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        with run._engine:  # noqa: SLF001 - a method of its class
            return method(run, *args, **kwargs)

    return call


class RunView:
    """Reads a run that a :class:`~.execution.Execution` steps; it changes nothing.

    Any thread can read the time. All else is read by one thread at a time, between two steps.
    """

    schedule: Schedule
    units: list[SimulationUnit]
    _state: RunState
    _engine: Engine
    _recorder: RowRecorder
    _pacing: Pacing | None
    _loop: RunLoop

    @property
    def recorded_columns(self) -> int:
        """Number of scalar signals that are recorded."""
        return self._recorder.columns

    @property
    def recorded_every(self) -> int:
        """Communication steps from one recorded row to the next one."""
        return self._recorder.every

    @property
    @in_turn
    def notes(self) -> tuple[str, ...]:
        """What happened to units and processes, in sentences."""
        events, timing = self.event_statistics(), self.timing
        late_notes = (
            f"{events.late} foreseen events were handled at the communication point after them, up"
            f" to {events.latest_ns / 1e6:.6g} ms late: a component takes only equal steps, or"
            " several at once"
        )
        return (
            *self._state.notes,
            *self._state.fed.notes,
            *self._loop.notes,
            *(timing.notes if timing is not None else ()),
            *(self._times_under_wine(timing) if timing is not None else ()),
            *([late_notes] if events.late else []),
            *(note for unit in self.units for note in unit.notes),
        )

    def _times_under_wine(self, timing: RealTimeRecord) -> Iterator[str]:
        """Yield what steps of Windows libraries took, next to the step that they had to fit in."""
        for name, component in self._state.system.components.items():
            if component.options.platform is not None and name in timing.units:
                taken_ns = timing.units[name].percentile_ns(99.9) or 0
                yield (
                    f"component '{name}': 99.9 % of its steps took at most {taken_ns / 1e3:.1f} us"
                    f" under Wine, of a communication step of {self.schedule.step_ns / 1e3:.6g} us"
                )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What its schedule does wrong to its loops: growth off by a twentieth, or in its sign.

        Computed on first access, with units that are created again.
        """
        if self.schedule.varies:
            return ()
        from orchestrator.core.upward import loop_warnings

        keywords = self._state.settings.stepping | {"step": f"{self.schedule.step_ns} ns"}
        return loop_warnings(self._state.original, keywords)

    @property
    @in_turn
    def notices(self) -> tuple[Notice, ...]:
        """What units warn of, and which went to a safe state, in the order of time."""
        from_units = [notice for unit in self.units for notice in unit.notices()]
        return tuple(sorted(from_units, key=lambda notice: notice.time_ns))

    @property
    def tuned(self) -> tuple[Tuned, ...]:
        """What was changed while it ran."""
        from orchestrator.core.coupling import Tuned

        return tuple(event for event in self._events if isinstance(event, Tuned))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What was marked while it ran."""
        from orchestrator.core.coupling import Mark

        return tuple(event for event in self._events if isinstance(event, Mark))

    @property
    def plans(self) -> tuple[DelayPlan, ...]:
        """How delayed connections are read, and how that changed as their delays were."""
        return self.schedule.plans if self._loop.tuning is None else self._loop.tuning.plans

    @property
    @in_turn
    def _events(self) -> tuple[Tuned | Mark, ...]:
        return () if self._loop.tuning is None else self._loop.tuning.events

    @property
    def wall_seconds(self) -> float:
        """Time that the stepping took so far, in seconds."""
        return self._loop.wall_seconds

    @property
    @in_turn
    def timing(self) -> RealTimeRecord | None:
        """How the steps kept to real time; ``None`` where they did not have to."""
        return None if self._pacing is None else self._pacing.record

    @property
    def time(self) -> float:
        """Current time in seconds; any thread may read it."""
        return seconds(self._engine.time_ns)

    @property
    def time_ns(self) -> int:
        """Current time in nanoseconds: what the run counts in; any thread may read it."""
        return self._engine.time_ns

    @in_turn
    def event_statistics(self) -> EventStatistics:
        """Return what event mode did so far: how often, and how late at most."""
        return EventStatistics(*self._engine.event_counts)

    @in_turn
    def line_statistics(self) -> dict[str, LineStatistics]:
        """Return what varying and slerped connections did so far, by connection."""
        from orchestrator.core.coupling import LineStatistics

        return {
            line: LineStatistics(*self._engine.line_facts(history))
            for line, history in self.schedule.watched.items()
        }

    @in_turn
    def recording(self) -> Recording:
        """Return everything recorded so far, also after a failed step.

        The last row is the time that was reached. Only where a step failed it is the last
        ``every``-th before: some units have done that step then and others have not.
        """
        return self._recorder.recording(latest=not self._loop.broken)

    @in_turn
    def recording_since(self, row: int) -> Recording:
        """Return what was recorded on the grid of ``every`` steps, without the first rows.

        Parameters
        ----------
        row
            Number of rows to leave out.
        """
        return self._recorder.recording(since=row)
