"""Columns of slots, boxes and lines that pass, in an order with few crossings."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Literal

from orchestrator.core.structs import Struct

#: All heights lie on this grid, so that facing ports can be joined by straight lines.
GRID = 8.0
#: Height of the place where a line passes a column.
PASS_HEIGHT = 16.0


class LayoutBox(Struct):
    """Something to place.

    name: Unique within the layout.
    width, height: In points; the height on the grid.
    inputs, outputs: Distance of every port from the top, on the grid; inputs are on the left edge.
    pin: ``"left"`` and ``"right"``: stands on that border of the drawing.
    """

    name: str
    width: float
    height: float
    inputs: Mapping[str, float]
    outputs: Mapping[str, float]
    pin: Literal["", "left", "right"] = ""


class Wire(Struct):
    """A connection to route.

    source, target: Box and port.
    room: Width that its label needs in front of the arrow head; 0 without one.
    """

    source: tuple[str, str]
    target: tuple[str, str]
    room: float = 0.0


#: A box's name, or the number of a net and the column that it passes.
Slot = str | tuple[int, int]


class SlotLink(Struct):
    """Two slots in neighbouring columns that a net joins, with the distances from their tops."""

    left: Slot
    left_offset: float
    right: Slot
    right_offset: float


class Net(Struct):
    """All wires of one output.

    number: Its place in the order of the wires.
    source: Box and port.
    wires: Numbers of its wires.
    start: Column of the source.
    furthest: Last column that it reaches forward; ``start`` if it does not.
    back: First column that it leads back to; ``start + 1`` if it does not. It passes the columns of
        its source and of its targets then, above or below the boxes.
    """

    number: int
    source: tuple[str, str]
    wires: tuple[int, ...]
    start: int
    furthest: int
    back: int

    @property
    def passes(self) -> list[int]:
        """Columns in which it has a slot of its own."""
        return [*range(self.start + 1, self.furthest), *range(self.start, self.back - 1, -1)]

    @property
    def channels(self) -> range:
        """Channels in which it has lines; channel i is at the left of column i."""
        return range(min(self.back, self.start + 1), max(self.furthest, self.start + 1) + 1)

    def passes_by(self, column: int) -> bool:
        """Whether it has a slot of its own in a column."""
        return self.start < column < self.furthest or self.back <= column <= self.start


def nets_of(wires: Sequence[Wire], layer: Mapping[str, int]) -> list[Net]:
    """Group wires by their source."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, wire in enumerate(wires):
        groups.setdefault(wire.source, []).append(number)
    nets = []
    for number, (source, members) in enumerate(groups.items()):
        start = layer[source[0]]
        ends = [layer[wires[member].target[0]] for member in members]
        furthest = max([start, *ends])
        back = min([start + 1, *(end for end in ends if end <= start)])
        nets.append(Net(number, source, tuple(members), start, furthest, back))
    return nets


def links_of(
    nets: Sequence[Net],
    wires: Sequence[Wire],
    boxes: Mapping[str, LayoutBox],
    layer: Mapping[str, int],
) -> list[list[SlotLink]]:
    """What joins every column to the one at its right."""
    links: list[list[SlotLink]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    middle = PASS_HEIGHT / 2
    for net in nets:
        box, port = net.source
        at: dict[int, tuple[Slot, float]] = {c: ((net.number, c), middle) for c in net.passes}
        for column in range(net.back, net.start):
            links[column].append(SlotLink(*at[column], *at[column + 1]))
        at[net.start] = box, boxes[box].outputs[port]
        for column in range(net.start + 1, net.furthest):
            links[column - 1].append(SlotLink(*at[column - 1], *at[column]))
        for number in net.wires:
            box, port = wires[number].target
            column, offset = layer[box], boxes[box].inputs[port]
            if column > net.start:
                links[column - 1].append(SlotLink(*at[column - 1], box, offset))
    return links


def initial_columns(
    boxes: Mapping[str, LayoutBox],
    nets: Sequence[Net],
    layer: Mapping[str, int],
    wires: Sequence[Wire],
) -> list[list[Slot]]:
    """Slots in the order of definition; a line that leads back begins next to its source."""
    columns: list[list[Slot]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for name in boxes:
        columns[layer[name]].append(name)
    for net in nets:
        for column in net.passes:
            slot = (net.number, column)
            # The box of this column that a net which leads back belongs to, and its port.
            ends = [wires[number].target for number in net.wires if column < net.start]
            near = next((end for end in ends if layer[end[0]] == column), None)
            if column == net.start:
                near = net.source
            if near is None:
                columns[column].append(slot)
                continue
            box = boxes[near[0]]
            offset = (box.outputs if column == net.start else box.inputs)[near[1]]
            above = offset < box.height * 0.6
            index = columns[column].index(box.name) + (not above)
            # Of lines that turn upwards, the one of the lowest port is the outermost.
            while above and index and not isinstance(columns[column][index - 1], str):
                index -= 1
            columns[column].insert(index, slot)
    return columns


class Turn(Struct):
    """Where a line that leads back turns at one side of a column.

    slot: Where it passes the column.
    box, offset: The box in the same column that it comes from or goes to, and its port from the
        top.
    """

    slot: Slot
    box: str
    offset: float


def turns_of(
    nets: Sequence[Net],
    wires: Sequence[Wire],
    boxes: Mapping[str, LayoutBox],
    layer: Mapping[str, int],
) -> list[tuple[list[Turn], list[Turn]]]:
    """Turns at the left and at the right of every column."""
    turns: list[tuple[list[Turn], list[Turn]]] = [
        ([], []) for _ in range(max(layer.values(), default=0) + 1)
    ]
    for net in nets:
        if net.back > net.start:
            continue
        box, port = net.source
        right = Turn((net.number, net.start), box, boxes[box].outputs[port])
        turns[net.start][1].append(right)
        for number in net.wires:
            box, port = wires[number].target
            if layer[box] <= net.start:
                slot = (net.number, layer[box])
                turns[layer[box]][0].append(Turn(slot, box, boxes[box].inputs[port]))
    return turns


_SWEEPS = 14
#: Neighbours are swapped in columns up to this length; in longer ones it takes too long.
_SWAPPED = 40
#: Links that may be looked at to swap whole lines.
_WORK = 100_000

Turns = Sequence[tuple[Sequence[Turn], Sequence[Turn]]]
Ends = dict[Slot, list[tuple[Slot, float]]]


class Ordering:
    """The order of slots in their columns, with few crossings.

    References
    ----------
    Sugiyama, Tagawa, Toda: Methods for visual understanding of hierarchical system structures,
    IEEE Trans. SMC 11 (1981), section III. The sweep with the fewest crossings is kept.
    """

    def __init__(
        self,
        columns: Sequence[Sequence[Slot]],
        links: Sequence[Sequence[SlotLink]],
        heights: Mapping[Slot, float],
        turns: Turns,
    ) -> None:
        self._links = links
        self._turns = turns
        self._anchors: dict[Slot, list[Turn]] = {}
        for turn in (turn for sides in turns for side in sides for turn in side):
            self._anchors.setdefault(turn.slot, []).append(turn)
        self._share: dict[Slot, float] = {slot: 0.9 / height for slot, height in heights.items()}
        #: Of each slot, what it is joined with at its right and at its left, and how far below.
        self._joined: tuple[Ends, Ends] = {}, {}
        for link in (link for between in links for link in between):
            self._joined[0].setdefault(link.left, []).append((link.right, link.right_offset))
            self._joined[1].setdefault(link.right, []).append((link.left, link.left_offset))
        self.columns = self._best([list(column) for column in columns])

    def _best(self, current: list[list[Slot]]) -> list[list[Slot]]:
        best, fewest = [list(column) for column in current], self._count(current)
        for sweep in range(_SWEEPS if fewest else 0):
            rightward = sweep % 2 == 0
            for i in range(len(current)) if rightward else reversed(range(len(current))):
                self._sort(current, i, rightward=rightward)
            crossings = self._count(current)
            if crossings < fewest:
                best, fewest = [list(column) for column in current], crossings
            if not fewest:
                break
        for _ in range(3):
            if not sum(self._swap(best, i) for i in range(len(best))):
                break
        self._swap_nets(best)
        return best

    def _swap_nets(self, columns: list[list[Slot]]) -> None:
        """Swap lines that are neighbours in all columns that both pass, where that saves crossings.

        To swap them in one column only would cost as many crossings as it saves.
        """
        pairs = {
            (upper[0], lower[0])
            for column in columns
            for upper, lower in pairwise(column)
            if not isinstance(upper, str) and not isinstance(lower, str)
        }
        if len(pairs) * sum(map(len, self._links)) > _WORK:
            return
        fewest = self._count(columns)
        for pair in sorted(pairs):
            swapped = [_exchanged(column, i, *pair) for i, column in enumerate(columns)]
            crossings = self._count(swapped)
            if crossings < fewest:
                columns[:], fewest = swapped, crossings

    def _sort(self, columns: list[list[Slot]], i: int, *, rightward: bool) -> None:
        ranks: dict[Slot, int] = {}
        for column in columns[max(0, i - 1) : i + 2]:
            ranks |= {slot: k for k, slot in enumerate(column)}
        centres = {}
        for slot in columns[i]:
            near = self._joined[rightward].get(slot, ())
            at = [ranks[neighbour] + offset * self._share[neighbour] for neighbour, offset in near]
            others = (ranks[turn.box] for turn in self._anchors.get(slot, ()))
            at += [neighbour + (0.6 if neighbour < ranks[slot] else -0.6) for neighbour in others]
            centres[slot] = sum(at) / len(at) if at else float(ranks[slot])
        columns[i].sort(key=centres.__getitem__)

    def _count(self, columns: Sequence[Sequence[Slot]]) -> int:
        rank = {slot: k for column in columns for k, slot in enumerate(column)}
        crossings = sum(self._turned(i, rank) for i in range(len(columns)))
        for between in self._links:
            ends = sorted(
                ((rank[k.left], k.left_offset), (rank[k.right], k.right_offset)) for k in between
            )
            passed: list[tuple[int, float]] = []
            for k, (_, end) in enumerate(ends):
                crossings += k - bisect_left(passed, end)
                insort(passed, end)
        return crossings

    def _turned(self, i: int, rank: Mapping[Slot, int]) -> int:
        """Crossings of lines that turn at the same side of a column: of lines that interleave."""
        return sum(
            _interleave(first, second, rank)
            for side in self._turns[i]
            for first, second in combinations(side, 2)
            if first.slot != second.slot
        )

    def _swap(self, columns: list[list[Slot]], i: int) -> bool:
        """Swap neighbours of a column wherever that saves crossings."""
        column = columns[i]
        if len(column) > _SWAPPED:
            return False
        rank = {slot: k for near in columns[max(0, i - 1) : i + 2] for k, slot in enumerate(near)}
        improved = False
        for k in range(len(column) - 1):
            upper, lower = column[k], column[k + 1]
            exchanged = {**rank, upper: k + 1, lower: k}
            now = self._between(upper, lower, rank) + self._turned(i, rank)
            if self._between(lower, upper, rank) + self._turned(i, exchanged) < now:
                column[k], column[k + 1] = lower, upper
                rank = exchanged
                improved = True
        return improved

    def _between(self, upper: Slot, lower: Slot, rank: Mapping[Slot, int]) -> int:
        """Crossings of the lines of two slots, one of which stands above the other."""
        total = 0
        for joined in self._joined:
            ends = [
                [(rank[neighbour], offset) for neighbour, offset in joined.get(slot, ())]
                for slot in (upper, lower)
            ]
            total += sum(a > b for a in ends[0] for b in ends[1])
        return total


def _interleave(first: Turn, second: Turn, rank: Mapping[Slot, int]) -> bool:
    ends = [
        sorted(((rank[turn.slot], 0.5), (rank[turn.box], turn.offset))) for turn in (first, second)
    ]
    (a, b), (c, d) = ends
    return a < c < b < d or c < a < d < b


def _exchanged(column: Sequence[Slot], i: int, first: int, second: int) -> list[Slot]:
    """Return a column with the places of two nets exchanged, if it has both."""
    exchanged = list(column)
    if (first, i) in exchanged and (second, i) in exchanged:
        a, b = exchanged.index((first, i)), exchanged.index((second, i))
        exchanged[a], exchanged[b] = exchanged[b], exchanged[a]
    return exchanged
