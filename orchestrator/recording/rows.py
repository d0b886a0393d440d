"""Vertical places of boxes in a block diagram (points, y down)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from orchestrator.recording.boxes import Box
from orchestrator.recording.layers import Link, assign_layers, order_slots
from orchestrator.system import Connection

#: Height of the place where a long line passes a column; all heights are on one grid.
PASS_HEIGHT = 16.0
_GAP = 24.0
_PASS_GAP = 8.0
_GRID = 8.0


class Rows:
    """Columns of slots - boxes, and places where long lines pass between them - with their tops.

    Parameters
    ----------
    boxes
        By component.
    connections
        Both ends must be ports of the boxes.

    Attributes
    ----------
    layer
        Column of every component.
    top
        Top of every slot; the uppermost is 0.
    """

    def __init__(self, boxes: Mapping[str, Box], connections: Sequence[Connection]) -> None:
        self.boxes = boxes
        weights: dict[tuple[str, str], int] = {}
        for line in connections:
            ends = (line.source.component, line.target.component)
            if ends[0] != ends[1]:
                weights[ends] = weights.get(ends, 0) + 1
        self.layer = assign_layers(list(boxes), weights)
        count = max(self.layer.values(), default=-1) + 1
        self._heights = {name: box.height for name, box in boxes.items()}
        self._links: list[Link] = []
        slots: dict[int, list[str]] = {}
        columns = [[name for name in boxes if self.layer[name] == i] for i in range(count)]
        for number, line in enumerate(connections):
            slots[number] = self._link(number, line, columns)
        self.columns = order_slots(columns, self._links)
        self.top = self._tops()
        self._slots = slots

    @property
    def bottom(self) -> float:
        """Lower end of the lowest slot."""
        return max((y + self._heights[name] for name, y in self.top.items()), default=0.0)

    def passes(self, number: int) -> list[float]:
        """Heights at which a connection, by its number, passes the columns in between."""
        return [self.top[name] + PASS_HEIGHT / 2 for name in self._slots[number]]

    def nudge(self, column: int) -> None:
        """Move a column down by half a row, so that its ports face no others."""
        for name in self.columns[column]:
            self.top[name] += _GRID

    def ends(self, line: Connection) -> tuple[float, float]:
        """Heights at which a connection leaves and arrives."""
        source, target = line.source, line.target
        return (
            self.top[source.component]
            + self.boxes[source.component].offset("out", source.connector),
            self.top[target.component]
            + self.boxes[target.component].offset("in", target.connector),
        )

    def leans_up(self, line: Connection) -> bool:
        """Whether a line that leads back is better led above the boxes than below them.

        The boxes at its ends decide; where they stand in the middle, its ports do.
        """
        both = (line.source.component, line.target.component)
        centres = [self.top[name] + self._heights[name] / 2 for name in both]
        lean = sum(centres) - self.bottom
        if abs(lean) < _GRID:
            lean = sum(self.ends(line)) - sum(centres)
        return lean < 0

    def _link(self, number: int, line: Connection, columns: list[list[str]]) -> list[str]:
        source, target = line.source, line.target
        first, last = self.layer[source.component], self.layer[target.component]
        name, offset = (
            source.component,
            self.boxes[source.component].offset("out", source.connector),
        )
        passed = []
        for column in range(first + 1, last):
            slot = f"{number}.{column}"  # no component is called so: their names have no dot
            columns[column].append(slot)
            self._heights[slot] = PASS_HEIGHT
            self._links.append(Link(name, offset, slot, PASS_HEIGHT / 2))
            name, offset = slot, PASS_HEIGHT / 2
            passed.append(slot)
        if last > first:
            end = self.boxes[target.component].offset("in", target.connector)
            self._links.append(Link(name, offset, target.component, end))
        return passed

    def _tops(self) -> dict[str, float]:
        """Stack every column about one middle, then make lines straight where there is room."""
        tops = {}
        for column in self.columns:
            stacked = self._stacked(column)
            for name, y in zip(column, stacked, strict=True):
                tops[name] = y - _GRID * round(stacked[-1] / 2 / _GRID)
        for sweep in range(5):
            for column in self.columns if sweep % 2 == 0 else self.columns[::-1]:
                self._settle(column, tops)
        uppermost = min(tops.values(), default=0.0)
        return {name: y - uppermost for name, y in tops.items()}

    def _settle(self, column: Sequence[str], tops: dict[str, float]) -> None:
        """Move the slots of a column to where most lines are straight, in order and apart."""
        base = self._stacked(column)
        # Slots that would get into each other's way are pushed together and moved as one.
        groups: list[tuple[list[str], list[float]]] = []
        for name, least in zip(column, base, strict=True):
            groups.append(([name], sorted(y - least for y in self._wanted(name, tops))))
            while len(groups) > 1 and _median(groups[-2][1]) > _median(groups[-1][1]):
                names, wanted = groups.pop()
                groups[-1] = (groups[-1][0] + names, sorted(groups[-1][1] + wanted))
        shifts = (_median(wanted) for names, wanted in groups for _ in names)
        for name, least, shift in zip(column, base, shifts, strict=True):
            tops[name] = least + shift

    def _wanted(self, name: str, tops: Mapping[str, float]) -> list[float]:
        """Tops at which the lines of a slot are straight; where it is, if it has none."""
        wanted = [
            tops[k.left] + k.left_offset - k.right_offset for k in self._links if k.right == name
        ]
        wanted += [
            tops[k.right] + k.right_offset - k.left_offset for k in self._links if k.left == name
        ]
        return wanted or [tops[name]]

    def _stacked(self, column: Sequence[str]) -> list[float]:
        """Tops of a column's slots if they stand as close as they may."""
        tops = [0.0]
        for above, name in pairwise(column):
            gap = _GAP if above in self.boxes and name in self.boxes else _PASS_GAP
            if above not in self.boxes and name not in self.boxes:
                gap = 0.0
            tops.append(tops[-1] + self._heights[above] + gap)
        return tops


def _median(ordered: Sequence[float]) -> float:
    """Median on the grid: a mean would bend all lines where this leaves one straight."""
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return _GRID * round(middle / _GRID)
