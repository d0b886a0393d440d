"""Which box stands in which column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, sqrt

from orchestrator.core.system.loops.rings import ordered_rings
from orchestrator.pictures.drawing.layout.shape import Box, Wire

#: Number of wires by box of their source and of their target.
Weights = Mapping[tuple[str, str], int]
_SWEEPS = 6


def columns_of(boxes: Mapping[str, Box], wires: Sequence[Wire]) -> dict[str, int]:
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
    _fill([boxes[name] for name in inner if name not in used], boxes, layer)
    if any(box.pin == "left" for box in boxes.values()):
        layer = {name: column + 1 for name, column in layer.items()}
    last = max(layer.values(), default=0) + 1
    layer |= {name: 0 for name, box in boxes.items() if box.pin == "left"}
    layer |= {name: last for name, box in boxes.items() if box.pin == "right"}
    kept = {column: i for i, column in enumerate(sorted(set(layer.values())))}
    return {name: kept[layer[name]] for name in boxes}


def _fill(alone: Sequence[Box], boxes: Mapping[str, Box], layer: dict[str, int]) -> None:
    """Put every box without a wire into the column that is lowest so far."""
    wide = max(max(layer.values(), default=-1) + 1, ceil(sqrt(len(alone))))
    heights = [0.0] * wide
    for name, column in layer.items():
        heights[column] += boxes[name].height
    for box in alone:
        column = heights.index(min(heights))
        layer[box.name] = column
        heights[column] += box.height


def assign_layers(names: Sequence[str], weights: Weights) -> dict[str, int]:
    """Column of every box: longest path over the wires that lead forward, then made short."""
    place = {name: i for i, name in enumerate(forward_order(names, weights))}
    forward = {ends: n for ends, n in weights.items() if place[ends[0]] < place[ends[1]]}
    before: dict[str, list[str]] = {name: [] for name in names}
    after: dict[str, list[str]] = {name: [] for name in names}
    for a, b in forward:
        after[a].append(b)
        before[b].append(a)
    order = sorted(names, key=place.__getitem__)
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = max((layer[other] + 1 for other in before[name]), default=0)
    for sweep in range(_SWEEPS):
        for name in order if sweep % 2 else order[::-1]:
            pulled = sum(forward[name, other] for other in after[name])
            held = sum(forward[other, name] for other in before[name])
            if pulled > held:
                layer[name] = min(layer[other] for other in after[name]) - 1
            elif held > pulled:
                layer[name] = max(layer[other] for other in before[name]) + 1
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


def _ring_order(names: Sequence[str], weights: Weights) -> list[str]:
    order = list(names)
    for _ in range(_SWEEPS if len(names) > 1 else 0):
        improved = False
        for name in names:
            here = order.index(name)
            rest = [other for other in order if other != name]
            # Cost of each place, but for what does not depend on it: passing a box turns its wires.
            cost = sum(weights.get((other, name), 0) for other in rest)
            costs = [cost]
            for other in rest:
                cost += weights.get((name, other), 0) - weights.get((other, name), 0)
                costs.append(cost)
            best = min(costs)
            if best < costs[here]:
                order = rest
                order.insert(costs.index(best), name)
                improved = True
        if not improved:
            break
    return order
