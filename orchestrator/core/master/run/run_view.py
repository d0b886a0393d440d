"""What can be read of a run at any time."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from orchestrator.core.master.run.assembly import Assembly
from orchestrator.core.master.run.recorder import Recorder, Recording
from orchestrator.core.master.run.run_loop import RunLoop
from orchestrator.core.master.schedule.events import EventStatistics, late_note
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import Notice, SimulationUnit
from orchestrator.core.system import seconds
from orchestrator.core.wings import of_wing
from orchestrator.engine import Engine

if TYPE_CHECKING:
    from orchestrator.core.coupling import LineStatistics, Mark, Tuned
    from orchestrator.core.master.run.pacing import Pacing
    from orchestrator.core.realtime import RealTimeRecord


class RunView:
    """Reads a run that a :class:`~.execution.Execution` steps; it changes nothing."""

    schedule: Schedule
    units: list[SimulationUnit]
    _made: Assembly
    _engine: Engine
    _recorder: Recorder
    _pacing: Pacing | None
    _loop: RunLoop

    @property
    def recorded_columns(self) -> int:
        """Number of scalar signals that are recorded."""
        return self._recorder.columns

    @property
    def notes(self) -> tuple[str, ...]:
        """What happened to units and processes, in sentences."""
        late = late_note(self.event_statistics())
        timing = self.timing
        return (
            *self._made.notes,
            *self._loop.notes,
            *(timing.notes if timing is not None else ()),
            *late,
            *(note for unit in self.units for note in unit.notes),
        )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What its schedule does wrong to its loops: growth off by a twentieth, or in its sign.

        It is worked out when it is asked for, with units that are made once more.
        """
        if self.schedule.varies:
            return ()
        way = self._made.settings.way | {"step": f"{self.schedule.step_ns} ns"}
        found: tuple[str, ...] = of_wing("loops.warnings")(self._made.given, **way)
        return found

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What units warn of, and which went to a safe state, in the order of time."""
        said = [notice for unit in self.units for notice in unit.notices()]
        return tuple(sorted(said, key=lambda notice: notice.time_ns))

    @property
    def tuned(self) -> tuple[Tuned, ...]:
        """What was changed while it ran."""
        from orchestrator.core.coupling import Tuned

        return tuple(one for one in self._events if isinstance(one, Tuned))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What was marked while it ran."""
        from orchestrator.core.coupling import Mark

        return tuple(one for one in self._events if isinstance(one, Mark))

    @property
    def _events(self) -> tuple[Tuned | Mark, ...]:
        if self._loop.tuning is None:
            return ()
        from orchestrator.core.master.run.tuning import events_of

        return events_of(self._loop.tuning.log)

    @property
    def wall_seconds(self) -> float:
        """Time that the stepping took so far, in seconds."""
        return self._loop.wall_seconds

    @property
    def timing(self) -> RealTimeRecord | None:
        """How the steps kept to real time; ``None`` where they did not have to."""
        return None if self._pacing is None else self._pacing.record

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

    def line_statistics(self) -> dict[str, LineStatistics]:
        """Return what varying and slerped connections did so far, by connection."""
        from orchestrator.core.coupling import LineStatistics

        return {
            line: LineStatistics(*self._engine.line_facts(history))
            for line, history in self.schedule.watched.items()
        }

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
