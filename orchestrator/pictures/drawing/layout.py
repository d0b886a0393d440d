"""Where boxes and lines of a block diagram stand (points, y down), part by part.

Columns by longest path, rows by barycentre, lines orthogonal. All wires of one output are one tree:
a vertical piece on a track of its own in each channel between two columns, and a place of its own
where it passes a column. Wires that lead back pass the columns between the boxes as well, so that
no line lies on another, and none runs through a box or a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, sqrt

from orchestrator.core.structs import MutableStruct
from orchestrator.core.system.loops import islands, ordered_rings
from orchestrator.pictures.drawing.columns import (
    GRID,
    PASS_HEIGHT,
    LayoutBox,
    Net,
    Ordering,
    Slot,
    Wire,
    initial_columns,
    links_of,
    nets_of,
    turns_of,
)
from orchestrator.pictures.drawing.folding import DiagramLayout, folded
from orchestrator.pictures.drawing.heights import Heights, Leg, tracked
from orchestrator.pictures.drawing.scene import Point

#: Number of wires by box of their source and of their target.
Weights = Mapping[tuple[str, str], int]
_SWEEPS = 6


def columns_of(boxes: Mapping[str, LayoutBox], wires: Sequence[Wire]) -> dict[str, int]:
    """Assign a column to every box, counted from 0 at the left, without empty columns.

    Pins stand in the first and the last column, alone. Boxes without wires fill up low columns.
    """
    weights: dict[tuple[str, str], int] = {}
    for wire in wires:
        ends = (wire.source[0], wire.target[0])
        weights[ends] = weights.get(ends, 0) + 1
    inner = [name for name, box in boxes.items() if not box.pin]
    used = {name for ends in weights for name in ends}
    joined = [name for name in inner if name in used]
    among = {ends: n for ends, n in weights.items() if not any(boxes[name].pin for name in ends)}
    layer = assign_layers(joined, among)
    alone = [name for name in inner if name not in used]
    wide = max(max(layer.values(), default=-1) + 1, ceil(sqrt(len(alone))))
    heights = [0.0] * wide
    for name, column in layer.items():
        heights[column] += boxes[name].height
    for name in alone:  # into the column that is lowest so far
        layer[name] = heights.index(min(heights))
        heights[layer[name]] += boxes[name].height
    if any(box.pin == "left" for box in boxes.values()):
        layer = {name: column + 1 for name, column in layer.items()}
    last = max(layer.values(), default=0) + 1
    layer |= {name: 0 for name, box in boxes.items() if box.pin == "left"}
    layer |= {name: last for name, box in boxes.items() if box.pin == "right"}
    numbering = {column: i for i, column in enumerate(sorted(set(layer.values())))}
    return {name: numbering[layer[name]] for name in boxes}


def assign_layers(names: Sequence[str], weights: Weights) -> dict[str, int]:
    """Column of every box: longest path over the wires that lead forward, then made short."""
    positions = {name: i for i, name in enumerate(forward_order(names, weights))}
    forward = {ends: n for ends, n in weights.items() if positions[ends[0]] < positions[ends[1]]}
    before: dict[str, list[str]] = {name: [] for name in names}
    after: dict[str, list[str]] = {name: [] for name in names}
    for a, b in forward:
        after[a].append(b)
        before[b].append(a)
    order = sorted(names, key=positions.__getitem__)
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = max((layer[neighbour] + 1 for neighbour in before[name]), default=0)
    for sweep in range(_SWEEPS):
        for name in order if sweep % 2 else order[::-1]:
            pulled = sum(forward[name, neighbour] for neighbour in after[name])
            held = sum(forward[neighbour, name] for neighbour in before[name])
            if pulled > held:
                layer[name] = min(layer[neighbour] for neighbour in after[name]) - 1
            elif held > pulled:
                layer[name] = max(layer[neighbour] for neighbour in before[name]) + 1
    return layer


def forward_order(names: Sequence[str], weights: Weights) -> list[str]:
    """Order boxes so that few wires lead back.

    Rings are ordered on their own: starting from the given order, boxes are moved one by one for as
    long as a move leaves fewer wires that lead back; of equal orders the given one stays.

    References
    ----------
    Eades, Lin, Smyth: A fast and effective heuristic for the feedback arc set problem (1993),
    for the purpose.
    """
    return [name for ring in ordered_rings(names, weights) for name in _ring_order(ring, weights)]


def _ring_order(names: Sequence[str], weights: Weights) -> Sequence[str]:
    order = names
    for _ in range(_SWEEPS if len(names) > 1 else 0):
        improved = False
        for name in names:
            here = order.index(name)
            remaining = [neighbour for neighbour in order if neighbour != name]
            # Cost of each place, but for what does not depend on it: passing a box turns its wires.
            cost = sum(weights.get((neighbour, name), 0) for neighbour in remaining)
            costs = [cost]
            for neighbour in remaining:
                cost += weights.get((name, neighbour), 0) - weights.get((neighbour, name), 0)
                costs.append(cost)
            best = min(costs)
            if best < costs[here]:
                remaining.insert(costs.index(best), name)
                order, improved = remaining, True
        if not improved:
            break
    return order


_TRACK = 10.0
_STUB = 14.0
_ARROW = 13.0


def lay_out(
    boxes: Mapping[str, LayoutBox], wires: Sequence[Wire], minimum_width: float = 0.0
) -> DiagramLayout:
    """Place boxes and route wires."""
    if not boxes:
        return DiagramLayout({}, (), (), (), minimum_width, 0.0)
    return _Placing(boxes, wires, minimum_width).layout()


class _Placing:
    def __init__(
        self, boxes: Mapping[str, LayoutBox], wires: Sequence[Wire], minimum_width: float
    ) -> None:
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
        self._width = max(width, minimum_width)
        for name, box in boxes.items():
            if box.pin == "right":
                x, y = self._corners[name]
                self._corners[name] = (x + self._width - width, y)

    def layout(self) -> DiagramLayout:
        """Put everything together."""
        ways = tuple(self._corners_of(number) for number in range(len(self._wires)))
        labels = tuple(
            (wire_path[-1][0] - _ARROW + 4 - wire.room / 2, wire_path[-1][1])
            for wire_path, wire in zip(ways, self._wires, strict=True)
        )
        dots = tuple(
            (dot, self._nets[leg.net].source)
            for legs in self._tracks.values()
            for x, leg in legs
            for dot in _dots(x, leg)
        )
        laid = DiagramLayout(self._corners, ways, labels, dots, self._width, self._heights.bottom)
        if any(box.pin for box in self._boxes.values()):
            return laid  # its ends belong to the frame around it
        return folded(laid, self._cuts, self._boxes)

    def _output(self, end: tuple[str, str]) -> float:
        return self._heights.top[end[0]] + self._boxes[end[0]].outputs[end[1]]

    def _input(self, end: tuple[str, str]) -> float:
        return self._heights.top[end[0]] + self._boxes[end[0]].inputs[end[1]]

    def _pass(self, net: Net, column: int) -> float:
        return self._heights.top[net.number, column] + PASS_HEIGHT / 2

    def _leg(self, net: Net, channel: int) -> Leg:
        """The piece of a net in one of its channels."""
        lefts: list[float] = []
        rights: list[float] = []
        if channel == net.start + 1:
            lefts.append(self._output(net.source))
        if net.passes_by(channel - 1):
            lefts.append(self._pass(net, channel - 1))
        if net.passes_by(channel):
            rights.append(self._pass(net, channel))
        rights += [
            self._input(self._wires[number].target)
            for number in net.wires
            if self._layer[self._wires[number].target[0]] == channel
        ]
        return Leg(net.number, tuple(lefts), tuple(rights))

    def _widen(self) -> float:
        """Give columns and tracks their places from left to right; return the whole width."""
        rooms = [0.0] * len(self._columns)
        self._cuts: list[float] = []
        for wire in self._wires:
            column = self._layer[wire.target[0]]
            rooms[column] = max(rooms[column], wire.room + _ARROW)
        x = 0.0
        for i, legs in enumerate(self._channels):
            x += _STUB if legs or (i and i < len(self._columns)) else 0.0
            if 0 < i < len(self._columns):
                self._cuts.append(x - _STUB / 2)
            for track, leg in legs:
                self._tracks.setdefault((leg.net, i), []).append((x + track * _TRACK, leg))
            x += _TRACK * max((track + 1 for track, _ in legs), default=0)
            if i == len(self._columns):
                break
            x += rooms[i]
            here = [self._boxes[slot] for slot in self._columns[i] if isinstance(slot, str)]
            width = max(box.width for box in here)
            for box in here:
                spare = width - box.width
                at = {"left": 0.0, "right": spare}.get(box.pin, round(spare / 2))
                self._corners[box.name] = (x + at, self._heights.top[box.name])
            x += width
        return x

    def _corners_of(self, number: int) -> tuple[Point, ...]:
        """Corners of one wire: through the channels from its source to its target."""
        net, wire = self._net_of[number], self._wires[number]
        source, target = self._boxes[wire.source[0]], wire.target[0]
        end = self._layer[target]
        y = self._output(wire.source)
        points = [(self._corners[source.name][0] + source.width, y)]
        forward = end > net.start
        channels = (
            range(net.start + 1, end + 1)
            if forward
            else [net.start + 1, *range(net.start, end - 1, -1)]
        )
        for channel in channels:
            if channel == end and (forward or channel <= net.start):
                leaves = self._input(wire.target)
            else:
                leaves = self._pass(net, channel if forward else channel - 1)
            turning = not forward and channel in {net.start + 1, end}
            points += self._through(net, channel, y, leaves, turning=turning)
            y = leaves
        points.append((self._corners[target][0], y))
        return _merged(points)

    def _through(
        self, net: Net, channel: int, enters: float, leaves: float, *, turning: bool
    ) -> list[Point]:
        legs = self._tracks.get((net.number, channel), [])
        if len(legs) == 2 and not turning:
            (x0, first), (x1, _) = sorted(legs, key=lambda item: item[1].part)
            middle = first.rights[0]
            if channel <= net.start:  # it comes from the right
                x0, x1 = x1, x0
            return [(x0, enters), (x0, middle), (x1, middle), (x1, leaves)]
        if not legs:
            return []
        by_part = sorted(legs, key=lambda item: item[1].part)
        x, _ = by_part[0 if channel == net.start + 1 else -1]
        return [(x, enters), (x, leaves)]


def _merged(points: Sequence[Point]) -> tuple[Point, ...]:
    """Leave out corners that are none."""
    merged: list[Point] = []
    for point in points:
        if merged and point == merged[-1]:
            continue
        if len(merged) > 1:
            a, b = merged[-2], merged[-1]
            if a[0] == b[0] == point[0] or a[1] == b[1] == point[1]:
                merged.pop()
        merged.append(point)
    return tuple(merged)


def _dots(x: float, leg: Leg) -> list[Point]:
    """Heights of a vertical piece at which three lines or more meet."""
    return [
        (x, y)
        for y in sorted({*leg.lefts, *leg.rights})
        if (y in leg.lefts) + (y in leg.rights) + (y > leg.low) + (y < leg.high) > 2
    ]


_GAP = 5 * GRID
#: Width over height that a drawing of many parts should have.
_ASPECT = 1.5


class _Shelf(MutableStruct):
    """A row of islands; those on it stand below each other while there is room."""

    top: float
    height: float
    right: float = 0.0
    #: Left end, width and height of the last stack of islands.
    stack: tuple[float, float, float] = (0.0, 0.0, 0.0)


def lay_out_islands(
    boxes: Mapping[str, LayoutBox], wires: Sequence[Wire], minimum_width: float = 0.0
) -> DiagramLayout:
    """Lay out a diagram as :func:`lay_out` does, islands without a wire between them apart.

    With pins on the border everything is one diagram.
    """
    parts = islands(list(boxes), ((wire.source[0], wire.target[0]) for wire in wires))
    if len(parts) < 2 or any(box.pin for box in boxes.values()):
        return lay_out(boxes, wires, minimum_width)
    members = {name: i for i, names in enumerate(parts) for name in names}
    numbers: list[list[int]] = [[] for _ in parts]
    for number, wire in enumerate(wires):
        numbers[members[wire.source[0]]].append(number)
    laid = [
        lay_out({name: boxes[name] for name in names}, [wires[n] for n in inside])
        for names, inside in zip(parts, numbers, strict=True)
    ]
    corners: dict[str, Point] = {}
    ways: dict[int, tuple[Point, ...]] = {}
    labels: dict[int, Point] = {}
    dots: list[tuple[Point, tuple[str, str]]] = []
    width, height = minimum_width, 0.0
    offsets = _packed([(part.width, part.height) for part in laid])
    for part, (dx, dy), inside in zip(laid, offsets, numbers, strict=True):
        corners |= {name: (x + dx, y + dy) for name, (x, y) in part.corners.items()}
        dots += [((x + dx, y + dy), source) for (x, y), source in part.dots]
        for number, wire_path, (x, y) in zip(inside, part.ways, part.labels, strict=True):
            ways[number] = tuple((px + dx, py + dy) for px, py in wire_path)
            labels[number] = (x + dx, y + dy)
        width, height = max(width, dx + part.width), max(height, dy + part.height)
    indices = range(len(wires))
    parts_of_layout = (
        tuple(ways[n] for n in indices),
        tuple(labels[n] for n in indices),
        tuple(dots),
    )
    return DiagramLayout(corners, *parts_of_layout, width, height)


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
