"""Parts as boxes: how large they are, and what is painted of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orchestrator.pictures.drawing.layout.measure import width_of
from orchestrator.pictures.drawing.layout.shape import PASS_HEIGHT, Box, Point
from orchestrator.pictures.drawing.scene.palette import (
    FRAMES,
    HEAD,
    INK,
    KINDS,
    MARKS,
    NAME_SIZE,
    PALE,
    PAPER,
    PORT_SIZE,
    QUIET,
    ROW,
    SOURCE_SIZE,
)
from orchestrator.pictures.drawing.scene.parts import Part, Port
from orchestrator.pictures.drawing.scene.scene import Disc, Polygon, Rectangle, Shape, Text

_SIDE = 9.0
_MIDDLE = 20.0
_LEAST = 96.0
_ROUND = 5.0
_PORT = 7.0


def box_of(name: str, part: Part) -> Box:
    """Measure a part that is drawn closed."""
    rows = _widest(part.inputs) + _widest(part.outputs) + _MIDDLE
    return Box(
        name,
        max(_LEAST, rows + 2 * _SIDE, head_width(part)),
        HEAD + ROW * max(1, len(part.inputs), len(part.outputs)) + 8.0,
        _offsets(part.inputs),
        _offsets(part.outputs),
    )


def head_width(part: Part) -> float:
    """Width that the two lines of a head need, with room for the number of the step."""
    step = width_of(part.step, SOURCE_SIZE, bold=True) + 22 if part.step else 0.0
    name = width_of(part.name, NAME_SIZE, bold=True) + 2 * step
    return max(name, width_of(part.source, SOURCE_SIZE) + step) + 2 * _SIDE


def _widest(ports: Iterable[Port]) -> float:
    return max((width_of(port.text, PORT_SIZE) for port in ports), default=0.0)


def _offsets(ports: Sequence[Port]) -> dict[str, float]:
    return {port.name: HEAD + ROW * (i + 0.5) for i, port in enumerate(ports)}


def pin_of(name: str, port: Port, side: str) -> Box:
    """Box of a connector of the system itself, on its border."""
    width = width_of(port.text, PORT_SIZE) + 2 * _PORT
    height = {port.name: PASS_HEIGHT / 2}
    if side == "left":
        return Box(name, width, PASS_HEIGHT, {}, height, "left")
    return Box(name, width, PASS_HEIGHT, height, {}, "right")


def paint_box(part: Part, box: Box, corner: Point) -> Iterator[Shape]:
    """Paint a part that is drawn closed."""
    x, y = corner
    fill, edge = colours(part)
    yield Rectangle(x, y, box.width, box.height, PAPER, radius=_ROUND)
    yield Rectangle(x, y, box.width, HEAD, fill, radius=_ROUND)
    yield Rectangle(x, y + HEAD - _ROUND, box.width, _ROUND, fill)
    yield _outline(part, x, y, box.width, box.height, edge)
    yield from paint_head(part, x, y, box.width)
    for ports, at, inward in ((part.inputs, x, 1), (part.outputs, x + box.width, -1)):
        for i, port in enumerate(ports):
            yield from paint_port(port, (at, y + HEAD + ROW * (i + 0.5)), inward, edge)


def paint_frame(part: Part, box: Box, corner: Point, depth: int) -> Iterator[Shape]:
    """Paint the frame of a nested system, without what is in it."""
    x, y = corner
    _, edge = colours(part)
    yield Rectangle(x, y, box.width, box.height, FRAMES[depth % 2], radius=_ROUND)
    yield _outline(part, x, y, box.width, box.height, edge)
    yield from paint_head(part, x, y, box.width)


def colours(part: Part) -> tuple[str, str]:
    """Fill of the head, and edge."""
    if part.mark:
        return MARKS[part.mark]
    return KINDS[part.kind][:2]


def _outline(part: Part, x: float, y: float, width: float, height: float, edge: str) -> Rectangle:
    thick = 2.0 if part.mark else 1.2
    dashed = part.mark == "removed"
    return Rectangle(x, y, width, height, "", edge, thick, _ROUND, dashed=dashed)


def paint_head(part: Part, x: float, y: float, width: float) -> Iterator[Shape]:
    """Paint name and source, and the number of the step at the left of them."""
    middle = x + width / 2
    yield Text(middle, y + 11, part.name, NAME_SIZE, INK, "middle", bold=True)
    yield Text(middle, y + 24, part.source, SOURCE_SIZE, QUIET, "middle")
    if part.step:
        wide = max(14.0, width_of(part.step, SOURCE_SIZE, bold=True) + 7)
        edge = colours(part)[1]
        yield Rectangle(x + 5, y + 4, wide, 14, PAPER, edge, 0.9, 7.0)
        yield Text(x + 5 + wide / 2, y + 11, part.step, SOURCE_SIZE, edge, "middle", bold=True)


def paint_port(port: Port, at: Point, inward: int, edge: str) -> Iterator[Shape]:
    """Paint a mark on an edge and the port's text inside; ``inward`` is 1 on a left edge."""
    x, y = at
    colour = INK if port.connected else PALE
    yield Text(
        x + _PORT * inward, y, port.text, PORT_SIZE, colour, "start" if inward > 0 else "end"
    )
    if port.name:
        yield Rectangle(x - 2.5, y - 2.5, 5, 5, edge if port.connected else PAPER, edge, 0.8)


def arrow(tip: Point, colour: str) -> Polygon:
    """Head of an arrow that points to the right at a port."""
    x, y = tip[0] - 2.5, tip[1]
    return Polygon(((x, y), (x - 7, y - 3.2), (x - 7, y + 3.2)), colour)


def dot(at: Point, colour: str) -> Disc:
    """Mark where lines part."""
    return Disc(*at, 2.1, colour)
