"""Rotation vectors (axis times angle), as poses of the robot have them."""

from __future__ import annotations

import math
from collections.abc import Sequence

Three = tuple[float, float, float]
_Quaternion = tuple[float, float, float, float]


def turned(by: Sequence[float], first: Sequence[float]) -> Three:
    """Return the rotation vector of ``first``, then ``by``, both in the frame of the base, rad.

    Its angle is at most pi.
    """
    a, b = _quaternion(by), _quaternion(first)
    w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    return _vector((-w, -x, -y, -z) if w < 0.0 else (w, x, y, z))


def _quaternion(vector: Sequence[float]) -> _Quaternion:
    x, y, z = vector
    angle = math.sqrt(x * x + y * y + z * z)
    scale = 0.5 if angle < 1e-12 else math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), scale * x, scale * y, scale * z


def _vector(q: _Quaternion) -> Three:
    w, x, y, z = q
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 if sine < 1e-12 else 2.0 * math.atan2(sine, w) / sine
    return scale * x, scale * y, scale * z
