"""The drawn elements of a system: parts with their ports, and wires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Bus, Causality, Component, Connector, Endpoint, System, Value
from orchestrator.core.system.naming import unknown_name_error
from orchestrator.pictures.drawing.facts import Facts, inside, loops_by_wire, wire_key, wire_label
from orchestrator.pictures.drawing.scene import KINDS, one_line

#: Ports without a connection are listed up to this number a side.
_MOST_IDLE = 6
#: Ends the name of a row that stands for a connector a second time.
_AGAIN = "\0"
Ends = tuple[Endpoint, Endpoint]
_INWARD = {Causality.INPUT, Causality.STRUCTURAL_PARAMETER}
_OUTWARD = {Causality.OUTPUT, Causality.CALCULATED_PARAMETER}


class DrawnPort(Struct):
    """One row on an edge of a part; without a name it only says how many more there are."""

    name: str
    text: str
    connected: bool


Ports = tuple[tuple[DrawnPort, ...], tuple[DrawnPort, ...]]


class DrawnLine(Struct):
    """One connection within a level.

    ``loops`` are the numbers of the loops that it belongs to, ``algebraic`` those of them that
    neither a delay nor a state cuts.
    """

    key: str
    source: Endpoint
    target: Endpoint
    label: str
    is_late: bool
    loops: tuple[int, ...]
    algebraic: frozenset[int]
    mark: str


class DrawnPart(Struct):
    """A component, a nested system or a bus.

    path: Names of the systems it is in, and its own, joined by slashes.
    name, source: First and second line of its head.
    kind: Key of :data:`orchestrator.pictures.drawing.scene.KINDS`.
    inputs, outputs: Rows at the left and right edge, from the top.
    step: Its place in the order of stepping.
    mark: What a comparison found.
    level: What is in it; ``None`` if that is not drawn.
    """

    path: str
    name: str
    source: str
    kind: str
    inputs: tuple[DrawnPort, ...]
    outputs: tuple[DrawnPort, ...]
    step: str
    mark: str
    level: Level | None = None


class Level(Struct):
    """What is in a system: its parts, its lines, and its own connectors."""

    parts: Mapping[str, DrawnPart]
    lines: tuple[DrawnLine, ...]
    inputs: tuple[DrawnPort, ...]
    outputs: tuple[DrawnPort, ...]


def level_of(system: System, facts: Facts, depth: int | None = None) -> Level:
    """Collect what is drawn of a system."""
    return _Collector(facts, loops_by_wire(system, facts.loops)).level(system, "", depth)


class _Collector:
    def __init__(self, facts: Facts, loops: Mapping[str, tuple[int, ...]]) -> None:
        self._facts = facts
        self._loops = loops
        self._algebraic = facts.algebraic

    def level(self, system: System, path: str, depth: int | None) -> Level:
        ends = _drawn_ends(system, path, self._facts.marks)
        used: dict[str, dict[str, list[str]]] = {}  # connected ports by part and side
        for two in ends:
            for end, side in zip(two, ("out", "in"), strict=True):
                names = used.setdefault(end.component, {}).setdefault(side, [])
                if end.connector not in names:
                    names.append(end.connector)
        parts = {
            name: self._component(component, inside(path, name), used.get(name, {}))
            for name, component in system.components.items()
        }
        for name, inner in system.systems.items():
            parts[name] = self._system(inner, name, inside(path, name), used.get(name, {}), depth)
        for name, bus in system.buses.items():
            parts[name] = self._bus(bus, inside(path, name), used.get(name, {}))
        for line in system.connections:
            for end in (line.source, line.target):
                if end.component and end.component not in parts:
                    raise unknown_name_error(
                        f"connection {line}: system '{system.name}'",
                        "component",
                        end.component,
                        parts,
                    )
        system_ports = used.get("", {})
        return Level(
            parts,
            tuple(self._lines(system, path, ends)),
            _rows(
                system.connectors,
                _INWARD,
                system_ports.get("out", []),
                system.values,
                system_ports.get("in", []),
            ),
            _rows(
                system.connectors,
                _OUTWARD,
                system_ports.get("in", []),
                {},
                system_ports.get("out", []),
            ),
        )

    def _lines(self, system: System, path: str, ends: Sequence[Ends]) -> Iterable[DrawnLine]:
        for line, (source, target) in zip(system.connections, ends, strict=True):
            key = wire_key(path, line)
            declared = (connector_of(system, line.source), connector_of(system, line.target))
            yield DrawnLine(
                key,
                source,
                target,
                one_line(self._facts.labels.get(key, wire_label(line, *declared)), 60),
                line.delay is not None,
                self._loops.get(key, ()),
                self._algebraic & {*self._loops.get(key, ())},
                self._facts.marks.get(key, ""),
            )

    def _component(
        self, component: Component, path: str, used: Mapping[str, list[str]]
    ) -> DrawnPart:
        kind = str(component.source.kind)
        location = PurePath(component.source.location).name
        if component.source.inner is not None:
            location = component.source.short.partition(":")[2]
        ports = (
            _rows(component.connectors, {Causality.INPUT}, used.get("in", []), component.values),
            _rows(component.connectors, {Causality.OUTPUT}, used.get("out", []), {}),
        )
        return self._part(path, component.name, f"{KINDS[kind][2]}: {location}", kind, ports)

    def _part(
        self, path: str, name: str, source: str, kind: str, ports: Ports, level: Level | None = None
    ) -> DrawnPart:
        step, mark = self._facts.step_text(path), self._facts.marks.get(path, "")
        return DrawnPart(path, one_line(name), one_line(source), kind, *ports, step, mark, level)

    def _system(
        self,
        system: System,
        name: str,
        path: str,
        used: Mapping[str, list[str]],
        depth: int | None,
    ) -> DrawnPart:
        is_open = depth is None or depth > 0
        level = self.level(system, path, None if depth is None else depth - 1) if is_open else None
        inputs = _rows(system.connectors, _INWARD, used.get("in", []), system.values)
        if level is not None:
            extra = tuple(port for port in inputs if port.name.endswith(_AGAIN))
            level = replace(level, inputs=level.inputs + extra)
        count = component_count(system)
        text = f"system: {count} component{'' if count == 1 else 's'}"
        outputs = _rows(system.connectors, _OUTWARD, used.get("out", []), {})
        return self._part(path, name, text, "system", (inputs, outputs), level)

    def _bus(self, bus: Bus, path: str, used: Mapping[str, list[str]]) -> DrawnPart:
        inputs, outputs = (
            _rows(bus.connectors, set(), used.get(side, []), {}) for side in ("in", "out")
        )
        source = f"{KINDS['bus'][2]}: {bus.dictionary}"
        return self._part(path, bus.name, source, "bus", (inputs, outputs))


def connector_of(system: System, end: Endpoint) -> Connector | None:
    """Find the connector at an end of a connection; ``None`` if it is not declared."""
    if not end.component:
        return system.connectors.get(end.connector)
    owner = (
        system.components.get(end.component)
        or system.systems.get(end.component)
        or system.buses.get(end.component)
    )
    return owner.connectors.get(end.connector) if owner else None


def component_count(system: System) -> int:
    """Count the components of a system and of all that are in it."""
    return len(system.components) + sum(map(component_count, system.systems.values()))


def _drawn_ends(system: System, path: str, marks: Mapping[str, str]) -> list[Ends]:
    """Ends of all lines; a line that a comparison found removed has a row of its own.

    Where another line took its place at an input, the two would lie on each other.
    """
    present = {c.target for c in system.connections if marks.get(wire_key(path, c)) != "removed"}
    ends = []
    for line in system.connections:
        target = line.target
        if marks.get(wire_key(path, line)) == "removed" and target in present:
            target = target._replace(connector=target.connector + _AGAIN)
        ends.append((line.source, target))
    return ends


def _rows(
    connectors: Mapping[str, Connector],
    side: set[Causality],
    used: list[str],
    values: Mapping[str, Value],
    elsewhere: Iterable[str] = (),
) -> tuple[DrawnPort, ...]:
    """Connected ports in declared order, then the others of a side, up to a number."""
    used_names = set(used)
    occupied = used_names.union(elsewhere)
    idle = [n for n, c in connectors.items() if c.causality in side and n not in occupied]
    ports = []
    for name in [n for n in connectors if n in used_names] + [
        n for n in used if n not in connectors
    ]:
        bare = name.removesuffix(_AGAIN)
        ports.append(DrawnPort(name, _text(connectors.get(bare), bare, None), connected=True))
    ports += [
        DrawnPort(name, _text(connectors[name], name, values.get(name)), connected=False)
        for name in idle[:_MOST_IDLE]
    ]
    if len(idle) > _MOST_IDLE:
        ports.append(DrawnPort("", f"and {len(idle) - _MOST_IDLE} more", connected=False))
    return tuple(ports)


def _text(connector: Connector | None, name: str, held: Value | None) -> str:
    """Port's name with unit, or with the value that an unconnected input keeps."""
    unit = connector.unit if connector and connector.unit not in {None, "", "1"} else None
    if isinstance(held, int | float):
        value_text = str(held).lower() if isinstance(held, bool) else f"{held:g}"
        return one_line(f"{name} = {value_text}" + (f" {unit}" if unit else ""))
    return one_line(f"{name} [{unit}]" if unit else name)
