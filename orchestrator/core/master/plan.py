"""What an algorithm decides: who exchanges when, in what order, what is iterated, which steps."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, StrEnum

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.core.system import Causality, Connection, System
from orchestrator.core.system.loops import Ways, ordered_rings
from orchestrator.core.system.naming import is_whole

_MOST_ITERATIONS = 1_000_000


class Coupling(StrEnum):
    """Value at which an undelayed input is held during a step.

    ``newest``
        The newest value of its source.
    ``mean``
        The mean of its source's values at the two ends of the step: second order. An input that
        acts on an output at once is held at the value at the end, so that the output belongs to
        that moment; a component that also remembers takes the step in two halves then, the first
        with the value at the begin, which is of second order again.
    ``ahead``
        The same where the source is stepped before; else the middle of the step on the line
        through its source's last two values, likewise the end for an input that acts at once.
    ``waveform``
        The same as ``mean`` where a component holds its inputs. One that takes derivatives of them
        is given what its source does over the step: the cubic through its last samples, of which
        the newest is that at the end of the step, in a loop the one of the iteration.
    """

    NEWEST = "newest"
    MEAN = "mean"
    AHEAD = "ahead"
    WAVEFORM = "waveform"


class Iteration(IntEnum):
    """How a loop is solved; the numbers are those of the engine (engine/src/core/schedule.hpp)."""

    FIXED_POINT = 0
    AITKEN = 1
    ANDERSON = 2
    NEWTON = 3
    NEWTON_BY_DERIVATIVES = 4


class Loops(Struct):
    """How loops are iterated.

    Parameters
    ----------
    method
        See :class:`Iteration`.
    tolerance
        A loop has converged when every output that it starts from changes by at most this in one
        pass, relative to the output or to 1 in its unit, whichever is larger.
    most_iterations
        Passes through the loop in one step before the run ends with an error; loops that only
        make a Jacobian are not counted.
    """

    method: Iteration
    tolerance: float = 1e-9
    most_iterations: int = 50

    def __post_init__(self) -> None:
        if not 0.0 < self.tolerance < 1.0:
            raise DescriptionError(f"tolerance: expected 0 < tolerance < 1, found {self.tolerance}")
        if not is_whole(self.most_iterations):
            raise DescriptionError(
                f"most_iterations: expected a whole number, found {self.most_iterations!r}"
            )
        if not 1 <= self.most_iterations <= _MOST_ITERATIONS:
            raise DescriptionError(
                f"most_iterations: expected 1 to {_MOST_ITERATIONS}, found {self.most_iterations}"
            )


class StepMethod(IntEnum):
    """How steps are chosen; the numbers are those of the engine."""

    FIXED = 0
    DOUBLING = 1
    EMBEDDED = 2
    ECCO = 3


class StepSizeControl(Struct):
    """Control of the step length, for steps of varying length.

    Parameters
    ----------
    method
        See :class:`StepMethod`.
    relative, absolute
        Tolerances of every connected output; of the energy of every power bond for ECCO.
    order
        Order of the coupling: the error of one step grows with this power of its length plus one.
    least_ns, most_ns
        Bounds of the step in nanoseconds; ``most_ns = None``: a hundred times the first step.
    """

    method: StepMethod
    relative: float
    absolute: float
    order: int = 1
    least_ns: int = 1000
    most_ns: int | None = None

    def __post_init__(self) -> None:
        if not (self.relative >= 0.0 and self.absolute > 0.0):
            raise DescriptionError(
                "tolerances of the step: expected relative >= 0 and absolute > 0, found"
                f" {self.relative} and {self.absolute}"
            )
        if self.least_ns < 1 or (self.most_ns is not None and self.most_ns < self.least_ns):
            raise DescriptionError(
                "bounds of the step: expected 0 < shortest <= longest, found"
                f" {self.least_ns} ns and {self.most_ns} ns"
            )


class Group(Struct):
    """Components that exchange at the same moment; those of a loop are iterated together.

    Parameters
    ----------
    members
        Names. In a loop they exchange and step one after the other, in this order.
    loop
        Whether they are repeated until their outputs agree.
    """

    members: tuple[str, ...]
    loop: bool = False


class Plan(Struct):
    """What an algorithm returns.

    Parameters
    ----------
    groups
        Every component in one of them, in order of execution.
    coupling
        See :class:`Coupling`.
    loops
        How groups that are loops are iterated; ``None`` if there are none.
    step_size_control
        How steps are chosen; ``None`` if all have the same length.
    latch_at_end
        Where a unit takes several communication steps at once, whether its inputs are taken in
        the last of them (with what the others have reached by then) or in the first.
    delays_loops
        Whether algebraic loops that are not iterated get the delay of a step instead of being
        refused.
    """

    groups: tuple[Group, ...]
    coupling: Coupling = Coupling.NEWEST
    loops: Loops | None = None
    step_size_control: StepSizeControl | None = None
    latch_at_end: bool = True
    delays_loops: bool = False


def stepping_order(system: System) -> list[list[str]]:
    """Order the components, components of a ring without a delay together.

    Delayed connections do not bind the order: they are the cuts. Where a ring has several, the
    longest delay is the cut: the shorter ones are put in order, so that what they may have to read
    ahead is as little as can be. In a ring without a delay the connections that act at once (direct
    feed-through) bind the order, so that the outputs which stand in the buffer after a step belong
    to one moment; what is still a ring keeps the system's order.
    """
    lines = _with_short_delays(system)
    acts_at_once = acting_at_once(system)
    order = []
    for ring in _ordered(list(system.components), lines):
        if len(ring) == 1:
            order.append(ring)
            continue
        members = set(ring)
        inside = [c for c in lines if c.target.component in members and acts_at_once(c)]
        order.append([name for part in _ordered(ring, inside) for name in part])
    return order


def ring_numbers(system: System, *, delayed: bool) -> dict[str, int]:
    """Number the components; those on a ring of undelayed, or of all, lines have the same."""
    lines = [line for line in system.connections if delayed or line.delay is None]
    rings = _ordered(list(system.components), lines)
    return {name: number for number, ring in enumerate(rings) for name in ring}


def levels(system: System, order: list[str]) -> list[tuple[str, ...]]:
    """Put components together that may be stepped at the same time, with all values unchanged."""
    position = {name: i for i, name in enumerate(order)}
    step_ns = system.experiment.step_ns or 0
    bound = [
        (position[line.source.component], position[line.target.component])
        for line in system.connections
        if line.delay is None or line.delay.nominal_ns < 2 * step_ns or not step_ns
    ]
    # A later one that reads an earlier one must come a level later. An earlier one that reads a
    # later one must not come after it.
    edges: dict[int, list[tuple[int, int]]] = {}
    for source, target in bound:
        if source < target:
            edges.setdefault(target, []).append((source, 1))
        elif target < source:
            edges.setdefault(source, []).append((target, 0))
    level: list[int] = []
    for number in range(len(order)):
        before = (level[earlier] + more for earlier, more in edges.get(number, ()))
        level.append(max(before, default=0))
    groups: list[list[str]] = [[] for _ in range(max(level, default=-1) + 1)]
    for name, depth in zip(order, level, strict=True):
        groups[depth].append(name)
    return [tuple(group) for group in groups]


def is_within_step(line: Connection, step_ns: int) -> bool:
    """Whether some of what a connection brings during a step is sent in the same step.

    What varies from sample to sample is not counted: it is known when it arrives.
    """
    if line.delay is None:
        return True
    return line.delay.variation is None and line.delay.nominal_ns < step_ns


def _with_short_delays(system: System) -> list[Connection]:
    """Return what binds: undelayed lines, and delayed ones that close no ring, shortest first."""
    lines = [line for line in system.connections if line.delay is None]
    delayed = [line for line in system.connections if line.delay is not None]
    delayed.sort(key=lambda line: line.delay.nominal_ns if line.delay else 0)
    ways = Ways()
    for line in lines:
        ways.add(line.source.component, line.target.component)
    for line in delayed:
        source, target = line.source.component, line.target.component
        if not ways.lead(target, source):
            ways.add(source, target)
            lines.append(line)
    return lines


def _ordered(names: list[str], lines: list[Connection]) -> list[list[str]]:
    """Sort names topologically; names that form a ring stay together, in their given order."""
    return ordered_rings(names, [(line.source.component, line.target.component) for line in lines])


def acting_at_once(system: System) -> Callable[[Connection], bool]:
    """Say of connections whether their target passes them on to an output without a state between.

    Components of one source share what says so, which is looked at once.
    """
    cache: dict[tuple[int, int], frozenset[str]] = {}

    def acts(line: Connection) -> bool:
        target = system.components[line.target.component]
        kind = id(target.connectors), id(target.feedthrough)
        if kind not in cache:
            outputs = target.of(Causality.OUTPUT)
            cache[kind] = frozenset(
                n for output in outputs for n in target.direct_inputs(output.name)
            )
        return line.target.connector in cache[kind]

    return acts
