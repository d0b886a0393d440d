"""Where boxes and lines of a block diagram stand (points, y down).

Columns by longest path, rows by barycentre, lines orthogonal: every vertical piece has its own
track between two columns, and what leads back has its own lane above or below all boxes, so that
no line lies on another or runs through a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.recording.boxes import Box
from orchestrator.recording.routing import Leg, order_tracks, overlaps
from orchestrator.recording.rows import Rows
from orchestrator.system import Connection

Point = tuple[float, float]
_LANE = 13.0
_TRACK = 9.0
_STUB = 14.0
_ARROW = 13.0


@dataclass(frozen=True, slots=True)
class Line:
    """The way of one connection.

    Parameters
    ----------
    points
        Corners from the output to the input; where several connections leave one output, from
        where it branches off.
    label
        Middle of the room for a label, in front of the arrow head.
    """

    points: tuple[Point, ...]
    label: Point


@dataclass(frozen=True, slots=True)
class Trunk:
    """What several connections of one output share.

    Parameters
    ----------
    members
        Numbers of the connections.
    start
        The output.
    dots
        Where a connection branches off; the trunk ends at the last.
    """

    members: tuple[int, ...]
    start: Point
    dots: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A placed diagram.

    Parameters
    ----------
    corners
        Left and top of every box, by component.
    lines
        One for every connection, in the same order.
    trunks
        One for every output with several connections.
    top, right, bottom
        Extent of the whole; it begins at 0 on the left.
    """

    corners: dict[str, Point]
    lines: tuple[Line, ...]
    trunks: tuple[Trunk, ...]
    top: float
    right: float
    bottom: float


def lay_out(
    boxes: Mapping[str, Box], connections: Sequence[Connection], label_widths: Sequence[float]
) -> Layout:
    """Place boxes and route connections.

    Parameters
    ----------
    boxes
        By component.
    connections
        Both ends must be ports of the boxes.
    label_widths
        Room that each connection's label needs in front of its arrow head, 0 if it has none.
    """
    rows = Rows(boxes, connections)
    for _ in range(1 + 2 * len(rows.columns)):
        lanes, top, bottom = _lanes(rows, connections)
        legs = [_legs(rows, number, line, lanes) for number, line in enumerate(connections)]
        channels = [
            order_tracks([leg for way in legs for leg in way if leg.channel == i])
            for i in range(len(rows.columns) + 1)
        ]
        # Two lines that swap heights lie on each other whatever the order of their tracks.
        clash = next((i for i, channel in enumerate(channels) if overlaps(channel)), None)
        if clash is None:
            break
        rows.nudge(min(clash, len(rows.columns) - 1))
    x = 0.0
    tracks: dict[tuple[int, int], float] = {}
    corners: dict[str, Point] = {}
    for i, channel in enumerate(channels):
        x += _STUB if channel or i else 0.0
        for leg in channel:
            tracks[leg.number, i] = x
            x += _TRACK
        if i == len(rows.columns):
            break
        arriving = [
            n for n, line in enumerate(connections) if rows.layer[line.target.component] == i
        ]
        x += max((label_widths[n] + _ARROW for n in arriving), default=0.0)
        here = [name for name in rows.columns[i] if name in boxes]
        width = max(boxes[name].width for name in here)
        corners |= {name: (x + (width - boxes[name].width) / 2, rows.top[name]) for name in here}
        x += width
    lines, trunks = _lines(connections, legs, tracks, corners, boxes, label_widths)
    return Layout(corners, lines, trunks, top, x, bottom)


def _lanes(rows: Rows, connections: Sequence[Connection]) -> tuple[dict[int, float], float, float]:
    """Heights of the lanes of connections that lead back, and the extent of the drawing.

    Short ones run inside of long ones; of equal ones, the outer port has the inner lane.
    """
    above: list[tuple[int, float, int]] = []
    below: list[tuple[int, float, int]] = []
    for number, line in enumerate(connections):
        span = rows.layer[line.source.component] - rows.layer[line.target.component]
        start = rows.ends(line)[0]
        if span >= 0 and rows.leans_up(line):
            above.append((span, start, number))
        elif span >= 0:
            below.append((span, -start, number))
    lanes = {number: -_LANE * (i + 1.2) for i, (_, _, number) in enumerate(sorted(above))}
    lanes |= {
        number: rows.bottom + _LANE * (i + 1.2) for i, (_, _, number) in enumerate(sorted(below))
    }
    return lanes, min([0.0, *lanes.values()]), max([rows.bottom, *lanes.values()])


def _legs(rows: Rows, number: int, line: Connection, lanes: Mapping[int, float]) -> list[Leg]:
    first, last = rows.layer[line.source.component], rows.layer[line.target.component]
    net = str(line.source)
    start, end = rows.ends(line)
    if number in lanes:
        lane = lanes[number]
        out = Leg(number, net, first + 1, start, lane, from_left=True, to_right=False)
        back = Leg(number, net, last, lane, end, from_left=False, to_right=True)
        return [out, back]
    heights = [start, *rows.passes(number), end]
    return [
        Leg(number, net, first + 1 + i, a, b, from_left=True, to_right=True)
        for i, (a, b) in enumerate(pairwise(heights))
    ]


def _lines(
    connections: Sequence[Connection],
    legs: Sequence[Sequence[Leg]],
    tracks: Mapping[tuple[int, int], float],
    corners: Mapping[str, Point],
    boxes: Mapping[str, Box],
    label_widths: Sequence[float],
) -> tuple[tuple[Line, ...], tuple[Trunk, ...]]:
    ways: list[list[Point]] = []
    for number, line in enumerate(connections):
        source, target = line.source.component, line.target.component
        way = [(corners[source][0] + boxes[source].width, legs[number][0].enters)]
        for leg in legs[number]:
            x = tracks.get((number, leg.channel))
            if x is not None:
                way += [(x, leg.enters), (x, leg.leaves)]
        way.append((corners[target][0], legs[number][-1].leaves))
        ways.append(way)
    nets: dict[str, list[int]] = {}
    for number, line in enumerate(connections):
        nets.setdefault(str(line.source), []).append(number)
    trunks = [
        _branch(ways, sorted(members, key=lambda number: ways[number][1][0]))
        for members in nets.values()
        if len(members) > 1
    ]
    lines = [
        Line(tuple(way), (way[-1][0] - _ARROW + 4 - room / 2, way[-1][1]))
        for way, room in zip(ways, label_widths, strict=True)
    ]
    return tuple(lines), tuple(trunks)


def _branch(ways: list[list[Point]], members: Sequence[int]) -> Trunk:
    """Cut off the lines of one output what they share; members in the order of turning off."""
    turns = [ways[number][1] for number in members]
    trunk = Trunk(tuple(members), ways[members[0]][0], tuple(turns[:-1]))
    for number in members[:-1]:
        del ways[number][0]
    ways[members[-1]][0] = turns[-2]
    return trunk
