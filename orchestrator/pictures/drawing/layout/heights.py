"""Heights of slots: in order, apart, and so that many lines are straight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf

from orchestrator.pictures.drawing.layout.columns import Link, Slot
from orchestrator.pictures.drawing.layout.shape import GRID

_GAP = 24.0
_PASS_GAP = 8.0
_SWEEPS = 7
_STRAIGHTENED = 3


class Heights:
    """Tops of all slots.

    Parameters
    ----------
    columns
        Slots from top to bottom.
    links
        What joins a column to its neighbours.
    heights
        Of every slot.
    loose
        Names of boxes that may stand close to each other: pins.
    """

    def __init__(
        self,
        columns: Sequence[Sequence[Slot]],
        links: Sequence[Sequence[Link]],
        heights: Mapping[Slot, float],
        loose: frozenset[str],
    ) -> None:
        self._heights = heights
        self._loose = loose
        self._wishes: dict[Slot, list[tuple[Slot, float]]] = {}
        for link in (link for between in links for link in between):
            shift = link.left_offset - link.right_offset
            self._wishes.setdefault(link.right, []).append((link.left, shift))
            self._wishes.setdefault(link.left, []).append((link.right, -shift))
        self.top: dict[Slot, float] = {}
        stacks = [self._stacked(column) for column in columns]
        for column, stack in zip(columns, stacks, strict=True):
            end = stack[-1] + heights[column[-1]]
            for slot, y in zip(column, stack, strict=True):
                self.top[slot] = y - GRID * round(end / 2 / GRID)
        for sweep in range(_SWEEPS):
            numbers = range(len(columns)) if sweep % 2 == 0 else reversed(range(len(columns)))
            for i in numbers:
                self._settle(columns[i], stacks[i])
        for _ in range(_STRAIGHTENED):
            self._straighten(columns)
        uppermost = min(self.top.values(), default=0.0)
        self.top = {slot: y - uppermost for slot, y in self.top.items()}

    @property
    def bottom(self) -> float:
        """Lower end of the lowest slot; the uppermost begins at 0."""
        return max((y + self._heights[slot] for slot, y in self.top.items()), default=0.0)

    def _settle(self, column: Sequence[Slot], stack: Sequence[float]) -> None:
        """Move the slots of a column to where most lines are straight, in order and apart."""
        # Slots that would get into each other's way are pushed together and moved as one.
        groups: list[tuple[int, list[float]]] = []
        for slot, least in zip(column, stack, strict=True):
            groups.append((1, sorted(y - least for y in self._wanted(slot))))
            while len(groups) > 1 and _median(groups[-2][1]) > _median(groups[-1][1]):
                count, wanted = groups.pop()
                groups[-1] = (groups[-1][0] + count, sorted(groups[-1][1] + wanted))
        shifts = (_median(wanted) for count, wanted in groups for _ in range(count))
        for slot, least, shift in zip(column, stack, shifts, strict=True):
            self.top[slot] = least + shift

    def _straighten(self, columns: Sequence[Sequence[Slot]]) -> None:
        """Bring the places where a line passes columns to one height, where there is room."""
        above: dict[Slot, Slot] = {}
        below: dict[Slot, Slot] = {}
        for column in columns:
            for upper, lower in pairwise(column):
                above[lower], below[upper] = upper, lower

        def room(slot: Slot) -> tuple[float, float]:
            """Between which tops a slot may stand as its neighbours stand."""
            least, most = -inf, inf
            if slot in above:
                upper = above[slot]
                least = self.top[upper] + self._heights[upper] + self._gap(upper, slot)
            if slot in below:
                lower = below[slot]
                most = self.top[lower] - self._heights[slot] - self._gap(slot, lower)
            return least, most

        for run in _runs(columns):
            begin, least, most = 0, -inf, inf
            for number, slot in enumerate(run):
                low, high = room(slot)
                if max(least, low) > min(most, high):
                    self._level(run[begin:number], least, most)
                    begin, least, most = number, low, high
                least, most = max(least, low), min(most, high)
            self._level(run[begin:], least, most)

    def _level(self, slots: Sequence[Slot], least: float, most: float) -> None:
        """Give slots one top within bounds: that of what they lead to, if it may be."""
        if not slots:
            return
        ends = [y for slot in (slots[0], slots[-1]) for y in self._wanted(slot)]
        wanted = _median(sorted([*ends, *(self.top[slot] for slot in slots)]))
        straight = [y for y in ends if least <= y <= most]
        y = min(straight or [wanted], key=lambda y: abs(y - wanted))
        for slot in slots:
            self.top[slot] = min(max(y, least), most)

    def _wanted(self, slot: Slot) -> list[float]:
        """Tops at which the lines of a slot are straight; where it is, if it has none."""
        return [self.top[other] + shift for other, shift in self._wishes.get(slot, ())] or [
            self.top[slot]
        ]

    def _stacked(self, column: Sequence[Slot]) -> list[float]:
        """Tops of a column's slots if they stand as close as they may."""
        tops = [0.0]
        for above, slot in pairwise(column):
            tops.append(tops[-1] + self._heights[above] + self._gap(above, slot))
        return tops

    def _gap(self, above: Slot, slot: Slot) -> float:
        boxes = [s for s in (above, slot) if isinstance(s, str)]
        if all(name in self._loose for name in boxes):
            return 0.0
        return _GAP if len(boxes) == 2 else _PASS_GAP


def _median(ordered: Sequence[float]) -> float:
    """Median on the grid: a mean would bend all lines where this leaves one straight."""
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return GRID * round(middle / GRID)


def _runs(columns: Sequence[Sequence[Slot]]) -> list[list[tuple[int, int]]]:
    """Places of a net in neighbouring columns, from left to right."""
    runs: dict[int, list[tuple[int, int]]] = {}
    for column in columns:
        for slot in column:
            if not isinstance(slot, str):
                runs.setdefault(slot[0], []).append(slot)
    return list(runs.values())
