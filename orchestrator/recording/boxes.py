"""Boxes of a block diagram: what stands in them and how large they must be (points, y down)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from orchestrator.system import Causality, Component, SourceKind, System

#: Width in points of a text of a size and weight (``"normal"`` or ``"bold"``).
Measure = Callable[[str, float, str], float]

NAME_SIZE, SOURCE_SIZE, PORT_SIZE, LABEL_SIZE = 10.0, 7.5, 8.0, 7.5
HEAD = 32.0
ROW = 16.0
_SIDE = 9.0
_MIDDLE = 20.0
_LONGEST = 44
#: Ports without a connection are listed up to this number a side.
_MOST_IDLE = 6
_KINDS = {SourceKind.FMU: "FMU", SourceKind.BLOCK: "Python block"}


@dataclass(frozen=True, slots=True)
class Port:
    """One row on an edge of a box."""

    name: str
    text: str
    connected: bool


@dataclass(frozen=True, slots=True)
class Box:
    """One component, not yet placed.

    Parameters
    ----------
    name, source
        First and second line of its head.
    kind
        What it is made from.
    inputs, outputs
        Rows at the left and right edge, from the top.
    width, height
        In points.
    """

    name: str
    source: str
    kind: SourceKind
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    width: float
    height: float

    def offset(self, side: str, port: str) -> float:
        """Distance of a port from the top of the box; ``side`` is ``"in"`` or ``"out"``."""
        rows = self.inputs if side == "in" else self.outputs
        return HEAD + ROW * ([row.name for row in rows].index(port) + 0.5)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Text on one line, shortened in the middle where it is too long."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def make_boxes(system: System, measure: Measure) -> dict[str, Box]:
    """Make a box for every component of a system, in the system's order."""
    used: dict[tuple[str, Causality], list[str]] = {}
    for line in system.connections:
        for end, side in ((line.source, Causality.OUTPUT), (line.target, Causality.INPUT)):
            names = used.setdefault((end.component, side), [])
            if end.connector not in names:
                names.append(end.connector)
    return {
        name: _box(
            component,
            _ports(component, Causality.INPUT, used.get((name, Causality.INPUT), [])),
            _ports(component, Causality.OUTPUT, used.get((name, Causality.OUTPUT), [])),
            measure,
        )
        for name, component in system.components.items()
    }


def _box(
    component: Component, inputs: tuple[Port, ...], outputs: tuple[Port, ...], measure: Measure
) -> Box:
    source = one_line(
        f"{_KINDS[component.source.kind]}: {PurePath(component.source.location).name}"
    )

    def widest(ports: Iterable[Port]) -> float:
        return max((measure(port.text, PORT_SIZE, "normal") for port in ports), default=0.0)

    rows = widest(inputs) + widest(outputs) + _MIDDLE
    head = max(
        measure(one_line(component.name), NAME_SIZE, "bold"), measure(source, SOURCE_SIZE, "normal")
    )
    return Box(
        component.name,
        source,
        component.source.kind,
        inputs,
        outputs,
        max(96.0, max(rows, head) + 2 * _SIDE),
        HEAD + ROW * max(1, len(inputs), len(outputs)) + 8.0,
    )


def _ports(component: Component, side: Causality, used: list[str]) -> tuple[Port, ...]:
    """Connected ports in declared order, then the others, up to a number."""
    declared = [c.name for c in component.of(side)]
    connected = [n for n in declared if n in used] + [n for n in used if n not in declared]
    idle = [n for n in declared if n not in used]
    ports = [Port(n, _text(component, n, held=False), connected=True) for n in connected]
    ports += [Port(n, _text(component, n, held=True), connected=False) for n in idle[:_MOST_IDLE]]
    if len(idle) > _MOST_IDLE:
        more = f"and {len(idle) - _MOST_IDLE} more"
        ports.append(Port("", more, connected=False))
    return tuple(ports)


def _text(component: Component, name: str, *, held: bool) -> str:
    """Port's name with unit, or with the value that an unconnected input keeps."""
    connector = component.connectors.get(name)
    unit = connector.unit if connector and connector.unit not in {None, "", "1"} else None
    value = component.values.get(name) if held else None
    if isinstance(value, int | float):
        shown = str(value).lower() if isinstance(value, bool) else f"{value:g}"
        return one_line(f"{name} = {shown}" + (f" {unit}" if unit else ""))
    return one_line(f"{name} [{unit}]" if unit else name)
