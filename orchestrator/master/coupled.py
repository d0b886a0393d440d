"""At what an undelayed input is held during a step, and how late that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from orchestrator.coupling import Timing
from orchestrator.master.order import acts_at_once
from orchestrator.master.plan import Coupling, Plan
from orchestrator.master.schedule import Code
from orchestrator.system import Connection, DataType, System


@dataclass(frozen=True, slots=True)
class Held:
    """What an undelayed input is held at during a step of its unit.

    Parameters
    ----------
    code
        COPY: the newest value. BLEND, EXTEND: as the engine has them.
    weight
        Of the latter two.
    late
        How late that is on average, in communication steps: the middle of the unit's step less
        the moment that the value belongs to.
    """

    code: Code
    weight: float
    late: float


class Holding:
    """Tells of every undelayed connection at what its target is held.

    Parameters
    ----------
    system, plan
        Whose connections, and what the algorithm decided.
    ticks
        Communication steps that one step of each component takes.
    """

    def __init__(self, system: System, plan: Plan, ticks: dict[str, int]) -> None:
        self._system = system
        self._plan = plan
        self._ticks = ticks
        self._group = {name: i for i, group in enumerate(plan.groups) for name in group.members}

    def before(self, line: Connection) -> bool:
        """Whether a connection's source is stepped before its target within one step."""
        return self._group[line.source.component] < self._group[line.target.component]

    def timing(self, line: Connection, step_ns: int) -> Timing:
        """Return when the ends of a connection act, for a communication step in nanoseconds."""
        source, target = (self._ticks.get(end.component, 1) for end in (line.source, line.target))
        newest = min(reached - begin for begin, reached in self._windows(line))
        return Timing(
            source * step_ns,
            target * step_ns,
            newest * step_ns,
            self.of(line).late * step_ns,
            self._system.components[line.target.component].takes_slopes,
        )

    def read_ahead(self, name: str) -> int:
        """Communication steps from the begin of a unit's step to when it takes its inputs."""
        return self._ticks.get(name, 1) - 1 if self._plan.latch_at_end else 0

    def of(self, line: Connection) -> Held:
        """Return what a connection's target is held at.

        Integers, Booleans and what changes at events only have no values between two others.
        """
        source = self._system.components[line.source.component]
        real = source.connectors[
            line.source.connector
        ].type is DataType.REAL and not source.changes_at_events(line.source.connector)
        coupling = self._plan.coupling
        if coupling is Coupling.NEWEST or not real:
            return Held(Code.COPY, 1.0, self._lateness(line))
        at_once = acts_at_once(self._system, line)
        if coupling is Coupling.AHEAD and not self.before(line):
            return Held(Code.EXTEND, 1.0, -0.5) if at_once else Held(Code.EXTEND, 0.5, 0.0)
        return Held(Code.COPY, 1.0, -0.5) if at_once else Held(Code.BLEND, 0.5, 0.0)

    def _lateness(self, line: Connection) -> float:
        """How late the newest value is: the mean over all steps of the target."""
        half = self._ticks.get(line.target.component, 1) / 2
        windows = self._windows(line)
        return sum(begin + half - reached for begin, reached in windows) / len(windows)

    def _windows(self, line: Connection) -> list[tuple[int, int]]:
        """For each step of the target its begin and the newest value's moment, in ticks.

        All that repeats are in the list.
        """
        source = self._ticks.get(line.source.component, 1)
        target = self._ticks.get(line.target.component, 1)
        latches = [
            (begin, begin + self.read_ahead(line.target.component) + self.before(line))
            for begin in range(0, lcm(source, target), target)
        ]
        return [(begin, latch // source * source) for begin, latch in latches]
