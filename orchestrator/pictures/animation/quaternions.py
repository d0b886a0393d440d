"""Rows of unit quaternions, scalar first: products, powers, turned vectors, interpolation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def product(p: Floats, q: Floats) -> Floats:
    """Give the attitudes that turn by ``q`` first and by ``p`` then; shapes (n, 4)."""
    a, b, c, d = p.T
    w, x, y, z = q.T
    return np.column_stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def conjugate(q: Floats) -> Floats:
    """Give the attitudes that turn back; shape (n, 4)."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]), dtype=np.float64)


def turned(q: Floats, vectors: Floats) -> Floats:
    """Turn vectors of the inner frame into the outer frame; shapes (n, 4) and (n, 3)."""
    axis = q[:, 1:]
    twice = 2.0 * np.cross(axis, vectors)
    return np.asarray(vectors + q[:, :1] * twice + np.cross(axis, twice), dtype=np.float64)


def power(q: Floats, exponent: float) -> Floats:
    """Turn by a multiple of the angle about the same axis, the short way; shape (n, 4)."""
    q = np.where(q[:, :1] < 0.0, -q, q)
    size = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    half = exponent * np.arctan2(size, q[:, :1])
    axis = np.divide(q[:, 1:], size, out=np.zeros_like(q[:, 1:]), where=size > 0.0)
    return np.hstack([np.cos(half), np.sin(half) * axis])


def interpolated(at: Floats, times: Floats, q: Floats) -> Floats:
    """Interpolate attitudes along great circles.

    Parameters
    ----------
    at
        Times that are asked for, shape (m,), within ``times``.
    times, q
        Times, not decreasing, shape (n,), and attitudes of norm 1, shape (n, 4).

    Returns
    -------
    ndarray
        Shape (m, 4).
    """
    after = np.clip(np.searchsorted(times, at, side="right"), 1, max(len(times) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(times) - 1)
    span = times[after] - times[before]
    share = np.divide(at - times[before], span, out=np.zeros_like(at), where=span > 0.0)
    step = product(conjugate(q[before]), q[after])
    step = np.where(step[:, :1] < 0.0, -step, step)
    size = np.linalg.norm(step[:, 1:], axis=1)
    half = share * np.arctan2(size, step[:, 0])
    # sin(half)/size, whose limit for no turn at all is the share
    scale = np.divide(np.sin(half), size, out=share.copy(), where=size > 1e-12)
    return product(q[before], np.column_stack([np.cos(half), scale[:, None] * step[:, 1:]]))
