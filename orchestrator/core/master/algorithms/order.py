"""The order in which components are stepped so that sources come before targets."""

from __future__ import annotations

from orchestrator.core.system import Causality, Connection, System
from orchestrator.core.system.loops.rings import Ways, ordered_rings


def stepping_order(system: System) -> list[list[str]]:
    """Order the components, those that form a ring without a delay together.

    Delayed connections do not bind the order: they are the cuts. Where a ring has several, the
    longest delay is the cut: the shorter ones are put in order, so that what they may have to read
    ahead is as little as can be. In a ring without a delay the connections that act at once (direct
    feed-through) bind the order, so that the outputs which stand in the buffer after a step belong
    to one moment; what is still a ring keeps the system's order.
    """
    lines = _with_short_delays(system)
    order = []
    for ring in _ordered(list(system.components), lines):
        if len(ring) == 1:
            order.append(ring)
            continue
        members = set(ring)
        inside = [c for c in lines if c.target.component in members and acts_at_once(system, c)]
        order.append([name for part in _ordered(ring, inside) for name in part])
    return order


def ring_numbers(system: System, *, delayed: bool) -> dict[str, int]:
    """Number the components; those on a ring of undelayed, or of all, lines have the same."""
    lines = [line for line in system.connections if delayed or line.delay is None]
    rings = _ordered(list(system.components), lines)
    return {name: number for number, ring in enumerate(rings) for name in ring}


def levels(system: System, order: list[str]) -> list[tuple[str, ...]]:
    """Put components together that may be stepped at the same time, with all values unchanged."""
    place = {name: i for i, name in enumerate(order)}
    step_ns = system.experiment.step_ns or 0
    bound = [
        (place[line.source.component], place[line.target.component])
        for line in system.connections
        if line.delay is None or line.delay.nominal_ns < 2 * step_ns or not step_ns
    ]
    # A later one that reads an earlier one must come a level later. An earlier one that reads a
    # later one must not come after it.
    least: dict[int, list[tuple[int, int]]] = {}
    for source, target in bound:
        if source < target:
            least.setdefault(target, []).append((source, 1))
        elif target < source:
            least.setdefault(source, []).append((target, 0))
    level: list[int] = []
    for number in range(len(order)):
        level.append(max((level[other] + more for other, more in least.get(number, ())), default=0))
    return [
        tuple(name for name, own in zip(order, level, strict=True) if own == wanted)
        for wanted in range(max(level, default=-1) + 1)
    ]


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


def acts_at_once(system: System, line: Connection) -> bool:
    """Whether a connection's target passes it on to one of its outputs without a state between."""
    target = system.components[line.target.component]
    return any(
        line.target.connector in target.direct_inputs(output.name)
        for output in target.of(Causality.OUTPUT)
    )
