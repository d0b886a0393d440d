"""Heights of slots, and tracks of the vertical pieces of nets between two columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf

from orchestrator.core.structs import Struct, replace
from orchestrator.pictures.drawing.columns import GRID, Slot, SlotLink

_GAP = 24.0
_PASS_GAP = 8.0
_SWEEPS = 7
_STRAIGHTENED = 3


class Heights:
    """Tops of all slots.

    columns: Slots from top to bottom.
    links: What joins a column to its neighbours.
    heights: Of every slot.
    loose: Names of boxes that may stand close to each other: pins.
    """

    def __init__(
        self,
        columns: Sequence[Sequence[Slot]],
        links: Sequence[Sequence[SlotLink]],
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
        for slot, offset in zip(column, stack, strict=True):
            groups.append((1, sorted(y - offset for y in self._straight_tops(slot))))
            while len(groups) > 1 and _median(groups[-2][1]) > _median(groups[-1][1]):
                count, tops = groups.pop()
                groups[-1] = (groups[-1][0] + count, sorted(groups[-1][1] + tops))
        shifts = (_median(tops) for count, tops in groups for _ in range(count))
        for slot, offset, shift in zip(column, stack, shifts, strict=True):
            self.top[slot] = offset + shift

    def _straighten(self, columns: Sequence[Sequence[Slot]]) -> None:
        """Bring the places where a line passes columns to one height, where there is room."""
        below = {upper: lower for column in columns for upper, lower in pairwise(column)}
        above = {lower: upper for upper, lower in below.items()}
        runs: dict[int, list[tuple[int, int]]] = {}  # of a net in neighbouring columns
        for column in columns:
            for slot in column:
                if not isinstance(slot, str):
                    runs.setdefault(slot[0], []).append(slot)

        def room(slot: Slot) -> tuple[float, float]:
            """Between which tops a slot may stand as its neighbours stand."""
            low, high = -inf, inf
            if slot in above:
                upper = above[slot]
                low = self.top[upper] + self._heights[upper] + self._gap(upper, slot)
            if slot in below:
                lower = below[slot]
                high = self.top[lower] - self._heights[slot] - self._gap(slot, lower)
            return low, high

        for run in runs.values():
            begin, run_low, run_high = 0, -inf, inf
            for number, slot in enumerate(run):
                low, high = room(slot)
                if number and max(run_low, low) > min(run_high, high):
                    self._level(run[begin:number], run_low, run_high)
                    begin, run_low, run_high = number, low, high
                run_low, run_high = max(run_low, low), min(run_high, high)
            self._level(run[begin:], run_low, run_high)

    def _level(self, slots: Sequence[Slot], lower: float, upper: float) -> None:
        """Give slots one top within bounds: that of what they lead to, if it may be."""
        ends = [y for slot in (slots[0], slots[-1]) for y in self._straight_tops(slot)]
        middle = _median(sorted([*ends, *(self.top[slot] for slot in slots)]))
        straight = [y for y in ends if lower <= y <= upper]
        y = min(straight or [middle], key=lambda y: abs(y - middle))
        for slot in slots:
            self.top[slot] = min(max(y, lower), upper)

    def _straight_tops(self, slot: Slot) -> list[float]:
        """Tops at which the lines of a slot are straight; where it is, if it has none."""
        return [self.top[neighbour] + shift for neighbour, shift in self._wishes.get(slot, ())] or [
            self.top[slot]
        ]

    def _stacked(self, column: Sequence[Slot]) -> list[float]:
        """Tops of a column's slots if they stand as close as they may."""
        steps = (self._heights[above] + self._gap(above, slot) for above, slot in pairwise(column))
        return list(accumulate(steps, initial=0.0))

    def _gap(self, above: Slot, slot: Slot) -> float:
        boxes = [s for s in (above, slot) if isinstance(s, str)]
        if all(name in self._loose for name in boxes):
            return 0.0
        return _GAP if len(boxes) == 2 else _PASS_GAP


def _median(ordered: Sequence[float]) -> float:
    """Median on the grid: a mean would bend all lines where this leaves one straight."""
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return GRID * round(middle / GRID)


#: A line that lies on another is worse than many crossings.
_OVERLAP = 1000
_TRACK_SWEEPS = 4
#: Vertical pieces on one track are at least this far apart.
_APART = 6.0


class Leg(Struct):
    """The piece of a net between two neighbouring columns: one vertical line with stubs.

    net: Number of the net; a net has one leg in a channel, or two that follow each other.
    lefts, rights: Heights at which stubs leave it to the left and to the right.
    part: 0; of two that follow each other the right one is 1.
    """

    net: int
    lefts: tuple[float, ...]
    rights: tuple[float, ...]
    part: int = 0

    @property
    def low(self) -> float:
        """Upper end (y down)."""
        return min(self.lefts + self.rights)

    @property
    def high(self) -> float:
        """Lower end."""
        return max(self.lefts + self.rights)

    @property
    def straight(self) -> bool:
        """Whether it needs no vertical piece."""
        return self.low == self.high and bool(self.lefts) and bool(self.rights)


def tracked(legs: Sequence[Leg]) -> list[tuple[int, Leg]]:
    """Order the legs of one channel."""
    bent = [leg for leg in legs if not leg.straight]
    taken = {y for leg in legs for y in leg.lefts + leg.rights}
    while True:
        order, costs = _ordered(bent)
        for number in (n for p in _pairs(order, costs) if costs[p] >= _OVERLAP for n in p):
            leg = bent[number]
            if leg.lefts and leg.rights and sum(crossing.net == leg.net for crossing in bent) == 1:
                break  # it leads across, and is not yet one of two: it may be split
        else:
            return _placed(bent, order, costs)
        middle = GRID / 2 + GRID * round((leg.low + leg.high) / 2 / GRID)
        while middle in taken:
            middle += GRID
        taken.add(middle)
        two = replace(leg, rights=(middle,)), replace(leg, lefts=(middle,), part=1)
        bent[number : number + 1] = two


Costs = dict[tuple[int, int], int]


def _pairs(order: Sequence[int], costs: Costs) -> Iterator[tuple[int, int]]:
    """Legs that get into each other's way, the left one first, as ordered."""
    positions = {number: i for i, number in enumerate(order)}
    return ((a, b) for a, b in costs if positions[a] < positions[b])


def _ordered(legs: Sequence[Leg]) -> tuple[list[int], Costs]:
    """Order legs from left to right; the costs are the crossings if the first is further left."""
    costs: Costs = {}
    near: dict[int, set[int]] = {i: set() for i in range(len(legs))}
    active: list[int] = []
    for i in sorted(near, key=lambda i: legs[i].low):
        active = [j for j in active if legs[j].high + _APART > legs[i].low]
        for j in active:
            costs[i, j], costs[j, i] = _cost(legs[i], legs[j]), _cost(legs[j], legs[i])
            near[i].add(j)
            near[j].add(i)
        active.append(i)

    def usual(i: int) -> tuple[float, int, int]:
        """Order that is right for lines which all go one way."""
        enters, leaves = (legs[i].lefts or legs[i].rights)[0], (legs[i].rights or legs[i].lefts)[0]
        return (-enters if leaves > enters else enters, legs[i].net, legs[i].part)

    order = sorted(near, key=usual)
    for _ in range(_TRACK_SWEEPS):
        if not sum(
            _moved(order, i, costs, neighbours) for i, neighbours in near.items() if neighbours
        ):
            break
    return order, costs


def _moved(order: list[int], leg: int, costs: Costs, near: set[int]) -> bool:
    """Move a leg to where it crosses least."""
    here = order.index(leg)
    remaining = order[:here] + order[here + 1 :]
    cost = sum(costs[leg, leg_crossed] for leg_crossed in near)
    costs_by_position = [cost]
    for leg_crossed in remaining:
        if leg_crossed in near:
            cost += costs[leg_crossed, leg] - costs[leg, leg_crossed]
        costs_by_position.append(cost)
    best = min(costs_by_position)
    if best >= costs_by_position[here]:
        return False
    remaining.insert(costs_by_position.index(best), leg)
    order[:] = remaining
    return True


def _cost(first: Leg, second: Leg) -> int:
    """Crossings of two legs, the first of which has the track further left."""
    if first.net == second.net:
        return 0 if first.part < second.part else _OVERLAP * 10
    return (
        sum(second.low < y < second.high for y in first.rights)
        + sum(first.low < y < first.high for y in second.lefts)
        + _OVERLAP * len(set(first.rights) & set(second.lefts))
        # An end that touches the other's vertical piece reads as a junction.
        + _OVERLAP * sum(y in (second.low, second.high) for y in first.rights)
        + _OVERLAP * sum(y in (first.low, first.high) for y in second.lefts)
    )


def _placed(legs: Sequence[Leg], order: Sequence[int], costs: Costs) -> list[tuple[int, Leg]]:
    """Tracks as far left as may be: legs that are not in each other's way share one."""
    behind: dict[int, list[int]] = {}
    for a, b in _pairs(order, costs):
        behind.setdefault(b, []).append(a)
    track: dict[int, int] = {}
    for number in order:
        track[number] = max((track[a] + 1 for a in behind.get(number, ())), default=0)
    return [(track[number], legs[number]) for number in order]
