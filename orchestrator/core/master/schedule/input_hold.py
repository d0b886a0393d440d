"""At what an undelayed input is held during a step, and how late that makes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from math import lcm
from typing import NamedTuple

from orchestrator.core.coupling import DelayPlan, Timing
from orchestrator.core.master.plan import (
    Coupling,
    Group,
    Plan,
    acting_at_once,
    is_within_step,
    ring_numbers,
)
from orchestrator.core.master.schedule.rows import OperationCode
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    DataType,
    Endpoint,
    Extrapolation,
    Interpolation,
    MappingTransformation,
    Source,
    SourceKind,
    System,
)

#: Names that no component can have: a path does not begin with a slash.
SOURCE, SINK = "/inputs", "/outputs"


def crosses(line: Connection) -> bool:
    """Whether a connection comes from outside, or leads there."""
    return line.source.component == SOURCE or line.target.component == SINK


def interior(system: System) -> System:
    """Return a flat system without its own connectors; what they fed is held from outside."""
    inside = (c for c in system.connections if c.source.component and c.target.component)
    return replace(system, connections=tuple(inside), connectors={}, values={})


def with_boundary(system: System) -> System:
    """Turn the own connectors of a flat system into components that are connected like others.

    The inputs are the outputs of one component, the outputs the inputs of another: no ring passes
    through the outside. An output shows the newest value, whatever its connection says of
    extrapolation; own parameters are no signals and are left out with their connections.
    """
    components, inside = dict(system.components), system.inside
    for name, causality in ((SOURCE, Causality.OUTPUT), (SINK, Causality.INPUT)):
        if own_connectors := {c.name: c for c in inside.of(causality)}:
            boundary_source = Source(SourceKind.SYSTEM, name)
            components[name] = Component(name, boundary_source, own_connectors, has_states=False)
    lines = []
    for line in system.connections:
        source, target = line.source, line.target
        if not source.component:
            if system.connectors[source.connector].causality is not Causality.INPUT:
                continue
            line = replace(line, source=Endpoint(SOURCE, source.connector))  # noqa: PLW2901
        if not target.component:
            extrapolation = None if line.delay is None else line.extrapolation
            end = Endpoint(SINK, target.connector)
            line = replace(  # noqa: PLW2901
                line, target=end, extrapolation=extrapolation, compensation=None
            )
        lines.append(line)
    return replace(
        system, components=components, connections=tuple(lines), connectors={}, values={}
    )


def around(plan: Plan, system: System) -> Plan:
    """Let a plan of the inside end with the boundary: outputs are taken after all have stepped."""
    names = tuple(name for name in (SINK, SOURCE) if name in system.components)
    if not names:
        return plan
    return replace(plan, groups=(*plan.groups, Group(names)))


def at_end(
    plans: Mapping[Endpoint, DelayPlan], step_ns: int, *, exact: bool
) -> dict[Endpoint, DelayPlan]:
    """Read delayed outputs at the end of the step, where they are looked at.

    An output is a sample, not something that is held over a step: no half of a step is taken off.
    """
    plans_at_end = dict(plans)
    for target, plan in plans.items():
        if target.component == SINK:
            delay = plan.connection.delay
            nominal_ns = delay.nominal_ns if delay else 0
            plans_at_end[target] = replace(
                plan,
                shift_ns=step_ns - nominal_ns,
                effective_delay_ns=float(nominal_ns) if exact else plan.effective_delay_ns,
                extrapolation_ns=0,
                held_ns=0,
            )
    return plans_at_end


class Held(NamedTuple):
    """What an undelayed input is held at during a step of its unit.

    code: COPY: the newest value. INTERPOLATE_MEAN, EXTRAPOLATE: as the engine has them.
    weight: Of the latter two.
    late: How late that is on average, in communication steps: the middle of the unit's step less
        the moment that the value belongs to.
    """

    code: OperationCode
    weight: float
    late: float


class InputHold:
    """Tells of every undelayed connection at what its target is held.

    system, plan: Whose connections, and what the algorithm decided.
    ticks: Communication steps that one step of each component takes.
    faulty: Targets of connections that a fault acts on: their inputs are held.
    waveform: Whether delayed signals are followed, as waveform mode does it.
    """

    def __init__(
        self,
        system: System,
        plan: Plan,
        ticks: dict[str, int],
        *,
        faulty: Collection[Endpoint] = (),
        waveform: bool = False,
    ) -> None:
        self._system = system
        self._plan = plan
        self._ticks = ticks
        self._faulty = frozenset(faulty)
        self._waveform = waveform
        self._at_once = acting_at_once(system)
        self._iterates = plan.coupling is Coupling.WAVEFORM
        self._iterated = {
            name: i for i, group in enumerate(plan.groups) if group.loop for name in group.members
        }
        self._group = {name: i for i, group in enumerate(plan.groups) for name in group.members}
        self._into: dict[str, list[Connection]] = {}
        for line in system.connections:
            self._into.setdefault(line.target.component, []).append(line)

    @cached_property
    def _undelayed_ring(self) -> dict[str, int]:
        return ring_numbers(self._system, delayed=False)

    @cached_property
    def _any_ring(self) -> dict[str, int]:
        return ring_numbers(self._system, delayed=True)

    def before(self, line: Connection) -> bool:
        """Whether a connection's source is stepped before its target within one step."""
        return self._group[line.source.component] < self._group[line.target.component]

    def proposed(self, line: Connection) -> bool:
        """Whether a line of a loop is read with what the iteration has for the end of the step."""
        if not self._iterates:
            return False
        source, target = line.source.component, line.target.component
        loop = self._iterated.get(source, -1)
        return (
            0 <= loop == self._iterated.get(target)
            and line.target not in self._faulty
            and is_within_step(line, self._system.experiment.step_ns or 0)
            and self._moves(line)
        )

    def timing(self, line: Connection, step_ns: int) -> Timing:
        """Return when the ends of a connection act, for a communication step in nanoseconds."""
        source = self._ticks.get(line.source.component, 1)
        target = self._ticks.get(line.target.component, 1)
        newest = min(reached - begin for begin, reached in self._windows(line))
        held = self.of(line)
        follows = self.follows(line)
        return Timing(
            source * step_ns,
            target * step_ns,
            newest * step_ns,
            held.late * step_ns,
            self._system.components[line.target.component].input_order,
            (self.read_ahead(line.target.component) + self._has_end(line)) * step_ns,
            held.code is OperationCode.COPY
            and self._plan.coupling is Coupling.NEWEST
            and not _makes_up(line),
            follows,
            self._at_once(line),
            self._step_late(line) * step_ns if follows else 0,
            self._plan.step_size_control is not None,
        )

    def follows(self, line: Connection) -> bool:
        """Whether a connection's target is given what the signal does over its step.

        That is known of a delayed signal, of one whose source is stepped before its target, which
        then needs no extrapolation, of one that is iterated, and of one that is read a step late. A
        signal that is held for its kind, by a table of values, by the user's setting of the line,
        or by how samples are lost, is not followed, and one that is smoothed neither.
        """
        applies = self._waveform or (self._iterates and line.delay is None)
        if not applies or line.target in self._faulty:
            return False
        component = self._system.components[line.target.component]
        as_it_is = line.interpolation in {None, Interpolation.CUBIC}
        if line.delay is None:
            as_it_is = as_it_is and line.extrapolation is not Extrapolation.SMOOTHED
            steps = self._ticks.get(line.target.component, 1)
            has_end = self._has_end(line) and all(
                reached - begin >= steps for begin, reached in self._windows(line)
            )
            has_end = has_end or self._step_late(line)
        else:
            has_end = line.delay.variation is None
        if line.compensation is not None:
            return False
        linear = not isinstance(line.transformation, MappingTransformation)
        return component.input_order > 0 and as_it_is and has_end and linear and self._moves(line)

    def _has_end(self, line: Connection) -> bool:
        """Whether its source's sample at the end of the communication step can be read."""
        return self.before(line) or self.proposed(line)

    def _step_late(self, line: Connection) -> bool:
        """Whether an undelayed line is followed as it was over the last step, a whole step late.

        Delayed lines of its rings, and all have some, take that up, and better than a hold.
        """
        return (
            self._plan.coupling is Coupling.NEWEST
            and self._plan.step_size_control is None
            and not self._ticks
            and not self.before(line)
            and line.extrapolation is None
            and self._any_ring[line.source.component] == self._any_ring[line.target.component]
            and self._undelayed_ring[line.source.component]
            != self._undelayed_ring[line.target.component]
        )

    def read_ahead(self, name: str) -> int:
        """Communication steps from the begin of a unit's step to when it takes its inputs."""
        return self._ticks.get(name, 1) - 1 if self._plan.latch_at_end else 0

    def of(self, line: Connection) -> Held:
        """Return what a connection's target is held at.

        Integers, Booleans and what changes at events only have no values between two others; what
        comes from outside is held, and what leads there is looked at when the step is done. What is
        compensated by its integral is not late in the mean.
        """
        coupling = self._plan.coupling
        if _makes_up(line):
            return Held(OperationCode.COPY, 1.0, 0.0)
        if not self._mixes(line):
            half, windows = self._ticks.get(line.target.component, 1) / 2, self._windows(line)
            lateness = sum(begin + half - reached for begin, reached in windows) / len(windows)
            return Held(OperationCode.COPY, 1.0, lateness)
        at_once = self._at_once(line)
        if coupling is Coupling.AHEAD and not self.before(line):
            share, lateness = (1.0, -0.5) if at_once else (0.5, 0.0)
            return Held(OperationCode.EXTRAPOLATE, share, lateness)
        if at_once:
            return Held(OperationCode.COPY, 1.0, -0.5)
        return Held(OperationCode.INTERPOLATE_MEAN, 0.5, 0.0)

    def of_first_half(self, line: Connection) -> Held:
        """Return the same for the first half of a step that is done in two halves."""
        held = self.of(line)
        at_end = self._mixes(line) and self._at_once(line)
        return Held(OperationCode.INTERPOLATE_MEAN, 0.0, held.late) if at_end else held

    def halved(self, name: str) -> bool:
        """Whether a component is stepped in two halves.

        An input that acts on an output at once is held at its value at the end of the step. Where
        it acts on a state as well, that would be of first order only; at the value at the begin
        for one half of the step, and at that at the end for the other, it is of second order.
        Delayed inputs are read for whole steps: a component that has some is not halved.
        """
        if self._plan.coupling is Coupling.NEWEST:
            return False  # nothing is mixed
        component = self._system.components[name]
        outputs = component.of(Causality.OUTPUT)
        remembers = component.has_states or any(
            not component.direct_inputs(output.name) for output in outputs
        )
        lines = self._into.get(name, [])
        return (
            remembers
            and all(line.delay is None for line in lines)
            and any(
                self._mixes(line) and self._at_once(line) and not self.follows(line)
                for line in lines
            )
        )

    def _moves(self, line: Connection) -> bool:
        """Whether there are values between two others."""
        source = self._system.components[line.source.component]
        real = source.connectors[line.source.connector].type is DataType.REAL
        return real and not source.changes_at_events(line.source.connector) and not crosses(line)

    def _mixes(self, line: Connection) -> bool:
        return self._moves(line) and self._plan.coupling is not Coupling.NEWEST

    def _windows(self, line: Connection) -> list[tuple[int, int]]:
        """List begin and newest moment of the target's steps, in ticks, until they repeat."""
        source = self._ticks.get(line.source.component, 1)
        target = self._ticks.get(line.target.component, 1)
        ahead = self.read_ahead(line.target.component) + self._has_end(line)
        if source == target == 1:
            return [(0, ahead)]
        return [
            (begin, (begin + ahead) // source * source)
            for begin in range(0, lcm(source, target), target)
        ]


def _makes_up(line: Connection) -> bool:
    return line.compensation is not None and line.compensation.makes_up_integral
