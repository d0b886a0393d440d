"""Clearance of a box from capsules: a spacecraft's body from the links of an arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
#: Halvings of the interval that holds the nearest point of an axis, to 1e-15 of its length.
_STEPS = 72


@dataclass(frozen=True)
class Box:
    """A box with edges along the axes of a frame.

    Parameters
    ----------
    centre
        Of the box in that frame, m, shape (3,).
    edges
        Lengths of its edges, m, shape (3,).

    Raises
    ------
    ValueError
        If an edge is not positive.
    """

    centre: Floats
    edges: Floats

    def __post_init__(self) -> None:
        if not np.all(np.asarray(self.edges) > 0.0):
            raise ValueError(f"expected edges > 0 m, found {np.asarray(self.edges).tolist()}")


@dataclass(frozen=True)
class Clearance:
    """Distance of a capsule from a box; arrays have the shape of the arguments.

    Parameters
    ----------
    distance
        Between both surfaces, m. Negative if the capsule is in the box: the least displacement
        along ``normal`` that frees it.
    share
        Nearest position on the axis, 0 at its start, 1 at its end.
    normal
        Unit vector from the box to that point, shape (.., 3).
    """

    distance: Floats
    share: Floats
    normal: Floats

    def slope(self, start: Floats, end: Floats) -> Floats:
        """Derivative of the distance from those of the ends of the axis, (.., 3), m per unit.

        Motion of the nearest point along the axis has no effect to first order.
        """
        moved = (1.0 - self.share[..., None]) * start + self.share[..., None] * end
        return np.asarray(np.sum(self.normal * moved, axis=-1))


def box_clearance(box: Box, start: Floats, end: Floats, radius: float) -> Clearance:
    """Return the clearance of capsules from a box.

    The signed distance of a point from a convex body is a convex function of the point, so it has
    one minimum along the axis, which a golden-section search finds.

    Parameters
    ----------
    box
        The box.
    start, end
        Ends of the axes, in its frame, m, shape (.., 3).
    radius
        Of the capsules, m.

    References
    ----------
    Boyd, Vandenberghe: Convex Optimization (2004), section 3.2.5. Kiefer: Sequential minimax search
    for a maximum, Proc. AMS 4 (1953).
    """
    start, end = np.broadcast_arrays(np.asarray(start, float), np.asarray(end, float))

    def at(share: Floats) -> Floats:
        point = start + share[..., None] * (end - start)
        return np.asarray(_signed_distance(box, point))

    low, high = np.zeros(start.shape[:-1]), np.ones(start.shape[:-1])
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        goes_left = at(left) <= at(right)
        low, high = np.where(goes_left, low, left), np.where(goes_left, right, high)
    shares = np.stack([np.zeros_like(low), 0.5 * (low + high), np.ones_like(low)])
    values = np.stack([at(share) for share in shares])
    best = np.argmin(values, axis=0)[None]
    share = np.take_along_axis(shares, best, axis=0)[0]
    distance = np.take_along_axis(values, best, axis=0)[0] - radius
    return Clearance(distance, share, _normal(box, start + share[..., None] * (end - start)))


def _beyond(box: Box, point: Floats) -> Floats:
    """Distance of a point beyond the faces along each axis, m, negative inside."""
    return np.asarray(np.abs(point - box.centre) - 0.5 * np.asarray(box.edges))


def _signed_distance(box: Box, point: Floats) -> Floats:
    beyond = _beyond(box, point)
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return np.asarray(outside + np.minimum(np.max(beyond, axis=-1), 0.0))


def _normal(box: Box, point: Floats) -> Floats:
    """Gradient of the signed distance; of the nearest face where the point is inside."""
    beyond, sign = _beyond(box, point), np.where(point >= box.centre, 1.0, -1.0)
    outward = np.maximum(beyond, 0.0)
    length = np.linalg.norm(outward, axis=-1, keepdims=True)
    face = np.eye(3)[np.argmax(beyond, axis=-1)]
    return np.asarray(
        sign * np.where(length > 0.0, outward / np.where(length > 0, length, 1.0), face)
    )
