"""Parts of a diagram that no wire joins: each laid out on its own, then put side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from orchestrator.core.system.loops.rings import islands
from orchestrator.pictures.drawing.layout.layout import Layout, lay_out
from orchestrator.pictures.drawing.layout.shape import GRID, Box, Point, Wire

_GAP = 5 * GRID
#: Width over height that a drawing of many parts should have.
_ASPECT = 1.5


@dataclass(slots=True)
class _Shelf:
    """A row of islands; those on it stand below each other while there is room."""

    top: float
    height: float
    right: float = 0.0
    #: Left end, width and height of the last stack of islands.
    stack: tuple[float, float, float] = (0.0, 0.0, 0.0)


def lay_out_islands(boxes: Mapping[str, Box], wires: Sequence[Wire], least: float = 0.0) -> Layout:
    """Lay out a diagram as :func:`lay_out` does, islands without a wire between them apart.

    With pins on the border everything is one diagram.
    """
    parts = islands(list(boxes), ((wire.source[0], wire.target[0]) for wire in wires))
    if len(parts) < 2 or any(box.pin for box in boxes.values()):
        return lay_out(boxes, wires, least)
    members = {name: i for i, names in enumerate(parts) for name in names}
    numbers: list[list[int]] = [[] for _ in parts]
    for number, wire in enumerate(wires):
        numbers[members[wire.source[0]]].append(number)
    laid = [
        lay_out({name: boxes[name] for name in names}, [wires[n] for n in inside])
        for names, inside in zip(parts, numbers, strict=True)
    ]
    corners = _packed([(part.width, part.height) for part in laid])
    return _joined(laid, corners, numbers, least)


def _packed(sizes: Sequence[Point]) -> list[Point]:
    """Places for rectangles: on shelves, the highest first, low ones stacked on a shelf."""
    area = sum((width + _GAP) * (height + _GAP) for width, height in sizes)
    limit = max(sqrt(area * _ASPECT), *(width for width, _ in sizes))
    corners: dict[int, Point] = {}
    shelves: list[_Shelf] = []
    for number in sorted(range(len(sizes)), key=lambda n: (-sizes[n][1], n)):
        corners[number] = _put(shelves, sizes[number], limit)
    return [corners[number] for number in range(len(sizes))]


def _put(shelves: list[_Shelf], size: Point, limit: float) -> Point:
    width, height = size
    for shelf in shelves:
        x, wide, high = shelf.stack
        if high and high + _GAP + height <= shelf.height and x + max(wide, width) <= limit:
            shelf.stack = (x, max(wide, width), high + _GAP + height)
            shelf.right = x + max(wide, width)
            return (x, shelf.top + high + _GAP)
        if shelf.right + _GAP + width <= limit:
            x = shelf.right + _GAP
            shelf.stack = (x, width, height)
            shelf.right = x + width
            return (x, shelf.top)
    top = shelves[-1].top + shelves[-1].height + _GAP if shelves else 0.0
    shelves.append(_Shelf(top, height, width, (0.0, width, height)))
    return (0.0, top)


def _joined(
    laid: Sequence[Layout],
    corners: Sequence[Point],
    numbers: Sequence[Sequence[int]],
    least: float,
) -> Layout:
    places: dict[str, Point] = {}
    ways: dict[int, tuple[Point, ...]] = {}
    labels: dict[int, Point] = {}
    dots: list[tuple[Point, tuple[str, str]]] = []
    for part, (dx, dy), inside in zip(laid, corners, numbers, strict=True):
        places |= {name: (x + dx, y + dy) for name, (x, y) in part.corners.items()}
        dots += [((x + dx, y + dy), source) for (x, y), source in part.dots]
        for number, way, (x, y) in zip(inside, part.ways, part.labels, strict=True):
            ways[number] = tuple((px + dx, py + dy) for px, py in way)
            labels[number] = (x + dx, y + dy)
    count = sum(map(len, numbers))
    return Layout(
        places,
        tuple(ways[number] for number in range(count)),
        tuple(labels[number] for number in range(count)),
        tuple(dots),
        max([least, *(x + part.width for part, (x, _) in zip(laid, corners, strict=True))]),
        max(y + part.height for part, (_, y) in zip(laid, corners, strict=True)),
    )
