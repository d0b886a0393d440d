"""Columns of slots: boxes, and places where lines pass a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.pictures.drawing.layout.shape import PASS_HEIGHT, Box, Wire

#: A box's name, or the number of a net and the column that it passes.
Slot = str | tuple[int, int]


@dataclass(frozen=True, slots=True)
class Link:
    """Two slots in neighbouring columns that a net joins, with the distances from their tops."""

    left: Slot
    left_offset: float
    right: Slot
    right_offset: float


@dataclass(frozen=True, slots=True)
class Net:
    """All wires of one output.

    Parameters
    ----------
    number
        Its place in the order of the wires.
    source
        Box and port.
    wires
        Numbers of its wires.
    start
        Column of the source.
    furthest
        Last column that it reaches forward; ``start`` if it does not.
    back
        First column that it leads back to; ``start + 1`` if it does not. It passes the columns of
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
    nets: Sequence[Net], wires: Sequence[Wire], boxes: Mapping[str, Box], layer: Mapping[str, int]
) -> list[list[Link]]:
    """What joins every column to the one at its right."""
    links: list[list[Link]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    middle = PASS_HEIGHT / 2
    for net in nets:
        box, port = net.source
        start: tuple[Slot, float] = (box, boxes[box].outputs[port])

        def at(
            column: int, net: Net = net, start: tuple[Slot, float] = start
        ) -> tuple[Slot, float]:
            return start if column == net.start else ((net.number, column), middle)

        for column in range(net.start + 1, net.furthest):
            links[column - 1].append(Link(*at(column - 1), (net.number, column), middle))
        for column in range(net.back, net.start):
            links[column].append(
                Link((net.number, column), middle, (net.number, column + 1), middle)
            )
        for number in net.wires:
            box, port = wires[number].target
            column, offset = layer[box], boxes[box].inputs[port]
            if column > net.start:
                links[column - 1].append(Link(*at(column - 1), box, offset))
    return links


def initial_columns(
    boxes: Mapping[str, Box], nets: Sequence[Net], layer: Mapping[str, int], wires: Sequence[Wire]
) -> list[list[Slot]]:
    """Slots in the order of definition; a line that leads back begins next to its source."""
    columns: list[list[Slot]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    for name in boxes:
        columns[layer[name]].append(name)
    for net in nets:
        for column in net.passes:
            slot = (net.number, column)
            near = _near(net, column, boxes, layer, wires)
            if near is None:
                columns[column].append(slot)
            else:
                name, above = near
                place = columns[column].index(name) + (not above)
                # Of lines that turn upwards, the one of the lowest port is the outermost.
                while above and place and not isinstance(columns[column][place - 1], str):
                    place -= 1
                columns[column].insert(place, slot)
    return columns


def _near(
    net: Net, column: int, boxes: Mapping[str, Box], layer: Mapping[str, int], wires: Sequence[Wire]
) -> tuple[str, bool] | None:
    """Box of this column that a net which leads back belongs to, and whether it is better above."""
    box, port = net.source
    if column == net.start:
        return box, boxes[box].outputs[port] < boxes[box].height * 0.6
    for number in net.wires:
        name, target = wires[number].target
        if layer[name] == column <= net.start:
            return name, boxes[name].inputs[target] < boxes[name].height * 0.6
    return None


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a line that leads back turns at one side of a column.

    Parameters
    ----------
    slot
        Where it passes the column.
    box, offset
        The box in the same column that it comes from or goes to, and its port from the top.
    """

    slot: Slot
    box: str
    offset: float


def turns_of(
    nets: Sequence[Net], wires: Sequence[Wire], boxes: Mapping[str, Box], layer: Mapping[str, int]
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
