"""Rotations by quaternions, scalar first; ``q`` and ``-q`` are the same attitude.

Functions that return tuples of rows use arithmetic only, so they accept floats and the symbols of
CasADi.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = tuple[tuple[Any, Any, Any], ...]


def rotation_rows(q: Sequence[Any] | Floats) -> Rows:
    """Return the rotation matrix of a quaternion, row by row.

    Parameters
    ----------
    q
        Shape (4,), of any norm but zero; turns vectors of the body's frame into the outer frame.

    Returns
    -------
    tuple of tuple
        Shape (3, 3); the matrix is divided by the square of the norm.
    """
    a, b, c, d = q[0], q[1], q[2], q[3]
    n = a * a + b * b + c * c + d * d
    return (
        ((a * a + b * b - c * c - d * d) / n, 2 * (b * c - a * d) / n, 2 * (b * d + a * c) / n),
        (2 * (b * c + a * d) / n, (a * a - b * b + c * c - d * d) / n, 2 * (c * d - a * b) / n),
        (2 * (b * d - a * c) / n, 2 * (c * d + a * b) / n, (a * a - b * b - c * c + d * d) / n),
    )


def rotated(q: Sequence[Any], vector: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Turn a vector, shape (3,), by a quaternion; faster than by arrays for lists of floats."""
    x, y, z = vector
    first, second, third = rotation_rows(q)
    return (
        first[0] * x + first[1] * y + first[2] * z,
        second[0] * x + second[1] * y + second[2] * z,
        third[0] * x + third[1] * y + third[2] * z,
    )


def matrix(q: Sequence[float] | Floats) -> Floats:
    """Return the rotation matrix of a quaternion, shape (3, 3)."""
    return np.array(rotation_rows(q))


def turned(q: Sequence[float] | Floats, angle: Sequence[float] | Floats) -> Floats:
    """Turn an attitude by a rotation vector of the outer frame.

    Parameters
    ----------
    q
        Shape (4,), attitude.
    angle
        Shape (3,), rotation vector in rad, in the outer frame.

    Returns
    -------
    ndarray
        Shape (4,), of norm 1.
    """
    x, y, z = (float(part) for part in angle)
    half = 0.5 * sqrt(x * x + y * y + z * z)
    scale = 0.5 * (1.0 - half * half / 6.0) if half < 1e-4 else 0.5 * float(np.sin(half)) / half
    s, u, v, w = float(np.cos(half)), scale * x, scale * y, scale * z
    a, b, c, d = (float(part) for part in q)
    product = np.array(
        [
            s * a - u * b - v * c - w * d,
            s * b + u * a + v * d - w * c,
            s * c - u * d + v * a + w * b,
            s * d + u * c - v * b + w * a,
        ]
    )
    return np.asarray(product / np.linalg.norm(product))


def cross(a: Sequence[Any] | Floats, b: Sequence[Any] | Floats) -> tuple[Any, Any, Any]:
    """Return the cross product of two vectors of shape (3,), faster than ``numpy.cross``."""
    x, y, z = a
    u, v, w = b
    return y * w - z * v, z * u - x * w, x * v - y * u
