"""Angles of attitudes that are given as quaternions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def cardan_angles(q: ArrayLike) -> NDArray[np.float64]:
    """Turn quaternions into angles about x, y and z.

    The frame turns about the fixed x axis first, then y, then z. For small turns the angles are
    those of the rotation vector. The middle angle stays within a quarter turn, where the other two
    mean nothing; they have no jumps of a full turn from one attitude to the next.

    Parameters
    ----------
    q
        Quaternions, scalar first, shape (n, 4); their length does not matter.

    Returns
    -------
    ndarray
        Shape (n, 3), rad.
    """
    a, b, c, d = (np.asarray(q, dtype=np.float64) / np.linalg.norm(q, axis=1, keepdims=True)).T
    x = np.arctan2(2.0 * (a * b + c * d), 1.0 - 2.0 * (b * b + c * c))
    y = np.arcsin(np.clip(2.0 * (a * c - d * b), -1.0, 1.0))
    z = np.arctan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
    return np.column_stack([np.unwrap(x), y, np.unwrap(z)])
