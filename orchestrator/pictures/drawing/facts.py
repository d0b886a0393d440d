"""Additions to the drawing of a system: loops, steps, delays in words, lines of connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

from orchestrator.core.coupling import DelayPlan, LoopDelay
from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import (
    SEPARATOR,
    Connection,
    Connector,
    Endpoint,
    JitterKind,
    LinearTransformation,
    Loop,
    PowerPort,
    System,
    TransportDelay,
    conversion_between,
)
from orchestrator.core.system.time import milliseconds
from orchestrator.pictures.drawing.scene import LOOPS

#: A node: what it is (component, system or bus), the path of it, its connector.
_Node = tuple[str, str, str]


class Segment(Struct):
    """One line of one system: the path of the system, empty at the top, and the connection."""

    path: str
    line: Connection

    @property
    def key(self) -> str:
        """Name of the line that no other of the whole system has."""
        return wire_key(self.path, self.line)


def wire_key(path: str, line: Connection) -> str:
    """Name of a line that no other of the whole system has."""
    return f"{path}: {line}" if path else str(line)


def inside(path: str, name: str) -> str:
    """Path of something in the system at a path."""
    return f"{path}{SEPARATOR}{name}" if path else name


def chains_of(system: System) -> dict[tuple[Endpoint, Endpoint], tuple[Segment, ...]]:
    """Segments from the source to the target, by the ends of the flat system's connections."""
    drivers: dict[_Node, tuple[_Node, Segment]] = {}
    _collect(system, "", drivers)
    chains: dict[tuple[Endpoint, Endpoint], tuple[Segment, ...]] = {}
    for target in drivers:
        if _passes_on(target):
            continue
        segments: list[Segment] = []
        node = target
        while node in drivers and (node is target or _passes_on(node)):
            if len(segments) > len(drivers):  # connectors of systems that feed each other
                break
            node, segment = drivers[node]
            segments.insert(0, segment)
        chains[Endpoint(node[1], node[2]), Endpoint(target[1], target[2])] = tuple(segments)
    return chains


def _passes_on(node: _Node) -> bool:
    return node[0] == "bus" or (node[0] == "system" and bool(node[1]))


def _collect(system: System, path: str, drivers: dict[_Node, tuple[_Node, Segment]]) -> None:
    def node(end: Endpoint) -> _Node:
        if not end.component:
            return ("system", path, end.connector)
        if end.component in system.buses:
            return ("bus", system.buses[end.component].dictionary, end.connector)
        kind = "system" if end.component in system.systems else "component"
        return (kind, inside(path, end.component), end.connector)

    for line in system.connections:
        drivers.setdefault(node(line.target), (node(line.source), Segment(path, line)))
    for name, inner in system.systems.items():
        _collect(inner, inside(path, name), drivers)


def as_prepared(nested: System, flat: System, read: System | None = None) -> System:
    """Return a nested system with the components and delays of a flat one that was made from it."""
    plain = nested.flat() if read is None else read
    declared = {(c.source, c.target): c for c in plain.connections}
    chains = chains_of(nested)
    changed: dict[str, Connection] = {}
    for line in flat.connections:
        ends = (line.source, line.target)
        if ends not in declared or declared[ends].delay == line.delay:
            continue
        *before, last = chains[ends]
        total = sum(s.line.delay.nominal_ns for s in before if s.line.delay)
        if line.delay is None or line.delay.variation or line.delay.nominal_ns < total:
            changed |= {s.key: _delayed(s.line, None) for s in before}
            total = 0
        remaining = line.delay
        if total and remaining:
            remaining = TransportDelay(remaining.nominal_ns - total, remaining.provenance)
        changed[last.key] = _delayed(last.line, remaining)
    return _refitted(nested, "", flat, changed)


def _delayed(line: Connection, delay: TransportDelay | None) -> Connection:
    return replace(line, delay=delay, interpolation=line.interpolation if delay else None)


def _refitted(system: System, path: str, flat: System, changed: Mapping[str, Connection]) -> System:
    components = {}
    for name, component in system.components.items():
        flat_component = flat.components.get(inside(path, name), component)
        components[name] = replace(flat_component, name=name)
    return replace(
        system,
        components=components,
        connections=tuple(changed.get(wire_key(path, c), c) for c in system.connections),
        systems={
            name: _refitted(inner, inside(path, name), flat, changed)
            for name, inner in system.systems.items()
        },
    )


def is_algebraic(loop: Loop) -> bool:
    """Whether neither a delay nor a state cuts the loop."""
    return all(loop.feedthrough) and not any(line.delay for line in loop.connections)


def sentence(delay: LoopDelay) -> str:
    """Say what a loop's delay is made of; what the steps add may not be known."""
    if isnan(delay.numerical_ns):
        return f"{milliseconds(delay.physical_ns)} declared"
    extra = round(delay.numerical_ns / 1e6, 3)
    added = f"adds {milliseconds(delay.numerical_ns)}" if extra else "adds nothing"
    if extra < 0:
        added = f"takes {milliseconds(-delay.numerical_ns)} away"
    return (
        f"{milliseconds(delay.physical_ns)} declared, the co-simulation {added}:"
        f" {milliseconds(delay.total_ns)} in total"
    )


def delay_label(delay: TransportDelay) -> str:
    """A delay in short: ``"16 ms"``, ``"16 ± 2 ms"``, ``"16 ms, 5 % lost"``."""
    nominal, varies = milliseconds(delay.nominal_ns), delay.variation
    if varies is None:
        return nominal
    parts = [nominal]
    if varies.jitter is not None:
        spread = milliseconds(varies.jitter.spread_ns)
        sign = {JitterKind.UNIFORM: "±", JitterKind.NORMAL: "σ", JitterKind.GAMMA: "+ σ"}
        parts = [f"{nominal} {sign[varies.jitter.kind]} {spread}"]
    if varies.trace is not None:
        parts = ["recorded"]
    if varies.loss:
        parts.append(f"{100 * varies.loss:.3g} % lost")
    return ", ".join(parts)


def transformation_label(line: Connection) -> str:
    """The transformation: ``"× -1"``, ``"table"``; empty without one."""
    transformation = line.transformation
    if transformation is None:
        return ""
    if not isinstance(transformation, LinearTransformation):
        return "table"
    parts = [f"× {transformation.factor:g}"] if transformation.factor != 1 else []
    parts += [f"{transformation.offset:+g}"] if transformation.offset else []
    return " ".join(parts)


def conversion_of(
    line: Connection, source: Connector | None, target: Connector | None
) -> tuple[float, float] | None:
    """Factor and offset of the unit conversion of a connection; ``None`` if it does nothing."""
    if source is None or target is None or line.suppress_unit_conversion:
        return None
    try:
        factors = conversion_between(source, target)
    except UnitMismatchError:
        return None
    return None if factors == (1.0, 0.0) else factors


def wire_label(line: Connection, source: Connector | None, target: Connector | None) -> str:
    """What stands on a connection: delay, unit conversion, transformation, compensation."""
    parts = [delay_label(line.delay)] if line.delay else []
    if conversion_of(line, source, target) is not None and source and target:
        parts.append(f"{source.unit} → {target.unit}")
    parts += [label] if (label := transformation_label(line)) else []
    parts += [str(line.compensation)] if line.compensation else []
    return ", ".join(parts)


def power_text(port: PowerPort) -> str:
    """A power port: ``"force × velocity, in"``, with what goes along with the flow."""
    pairs = (f"{effort} × {flow}" for effort, flow in zip(port.effort, port.flow, strict=True))
    parts = [" + ".join(pairs), *(f"with {name}" for name in port.displacement)]
    parts += [f"in frame {port.frame}"] if port.frame else []
    return ", ".join([*parts, *([f"positive {port.positive}"] if port.positive else [])])


class Facts(Struct):
    """Facts of the flat system.

    loops: Delay of its closed loops.
    plans: How its delayed and predicted connections are read.
    steps: Place of every component in the order of stepping, from 1; simultaneous components have
        the same.
    iterated: Components that are stepped again and again until their outputs agree.
    algorithm: What orders the steps.
    marks: ``"added"``, ``"removed"`` or ``"changed"``, by path of a component or key of a line.
    labels: What stands on lines instead of their own label, by key.
    details: What else is known of a component, by its path, or of a line, by its key: such as the
        tool that made an FMU.
    """

    loops: Sequence[LoopDelay] = ()
    plans: Sequence[DelayPlan] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    iterated: frozenset[str] = frozenset()
    algorithm: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def algebraic(self) -> frozenset[int]:
        """Numbers of the loops that neither a delay nor a state cuts."""
        return frozenset(i for i, d in enumerate(self.loops) if any(map(is_algebraic, d.loops)))

    def step_text(self, path: str) -> str:
        """Number on a component: ``"2"``, ``"2 ↻"`` in a loop that is iterated, or nothing."""
        if path not in self.steps:
            return ""
        return f"{self.steps[path]}{' ↻' if path in self.iterated else ''}"


def wires_of(
    loop: LoopDelay, chains: Mapping[tuple[Endpoint, Endpoint], Sequence[Segment]]
) -> list[str]:
    """Keys of the lines that a loop runs along, each once."""
    chains_of_lines = (chains.get((line.source, line.target), ()) for line in loop.lines)
    return list(dict.fromkeys(segment.key for segments in chains_of_lines for segment in segments))


def loops_by_wire(system: System, loops: Sequence[LoopDelay]) -> dict[str, tuple[int, ...]]:
    """Numbers of the loops that every line of a system belongs to, by its key."""
    if not loops:
        return {}
    chains = chains_of(system)
    numbers_by_key: dict[str, list[int]] = {}
    for number, delay in enumerate(loops):
        for key in wires_of(delay, chains):
            numbers_by_key.setdefault(key, []).append(number)
    return {key: tuple(numbers) for key, numbers in numbers_by_key.items()}


def colour_of(loop: int) -> str:
    """Colour of a loop by its number; beyond the palette, colours repeat."""
    return LOOPS[loop % len(LOOPS)]
