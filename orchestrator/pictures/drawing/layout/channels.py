"""Vertical pieces of nets between two columns: their tracks, with few crossings and no overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.pictures.drawing.layout.shape import GRID

#: A line that lies on another is worse than many crossings.
_OVERLAP = 1000
_SWEEPS = 4
#: Vertical pieces on one track are at least this far apart.
_APART = 6.0


@dataclass(frozen=True, slots=True)
class Leg:
    """The piece of a net between two neighbouring columns: one vertical line with stubs.

    Parameters
    ----------
    net
        Number of the net; a net has one leg in a channel, or two that follow each other.
    lefts, rights
        Heights at which stubs leave it to the left and to the right.
    part
        0; of two that follow each other the right one is 1.
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
        clash = next(
            (
                number
                for pair in _pairs(order, costs)
                if costs[pair] >= _OVERLAP
                for number in pair
                if _whole(bent, number)
            ),
            None,
        )
        if clash is None:
            break
        bent[clash : clash + 1] = _split(bent[clash], taken)
    return _placed(bent, order, costs)


def _whole(legs: Sequence[Leg], number: int) -> bool:
    """Whether a leg may be split: it leads across, and is not yet one of two."""
    leg = legs[number]
    return bool(leg.lefts and leg.rights) and sum(other.net == leg.net for other in legs) == 1


def _split(leg: Leg, taken: set[float]) -> list[Leg]:
    """Two legs, joined at a height that nothing else has."""
    middle = GRID / 2 + GRID * round((leg.low + leg.high) / 2 / GRID)
    while middle in taken:
        middle += GRID
    taken.add(middle)
    return [replace(leg, rights=(middle,)), replace(leg, lefts=(middle,), part=1)]


Costs = dict[tuple[int, int], int]


def _pairs(order: Sequence[int], costs: Costs) -> Iterator[tuple[int, int]]:
    """Legs that get into each other's way, the left one first, as ordered."""
    place = {number: i for i, number in enumerate(order)}
    return ((a, b) for a, b in costs if place[a] < place[b])


def _ordered(legs: Sequence[Leg]) -> tuple[list[int], Costs]:
    """Order legs from left to right; the costs are the crossings if the first is further left."""
    costs: Costs = {}
    near: dict[int, set[int]] = {i: set() for i in range(len(legs))}
    by_low = sorted(range(len(legs)), key=lambda i: legs[i].low)
    active: list[int] = []
    for i in by_low:
        active = [j for j in active if legs[j].high + _APART > legs[i].low]
        for j in active:
            costs[i, j], costs[j, i] = _cost(legs[i], legs[j]), _cost(legs[j], legs[i])
            near[i].add(j)
            near[j].add(i)
        active.append(i)
    order = sorted(range(len(legs)), key=lambda i: _usual(legs[i]))
    for _ in range(_SWEEPS):
        if not sum(_moved(order, i, costs, near[i]) for i in range(len(legs)) if near[i]):
            break
    return order, costs


def _usual(leg: Leg) -> tuple[float, int, int]:
    """Order that is right for lines which all go one way."""
    enters = leg.lefts[0] if leg.lefts else leg.rights[0]
    leaves = leg.rights[0] if leg.rights else leg.lefts[0]
    return (-enters if leaves > enters else enters, leg.net, leg.part)


def _moved(order: list[int], leg: int, costs: Costs, near: set[int]) -> bool:
    """Move a leg to where it crosses least."""
    here = order.index(leg)
    rest = order[:here] + order[here + 1 :]
    cost = sum(costs[leg, other] for other in near)
    found = [cost]
    for other in rest:
        if other in near:
            cost += costs[other, leg] - costs[leg, other]
        found.append(cost)
    best = min(found)
    if best >= found[here]:
        return False
    rest.insert(found.index(best), leg)
    order[:] = rest
    return True


def _cost(left: Leg, right: Leg) -> int:
    """Crossings of two legs, the first of which has the track further left."""
    if left.net == right.net:
        return 0 if left.part < right.part else _OVERLAP * 10
    return (
        sum(right.low < y < right.high for y in left.rights)
        + sum(left.low < y < left.high for y in right.lefts)
        + _OVERLAP * len(set(left.rights) & set(right.lefts))
        # An end that touches the other's vertical piece reads as a junction.
        + _OVERLAP * sum(y in (right.low, right.high) for y in left.rights)
        + _OVERLAP * sum(y in (left.low, left.high) for y in right.lefts)
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
