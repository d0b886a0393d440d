"""Wide diagrams folded into rows, as a text is: what leaves a row on the right enters the next."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import inf

from orchestrator.core.structs import MutableStruct, Struct, field
from orchestrator.pictures.drawing.columns import LayoutBox
from orchestrator.pictures.drawing.scene import Point

#: A diagram is folded if it is wider than this, in points; then its rows are about half as wide.
WIDEST = 3200.0
_ROW_WIDTH = 1600.0
#: Between two lines that run along a margin or between two rows, and at the edges of these.
_TRACK, _EDGE = 10.0, 16.0
#: Above and below a row, for what stands out of it.
_AIR = 8.0


class DiagramLayout(Struct):
    """A placed diagram; it begins at 0 on the left and at the top.

    corners: Left and top of every box.
    ways: Corners of every wire from its output to its input.
    labels: Middle of the room for every wire's label, in front of the arrow head.
    dots: Where wires of one output part, with the box and port of the output.
    width, height: Extent.
    """

    corners: dict[str, Point]
    ways: tuple[tuple[Point, ...], ...]
    labels: tuple[Point, ...]
    dots: tuple[tuple[Point, tuple[str, str]], ...]
    width: float
    height: float


class _Row(MutableStruct):
    """A stretch of a diagram from ``left`` to ``right``, and what it occupies.

    entering, leaving: Heights of the lines through its two ends, from the top down.
    dx, dy: By which it is moved.
    """

    left: float
    right: float
    top: float = inf
    bottom: float = -inf
    entering: list[float] = field(default_factory=list)
    leaving: list[float] = field(default_factory=list)
    dx: float = 0.0
    dy: float = 0.0

    def holds(self, low: float, high: float) -> None:
        self.top, self.bottom = min(self.top, low), max(self.bottom, high)


def folded(
    laid: DiagramLayout, cuts: Sequence[float], boxes: Mapping[str, LayoutBox]
) -> DiagramLayout:
    """Return a layout whose rows are not wider than they must be; one that is not wide stays.

    cuts: Increasing places in front of columns at which all lines are horizontal.
    boxes: By name, for their sizes.
    """
    if laid.width <= WIDEST:
        return laid
    ends = _ends(laid.width, cuts)
    if len(ends) < 3:
        return laid
    return _Folding(laid, ends, boxes).layout()


def _ends(width: float, cuts: Sequence[float]) -> list[float]:
    """Return both ends of the diagram and the cuts between rows, as few as the width asks for."""
    ends = [0.0]
    for here, following in itertools.pairwise([*cuts, width]):
        if following - ends[-1] > _ROW_WIDTH and here > ends[-1]:
            ends.append(here)
    return [*ends, width]


class _Folding:
    def __init__(
        self, laid: DiagramLayout, ends: Sequence[float], boxes: Mapping[str, LayoutBox]
    ) -> None:
        self._laid, self._inner = laid, ends[1:-1]
        self._rows = [_Row(a, b) for a, b in itertools.pairwise(ends)]
        through: list[set[float]] = [set() for _ in self._inner]
        for name, (x, y) in laid.corners.items():
            self._rows[self._row(x)].holds(y, y + boxes[name].height)
        for wire_path in laid.ways:
            for (x0, y0), (x1, y1) in itertools.pairwise(wire_path):
                low, high = sorted((self._row(x0), self._row(x1)))
                for number in range(low, high + 1):
                    self._rows[number].holds(min(y0, y1), max(y0, y1))
                for number in range(low, high):
                    through[number].add(y0)
        for number, heights in enumerate(through):
            self._rows[number].leaving = self._rows[number + 1].entering = sorted(heights)
        self._stack_rows()

    def _row(self, x: float) -> int:
        return bisect_right(self._inner, x)

    def _stack_rows(self) -> None:
        """Move the rows below each other, with room for the lines between and next to them."""
        longest = max(len(row.entering) for row in self._rows)
        self._margin = _TRACK * longest + _EDGE if longest else 0.0
        y = 0.0
        for row in self._rows:
            row.dx = self._margin - row.left
            row.dy = y + _AIR - row.top
            y += row.bottom - row.top + 2 * _AIR
            y += _TRACK * len(row.leaving) + (_EDGE if row.leaving else 0.0)
        self._height = y
        self._widest = self._margin + max(row.right - row.left for row in self._rows)

    def layout(self) -> DiagramLayout:
        """Put everything together."""
        laid = self._laid
        return DiagramLayout(
            {name: self._moved(corner) for name, corner in laid.corners.items()},
            tuple(self._folded(wire_path) for wire_path in laid.ways),
            tuple(self._moved(label) for label in laid.labels),
            tuple((self._moved(dot), source) for dot, source in laid.dots),
            self._widest + self._margin,
            self._height,
        )

    def _moved(self, point: Point, number: int | None = None) -> Point:
        row = self._rows[self._row(point[0]) if number is None else number]
        return (point[0] + row.dx, point[1] + row.dy)

    def _folded(self, wire_path: Sequence[Point]) -> tuple[Point, ...]:
        points = [self._moved(wire_path[0])]
        for before, after in itertools.pairwise(wire_path):
            here, there = self._row(before[0]), self._row(after[0])
            if here < there:
                for number in range(here, there):
                    points += self._turn(number, before[1])
            else:
                for number in range(here - 1, there - 1, -1):
                    points += self._turn(number, before[1])[::-1]
            points.append(self._moved(after))
        return tuple(points)

    def _turn(self, number: int, y: float) -> list[Point]:
        """Return the corners of a line from the right end of a row to the left end of the next.

        The topmost line is the outermost on the right and the innermost on the left, so that no two
        of them cross.
        """
        row, following = self._rows[number], self._rows[number + 1]
        track, count = row.leaving.index(y), len(row.leaving)
        right = self._widest + _EDGE / 2 + _TRACK * (count - 1 - track)
        left = self._margin - _EDGE / 2 - _TRACK * track
        low = row.bottom + row.dy + _AIR + _EDGE / 2
        between = low + _TRACK * (count - 1 - track)
        return [
            (right, y + row.dy),
            (right, between),
            (left, between),
            (left, y + following.dy),
        ]
