"""A level of a system as shapes: laid out, with what is nested in it laid out before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.core.system import Endpoint
from orchestrator.pictures.drawing.facts import colour_of
from orchestrator.pictures.drawing.layout.layout import Layout
from orchestrator.pictures.drawing.layout.measure import width_of
from orchestrator.pictures.drawing.layout.packing import lay_out_islands
from orchestrator.pictures.drawing.layout.shape import GRID, Box, Point, Wire
from orchestrator.pictures.drawing.scene.blocks import (
    arrow,
    box_of,
    colours,
    dot,
    head_width,
    paint_box,
    paint_frame,
    paint_port,
    pin_of,
)
from orchestrator.pictures.drawing.scene.palette import BROKEN, INK, LABEL_SIZE, LATE, MARKS, PAPER
from orchestrator.pictures.drawing.scene.parts import Level, Line, Part, Port
from orchestrator.pictures.drawing.scene.scene import Group, Rectangle, Shape, Stroke, Text

_DASH = (4.2, 2.1)
#: Inside of a frame, from its top to what is in it.
_TOP = 5 * GRID
_BOTTOM = 2 * GRID
_SIDE = 16.0
#: A line has so many bands at most; each further loop makes it wider.
_BANDS = 3
# Names of pins: no connector's name begins so.
_IN, _OUT = "\0in:", "\0out:"


@dataclass(frozen=True, slots=True)
class Placed:
    """A level that was laid out: its shapes, its size, and the heights of its own connectors."""

    shapes: Sequence[Shape]
    width: float
    height: float
    inputs: Mapping[str, float]
    outputs: Mapping[str, float]


def place(level: Level, depth: int = 0, least: float = 0.0, edge: str = "") -> Placed:
    """Lay out a level and paint it.

    Parameters
    ----------
    level
        What is in a system.
    depth
        How many frames are around it.
    least
        Width that it has at least.
    edge
        Colour of the marks of its own connectors on the frame around it.
    """
    nested = {
        name: place(part.level, depth + 1, head_width(part), colours(part)[1])
        for name, part in level.parts.items()
        if part.level is not None
    }
    boxes = {
        name: _frame(name, nested[name]) if name in nested else box_of(name, part)
        for name, part in level.parts.items()
    }
    pins = {_IN + port.name: (port, "left") for port in level.inputs}
    pins |= {_OUT + port.name: (port, "right") for port in level.outputs}
    boxes |= {name: pin_of(name, port, side) for name, (port, side) in pins.items()}
    wires = [_wire(line) for line in level.lines]
    left = 0.0 if level.inputs or not edge else _SIDE
    right = 0.0 if level.outputs or not edge else _SIDE
    laid = lay_out_islands(boxes, wires, least - left - right)
    shapes: list[Shape] = [
        *_halos(level.lines, laid),
        *_lines(level.lines, laid),
        *(
            _part(part, boxes[name], laid.corners[name], nested.get(name), depth)
            for name, part in level.parts.items()
        ),
        *_pins(pins, boxes, laid, edge),
    ]
    heights = {name: laid.corners[name][1] + GRID for name in pins}
    return Placed(
        [Group("inside", shapes, at=(left, 0.0))] if left else shapes,
        laid.width + left + right,
        GRID * -(-laid.height // GRID),
        {port.name: heights[_IN + port.name] for port in level.inputs},
        {port.name: heights[_OUT + port.name] for port in level.outputs},
    )


def _frame(name: str, inner: Placed) -> Box:
    return Box(
        name,
        inner.width,
        _TOP + inner.height + _BOTTOM,
        {port: _TOP + y for port, y in inner.inputs.items()},
        {port: _TOP + y for port, y in inner.outputs.items()},
    )


def _wire(line: Line) -> Wire:
    room = width_of(line.label, LABEL_SIZE, bold=True) + 8 if line.label else 0.0
    return Wire(_end(line.source, _IN), _end(line.target, _OUT), room)


def _end(end: Endpoint, own: str) -> tuple[str, str]:
    return (end.component or own + end.connector, end.connector)


def _part(part: Part, box: Box, corner: Point, inner: Placed | None, depth: int) -> Group:
    data = {"part": part.path}
    if inner is None:
        return Group("part", [*paint_box(part, box, corner)], data, part.path)
    content = Group("content", inner.shapes, at=(corner[0], corner[1] + _TOP))
    return Group("frame", [*paint_frame(part, box, corner, depth), content], data, part.path)


def _pins(
    pins: Mapping[str, tuple[Port, str]], boxes: Mapping[str, Box], laid: Layout, edge: str
) -> Iterator[Shape]:
    for name, (port, side) in pins.items():
        x, y = laid.corners[name]
        at = (x, y + GRID) if side == "left" else (x + boxes[name].width, y + GRID)
        yield Group("pin", [*paint_port(port, at, 1 if side == "left" else -1, edge or INK)])


def _halos(lines: Sequence[Line], laid: Layout) -> Iterator[Shape]:
    """Bands along lines that belong to loops, the outer ones first."""
    for band in reversed(range(_BANDS)):
        for line, way in zip(lines, laid.ways, strict=True):
            if band < len(line.loops):
                loop = line.loops[band]
                dash = BROKEN if loop in line.algebraic else ()
                stroke = Stroke(way, colour_of(loop), 5.0 + 3.0 * band, dash)
                yield Group("halo", [stroke], {"loop": str(loop), "of": line.key})


def _lines(lines: Sequence[Line], laid: Layout) -> Iterator[Shape]:
    """Lines with arrow heads and labels; what several share is solid if one of them is."""
    looks = {line.key: _look(line) for line in lines}
    order = sorted(range(len(lines)), key=lambda number: not lines[number].late)
    for number in order:
        line, way = lines[number], laid.ways[number]
        colour, width, dash = looks[line.key]
        end = (way[-1][0] - 7, way[-1][1])
        shapes: list[Shape] = [
            Stroke((*way[:-1], end), colour, width, dash),
            arrow(way[-1], colour),
        ]
        if line.label:
            shapes += _label(line.label, laid.labels[number], colour)
        data = {"wire": line.key}
        title = line.key + (f" ({line.label})" if line.label else "")
        yield Group("wire", shapes, data, title)
    colour_at: dict[tuple[str, str], str] = {}
    for number in order:
        line = lines[number]
        colour_at[_end(line.source, _IN)] = looks[line.key][0]
    yield Group("dots", [dot(at, colour_at[source]) for at, source in laid.dots])


def _look(line: Line) -> tuple[str, float, tuple[float, ...]]:
    """Colour, width and dashes of a line."""
    colour = LATE if line.late else INK
    if line.mark:
        colour = MARKS[line.mark][1]
    return colour, 2.2 if line.mark else 1.3, _DASH if line.late else ()


def _label(text: str, at: Point, colour: str) -> list[Shape]:
    width = width_of(text, LABEL_SIZE, bold=True) + 4
    return [
        Rectangle(at[0] - width / 2, at[1] - 5, width, 10, PAPER, radius=2.0),
        Text(*at, text, LABEL_SIZE, colour, "middle", bold=True),
    ]
