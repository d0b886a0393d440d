"""A level of a system as shapes: laid out, with its lines, names and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from orchestrator.core.structs import Struct, field
from orchestrator.core.system import Endpoint
from orchestrator.pictures.drawing.columns import GRID, PASS_HEIGHT, LayoutBox, Wire
from orchestrator.pictures.drawing.facts import colour_of
from orchestrator.pictures.drawing.folding import DiagramLayout
from orchestrator.pictures.drawing.layout import lay_out_islands
from orchestrator.pictures.drawing.parts import DrawnLine, DrawnPart, DrawnPort, Level
from orchestrator.pictures.drawing.scene import (
    BROKEN,
    FRAMES,
    HEAD,
    INK,
    KINDS,
    LABEL_SIZE,
    LATE,
    MARKS,
    NAME_SIZE,
    PALE,
    PAPER,
    PORT_SIZE,
    QUIET,
    ROW,
    SOURCE_SIZE,
    Disc,
    Point,
    Polygon,
    Rectangle,
    Shape,
    ShapeGroup,
    Stroke,
    Text,
    width_of,
)

_BLOCKS_SIDE = 9.0
_MIDDLE = 20.0
_LEAST = 96.0
_ROUND = 5.0
_PORT = 7.0


def box_of(name: str, part: DrawnPart) -> LayoutBox:
    """Measure a part that is drawn closed."""
    rows = _widest(part.inputs) + _widest(part.outputs) + _MIDDLE
    return LayoutBox(
        name,
        max(_LEAST, rows + 2 * _BLOCKS_SIDE, head_width(part)),
        HEAD + ROW * max(1, len(part.inputs), len(part.outputs)) + 8.0,
        _offsets(part.inputs),
        _offsets(part.outputs),
    )


def head_width(part: DrawnPart) -> float:
    """Width that the two lines of a head need, with room for the number of the step."""
    step = width_of(part.step, SOURCE_SIZE, bold=True) + 22 if part.step else 0.0
    name = width_of(part.name, NAME_SIZE, bold=True) + 2 * step
    return max(name, width_of(part.source, SOURCE_SIZE) + step) + 2 * _BLOCKS_SIDE


def _widest(ports: Iterable[DrawnPort]) -> float:
    return max((width_of(port.text, PORT_SIZE) for port in ports), default=0.0)


def _offsets(ports: Sequence[DrawnPort]) -> dict[str, float]:
    return {port.name: HEAD + ROW * (i + 0.5) for i, port in enumerate(ports)}


def pin_of(name: str, port: DrawnPort, side: Literal["left", "right"]) -> LayoutBox:
    """Box of a connector of the system itself, on its border."""
    size = width_of(port.text, PORT_SIZE) + 2 * _PORT, PASS_HEIGHT
    height = {port.name: PASS_HEIGHT / 2}
    ports = ({}, height) if side == "left" else (height, {})
    return LayoutBox(name, *size, *ports, side)


def paint_box(part: DrawnPart, box: LayoutBox, corner: Point) -> Iterator[Shape]:
    """Paint a part that is drawn closed."""
    x, y = corner
    fill, edge = colours(part)
    yield Rectangle(x, y, box.width, box.height, PAPER, radius=_ROUND)
    yield Rectangle(x, y, box.width, HEAD, fill, radius=_ROUND)
    yield Rectangle(x, y + HEAD - _ROUND, box.width, _ROUND, fill)
    yield from paint_outline(part, box, x, y)
    for ports, at, inward in ((part.inputs, x, 1), (part.outputs, x + box.width, -1)):
        for i, port in enumerate(ports):
            yield from paint_port(port, (at, y + HEAD + ROW * (i + 0.5)), inward, edge)


def colours(part: DrawnPart) -> tuple[str, str]:
    """Fill of the head, and edge."""
    return MARKS[part.mark] if part.mark else KINDS[part.kind][:2]


def paint_outline(part: DrawnPart, box: LayoutBox, x: float, y: float) -> Iterator[Shape]:
    """Paint the edge, name and source, and the number of the step at the left of them."""
    edge, removed = colours(part)[1], part.mark == "removed"
    thick = 2.0 if part.mark else 1.2
    yield Rectangle(x, y, box.width, box.height, "", edge, thick, _ROUND, dashed=removed)
    middle = x + box.width / 2
    yield Text(middle, y + 11, part.name, NAME_SIZE, INK, "middle", bold=True)
    yield Text(middle, y + 24, part.source, SOURCE_SIZE, QUIET, "middle")
    if part.step:
        wide = max(14.0, width_of(part.step, SOURCE_SIZE, bold=True) + 7)
        yield Rectangle(x + 5, y + 4, wide, 14, PAPER, edge, 0.9, 7.0)
        yield Text(x + 5 + wide / 2, y + 11, part.step, SOURCE_SIZE, edge, "middle", bold=True)


def paint_port(port: DrawnPort, at: Point, inward: int, edge: str) -> Iterator[Shape]:
    """Paint a mark on an edge and the port's text inside; ``inward`` is 1 on a left edge."""
    x, y = at
    colour = INK if port.connected else PALE
    yield Text(
        x + _PORT * inward, y, port.text, PORT_SIZE, colour, "start" if inward > 0 else "end"
    )
    if port.name:
        yield Rectangle(x - 2.5, y - 2.5, 5, 5, edge if port.connected else PAPER, edge, 0.8)


_DASH = (4.2, 2.1)
#: Inside of a frame, from its top to what is in it.
_TOP = 5 * GRID
_BOTTOM = 2 * GRID
_SIDE = 16.0
#: Largest number of bands of a line; each further loop makes it wider.
_BANDS = 3
# Names of pins: no connector's name begins so.
_IN, _OUT = "\0in:", "\0out:"


class Placed(Struct):
    """Shapes with their extent, from the origin; of a level, heights of its own connectors."""

    shapes: Sequence[Shape]
    width: float
    height: float
    inputs: Mapping[str, float] = field(default_factory=dict)
    outputs: Mapping[str, float] = field(default_factory=dict)


def place_level(level: Level, depth: int = 0, minimum_width: float = 0.0, edge: str = "") -> Placed:
    """Lay out a level and paint it.

    level: What is in a system.
    depth: How many frames are around it.
    least: Width that it has at least.
    edge: Colour of the marks of its own connectors on the frame around it.
    """
    nested = {
        name: place_level(part.level, depth + 1, head_width(part), colours(part)[1])
        for name, part in level.parts.items()
        if part.level is not None
    }
    boxes = {
        name: _frame(name, nested[name]) if name in nested else box_of(name, part)
        for name, part in level.parts.items()
    }
    pins: dict[str, tuple[DrawnPort, Literal["left", "right"]]]
    pins = {_IN + port.name: (port, "left") for port in level.inputs}
    pins |= {_OUT + port.name: (port, "right") for port in level.outputs}
    boxes |= {name: pin_of(name, port, side) for name, (port, side) in pins.items()}
    wires = [
        Wire(
            _end(line.source, _IN),
            _end(line.target, _OUT),
            width_of(line.label, LABEL_SIZE, bold=True) + 8 if line.label else 0.0,
        )
        for line in level.lines
    ]
    left_margin = 0.0 if level.inputs or not edge else _SIDE
    right = 0.0 if level.outputs or not edge else _SIDE
    laid = lay_out_islands(boxes, wires, minimum_width - left_margin - right)
    shapes: list[Shape] = [
        *_halos(level.lines, laid),
        *_lines(level.lines, laid),
        *(
            _part(part, boxes[name], laid.corners[name], nested.get(name), depth)
            for name, part in level.parts.items()
        ),
    ]
    heights = {name: laid.corners[name][1] + GRID for name in pins}
    for name, (port, side) in pins.items():
        x = laid.corners[name][0] + (0.0 if side == "left" else boxes[name].width)
        inward = 1 if side == "left" else -1
        mark = paint_port(port, (x, heights[name]), inward, edge or INK)
        shapes.append(ShapeGroup("pin", [*mark]))
    return Placed(
        [ShapeGroup("inside", shapes, at=(left_margin, 0.0))] if left_margin else shapes,
        laid.width + left_margin + right,
        GRID * -(-laid.height // GRID),
        {port.name: heights[_IN + port.name] for port in level.inputs},
        {port.name: heights[_OUT + port.name] for port in level.outputs},
    )


def _frame(name: str, inner: Placed) -> LayoutBox:
    return LayoutBox(
        name,
        inner.width,
        _TOP + inner.height + _BOTTOM,
        {port: _TOP + y for port, y in inner.inputs.items()},
        {port: _TOP + y for port, y in inner.outputs.items()},
    )


def _end(end: Endpoint, prefix: str) -> tuple[str, str]:
    return (end.component or prefix + end.connector, end.connector)


def _part(
    part: DrawnPart, box: LayoutBox, corner: Point, inner: Placed | None, depth: int
) -> ShapeGroup:
    data = {"part": part.path}
    if inner is None:
        return ShapeGroup("part", [*paint_box(part, box, corner)], data, part.path)
    x, y = corner
    shapes = [
        Rectangle(x, y, box.width, box.height, FRAMES[depth % 2], radius=_ROUND),
        *paint_outline(part, box, x, y),
        ShapeGroup("content", inner.shapes, at=(x, y + _TOP)),
    ]
    return ShapeGroup("frame", shapes, data, part.path)


def _halos(lines: Sequence[DrawnLine], laid: DiagramLayout) -> Iterator[Shape]:
    """Bands along lines that belong to loops, the outer ones first."""
    for band in reversed(range(_BANDS)):
        for line, wire_path in zip(lines, laid.ways, strict=True):
            if band < len(line.loops):
                loop = line.loops[band]
                dash = BROKEN if loop in line.algebraic else ()
                stroke = Stroke(wire_path, colour_of(loop), 5.0 + 3.0 * band, dash)
                yield ShapeGroup("halo", [stroke], {"loop": str(loop), "of": line.key})


def _lines(lines: Sequence[DrawnLine], laid: DiagramLayout) -> Iterator[Shape]:
    """Lines with arrow heads and labels; what several share is solid if one of them is."""
    looks = {}
    for line in lines:  # colour, width and dashes
        colour = MARKS[line.mark][1] if line.mark else LATE if line.is_late else INK
        looks[line.key] = colour, 2.2 if line.mark else 1.3, _DASH if line.is_late else ()
    order = sorted(range(len(lines)), key=lambda number: not lines[number].is_late)
    for number in order:
        line, wire_path = lines[number], laid.ways[number]
        colour, width, dash = looks[line.key]
        x, y = wire_path[-1]
        tip = x - 2.5
        shapes: list[Shape] = [
            Stroke((*wire_path[:-1], (x - 7, y)), colour, width, dash),
            Polygon(((tip, y), (tip - 7, y - 3.2), (tip - 7, y + 3.2)), colour),
        ]
        if line.label:
            x, y = laid.labels[number]
            wide = width_of(line.label, LABEL_SIZE, bold=True) + 4
            shapes += [
                Rectangle(x - wide / 2, y - 5, wide, 10, PAPER, radius=2.0),
                Text(x, y, line.label, LABEL_SIZE, colour, "middle", bold=True),
            ]
        title = line.key + (f" ({line.label})" if line.label else "")
        yield ShapeGroup("wire", shapes, {"wire": line.key}, title)
    colour_at = {_end(lines[n].source, _IN): looks[lines[n].key][0] for n in order}
    yield ShapeGroup("dots", [Disc(*at, 2.1, colour_at[source]) for at, source in laid.dots])
