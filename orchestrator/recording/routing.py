"""Order of the vertical pieces of lines between two columns, with as few crossings as can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: A line that lies on another is worse than many crossings.
_OVERLAP = 100


@dataclass(frozen=True, slots=True)
class Leg:
    """The piece of a line between two neighbouring columns.

    Parameters
    ----------
    number
        Number of its connection.
    net
        Where the signal comes from; lines of one net may lie on each other.
    channel
        Space between columns, counted from 0 at the left of the first.
    enters, leaves
        Height at both ends.
    from_left, to_right
        Whether it comes in from the left, and whether it goes out to the right.
    """

    number: int
    net: str
    channel: int
    enters: float
    leaves: float
    from_left: bool
    to_right: bool

    @property
    def straight(self) -> bool:
        """Whether it needs no vertical piece."""
        return self.enters == self.leaves and self.from_left and self.to_right

    def stubs(self, *, right: bool) -> list[float]:
        """Heights of its horizontal pieces on one side of the vertical one."""
        found = [self.enters] if self.from_left is not right else []
        return found + ([self.leaves] if self.to_right is right else [])

    def spans(self, y: float) -> bool:
        """Whether a horizontal line at a height meets the vertical piece between its ends."""
        return min(self.enters, self.leaves) < y < max(self.enters, self.leaves)


def order_tracks(legs: Sequence[Leg]) -> list[Leg]:
    """Order the legs of one channel from left to right; straight ones are left out.

    Starting from an order that is right for lines which all go one way, legs are moved one by one
    for as long as that saves crossings.
    """
    order = sorted(
        (leg for leg in legs if not leg.straight),
        key=lambda leg: (-leg.enters if leg.leaves > leg.enters else leg.enters, leg.number),
    )
    cost = {(a.number, b.number): _crossings(a, b) for a in order for b in order if a is not b}

    def total(candidate: Sequence[Leg]) -> int:
        return sum(
            cost.get((a.number, b.number), 0)
            for i, a in enumerate(candidate)
            for b in candidate[i + 1 :]
        )

    best = total(order)
    improved = True
    while improved and best:
        improved = False
        for leg in list(order):
            rest = [other for other in order if other is not leg]
            for i in range(len(order)):
                moved = [*rest[:i], leg, *rest[i:]]
                found = total(moved)
                if found < best:
                    order, best, improved = moved, found, True
    return order


def overlaps(order: Sequence[Leg]) -> bool:
    """Whether lines of different signals lie on each other if tracks stand in this order."""
    return any(
        _crossings(left, right) >= _OVERLAP
        for i, left in enumerate(order)
        for right in order[i + 1 :]
    )


def _crossings(left: Leg, right: Leg) -> int:
    """Crossings of two legs, the first of which has the track further left."""
    if left.net == right.net:
        return 0
    outward, inward = left.stubs(right=True), right.stubs(right=False)
    return (
        sum(right.spans(y) for y in outward)
        + sum(left.spans(y) for y in inward)
        + _OVERLAP * len(set(outward) & set(inward))
    )
