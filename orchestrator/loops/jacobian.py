"""Jacobian of a function by differences, which tells where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Half width of a difference, as a share of the point's size; its square is the share of the error
#: that extrapolation leaves, and rounding is amplified by its inverse.
_WIDTH = 1e-3
#: One-sided slopes that differ by more than this share of themselves, at half the width as well.
_KINK = 1e-2
#: Widths by which the point lies beyond a kink if one side of it is wanted.
_BEYOND = 4.0


class Side(StrEnum):
    """Which side of a kink is taken: where more acts, as a contact does that is closed, or less."""

    MEAN = "mean"
    OPEN = "open"
    CLOSED = "closed"

    @property
    def what(self) -> str:
        """What is taken, in words."""
        both = "the mean of both sides is taken"
        return both if self is Side.MEAN else f"the side of {self} contact is taken"


@dataclass(frozen=True)
class Jacobian:
    """Derivatives at a point.

    Parameters
    ----------
    matrix
        float64 of shape (results, arguments).
    kinks
        Numbers of the arguments at which slopes to both sides differ: a contact that is just open,
        a limit that is just reached.
    """

    matrix: Floats
    kinks: tuple[int, ...]


def jacobian(
    function: Callable[[Floats], Floats], point: Floats, sizes: Floats, side: Side = Side.MEAN
) -> Jacobian:
    """Differentiate by central differences of two widths, extrapolated to the fourth order."""
    middle = function(point)
    columns, shift = np.zeros((middle.size, point.size)), np.zeros(point.size)
    kinks = []
    for i, size in enumerate(sizes):
        slopes, gaps, sides = [], [], []
        for width in (_WIDTH * size, 0.5 * _WIDTH * size):
            ahead, behind = point.copy(), point.copy()
            ahead[i] += width
            behind[i] -= width
            up, down = function(ahead), function(behind)
            width_up, width_down = ahead[i] - point[i], point[i] - behind[i]
            slopes.append((up - down) / (width_up + width_down))
            gaps.append(np.abs((up - middle) / width_up - (middle - down) / width_down))
            sides.append((up, down))
        columns[:, i] = (4.0 * slopes[1] - slopes[0]) / 3.0
        # The gap of a smooth function halves with the width; that of a kink stays.
        rounding = 1e-10 * np.abs(middle).max(initial=0.0) / (_WIDTH * size)
        large = gaps[1] > _KINK * np.abs(slopes[1]) + rounding
        if np.any(large & (gaps[1] > 0.75 * gaps[0])):
            kinks.append(i)
            # Between two points on one side: what jumps at the kink itself has no part in it.
            ahead_acts, behind_acts = (
                np.abs(np.subtract(*ends)).sum() for ends in zip(*sides, strict=True)
            )
            shift[i] = math.copysign(_BEYOND * _WIDTH * size, ahead_acts - behind_acts)
    if kinks and side is not Side.MEAN:
        there = point + shift if side is Side.CLOSED else point - shift
        return Jacobian(jacobian(function, there, sizes).matrix, tuple(kinks))
    return Jacobian(columns, tuple(kinks))
