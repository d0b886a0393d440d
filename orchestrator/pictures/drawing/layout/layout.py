"""Where boxes and lines of a block diagram stand (points, y down).

Columns by longest path, rows by barycentre, lines orthogonal. All wires of one output are one tree:
a vertical piece on a track of its own in each channel between two columns, and a place of its own
where it passes a column. Wires that lead back pass the columns between the boxes as well, so that
no line lies on another, and none runs through a box or a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.pictures.drawing.layout.channels import Leg, tracked
from orchestrator.pictures.drawing.layout.columns import (
    Net,
    Slot,
    initial_columns,
    links_of,
    nets_of,
    turns_of,
)
from orchestrator.pictures.drawing.layout.heights import Heights
from orchestrator.pictures.drawing.layout.ordering import Ordering
from orchestrator.pictures.drawing.layout.ranks import columns_of
from orchestrator.pictures.drawing.layout.shape import PASS_HEIGHT, Box, Point, Wire

_TRACK = 10.0
_STUB = 14.0
_ARROW = 13.0


@dataclass(frozen=True, slots=True)
class Layout:
    """A placed diagram; it begins at 0 on the left and at the top.

    Parameters
    ----------
    corners
        Left and top of every box.
    ways
        Corners of every wire from its output to its input.
    labels
        Middle of the room for every wire's label, in front of the arrow head.
    dots
        Where wires of one output part, with the box and port of the output.
    width, height
        Extent.
    """

    corners: dict[str, Point]
    ways: tuple[tuple[Point, ...], ...]
    labels: tuple[Point, ...]
    dots: tuple[tuple[Point, tuple[str, str]], ...]
    width: float
    height: float


def lay_out(boxes: Mapping[str, Box], wires: Sequence[Wire], least: float = 0.0) -> Layout:
    """Place boxes and route wires."""
    if not boxes:
        return Layout({}, (), (), (), least, 0.0)
    return _Placing(boxes, wires, least).layout()


class _Placing:
    def __init__(self, boxes: Mapping[str, Box], wires: Sequence[Wire], least: float) -> None:
        self._boxes, self._wires = boxes, wires
        self._layer = columns_of(boxes, wires)
        self._nets = nets_of(wires, self._layer)
        self._net_of = {number: net for net in self._nets for number in net.wires}
        links = links_of(self._nets, wires, boxes, self._layer)
        heights: dict[Slot, float] = {name: box.height for name, box in boxes.items()}
        heights |= {(n.number, c): PASS_HEIGHT for n in self._nets for c in n.passes}
        columns = initial_columns(boxes, self._nets, self._layer, wires)
        turns = turns_of(self._nets, wires, boxes, self._layer)
        self._columns = Ordering(columns, links, heights, turns).columns
        pins = frozenset(name for name, box in boxes.items() if box.pin)
        self._heights = Heights(self._columns, links, heights, pins)
        legs: list[list[Leg]] = [[] for _ in range(len(self._columns) + 1)]
        for net in self._nets:
            for channel in net.channels:
                legs[channel].append(self._leg(net, channel))
        self._channels = [tracked(channel) for channel in legs]
        self._corners: dict[str, Point] = {}
        self._tracks: dict[tuple[int, int], list[tuple[float, Leg]]] = {}
        width = self._widen()
        self._width = max(width, least)
        for name, box in boxes.items():
            if box.pin == "right":
                x, y = self._corners[name]
                self._corners[name] = (x + self._width - width, y)

    def layout(self) -> Layout:
        """Put everything together."""
        ways = tuple(self._way(number) for number in range(len(self._wires)))
        labels = tuple(
            (way[-1][0] - _ARROW + 4 - wire.room / 2, way[-1][1])
            for way, wire in zip(ways, self._wires, strict=True)
        )
        dots = tuple(
            (dot, self._nets[leg.net].source)
            for legs in self._tracks.values()
            for x, leg in legs
            for dot in _dots(x, leg)
        )
        return Layout(self._corners, ways, labels, dots, self._width, self._heights.bottom)

    def _port(self, side: str, end: tuple[str, str]) -> float:
        box = self._boxes[end[0]]
        return self._heights.top[end[0]] + (box.outputs if side == "out" else box.inputs)[end[1]]

    def _pass(self, net: Net, column: int) -> float:
        return self._heights.top[net.number, column] + PASS_HEIGHT / 2

    def _leg(self, net: Net, channel: int) -> Leg:
        """The piece of a net in one of its channels."""
        lefts: list[float] = []
        rights: list[float] = []
        if channel == net.start + 1:
            lefts.append(self._port("out", net.source))
        if net.passes_by(channel - 1):
            lefts.append(self._pass(net, channel - 1))
        if net.passes_by(channel):
            rights.append(self._pass(net, channel))
        rights += [
            self._port("in", self._wires[number].target)
            for number in net.wires
            if self._layer[self._wires[number].target[0]] == channel
        ]
        return Leg(net.number, tuple(lefts), tuple(rights))

    def _widen(self) -> float:
        """Give columns and tracks their places from left to right; return the whole width."""
        rooms = [0.0] * len(self._columns)
        for wire in self._wires:
            column = self._layer[wire.target[0]]
            rooms[column] = max(rooms[column], wire.room + _ARROW)
        x = 0.0
        for i, legs in enumerate(self._channels):
            x += _STUB if legs or (i and i < len(self._columns)) else 0.0
            for track, leg in legs:
                self._tracks.setdefault((leg.net, i), []).append((x + track * _TRACK, leg))
            x += _TRACK * max((track + 1 for track, _ in legs), default=0)
            if i < len(self._columns):
                x = self._put(i, x + rooms[i])
        return x

    def _put(self, column: int, x: float) -> float:
        here = [self._boxes[slot] for slot in self._columns[column] if isinstance(slot, str)]
        width = max(box.width for box in here)
        for box in here:
            spare = {"left": 0.0, "right": width - box.width}.get(
                box.pin, round((width - box.width) / 2)
            )
            self._corners[box.name] = (x + spare, self._heights.top[box.name])
        return x + width

    def _way(self, number: int) -> tuple[Point, ...]:
        """Corners of one wire: through the channels from its source to its target."""
        net, wire = self._net_of[number], self._wires[number]
        source, target = self._boxes[wire.source[0]], wire.target[0]
        end = self._layer[target]
        y = self._port("out", wire.source)
        way = [(self._corners[source.name][0] + source.width, y)]
        forward = end > net.start
        channels = (
            range(net.start + 1, end + 1)
            if forward
            else [net.start + 1, *range(net.start, end - 1, -1)]
        )
        for channel in channels:
            if channel == end and (forward or channel <= net.start):
                leaves = self._port("in", wire.target)
            else:
                leaves = self._pass(net, channel if forward else channel - 1)
            turning = not forward and channel in {net.start + 1, end}
            way += self._through(net, channel, y, leaves, turning=turning)
            y = leaves
        way.append((self._corners[target][0], y))
        return _merged(way)

    def _through(
        self, net: Net, channel: int, enters: float, leaves: float, *, turning: bool
    ) -> list[Point]:
        legs = self._tracks.get((net.number, channel), [])
        if len(legs) == 2 and not turning:
            (x0, first), (x1, _) = sorted(legs, key=lambda item: item[1].part)
            middle = first.rights[0]
            points = [(x0, enters), (x0, middle), (x1, middle), (x1, leaves)]
            return points if channel > net.start else _backward(x0, x1, enters, middle, leaves)
        if not legs:
            return []
        x = min(legs, key=lambda item: item[1].part if channel == net.start + 1 else -item[1].part)[
            0
        ]
        return [(x, enters), (x, leaves)]


def _backward(x0: float, x1: float, enters: float, middle: float, leaves: float) -> list[Point]:
    """A line that comes from the right passes two legs that follow each other."""
    return [(x1, enters), (x1, middle), (x0, middle), (x0, leaves)]


def _merged(way: Sequence[Point]) -> tuple[Point, ...]:
    """Leave out corners that are none."""
    kept: list[Point] = []
    for point in way:
        if kept and point == kept[-1]:
            continue
        if len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if a[0] == b[0] == point[0] or a[1] == b[1] == point[1]:
                kept.pop()
        kept.append(point)
    return tuple(kept)


def _dots(x: float, leg: Leg) -> list[Point]:
    """Heights of a vertical piece at which three lines or more meet."""
    found = []
    for y in sorted({*leg.lefts, *leg.rights}):
        meeting = (y in leg.lefts) + (y in leg.rights) + (y > leg.low) + (y < leg.high)
        if meeting > 2:
            found.append((x, y))
    return found
