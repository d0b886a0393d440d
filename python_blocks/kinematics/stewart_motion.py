"""Computations of each step of a Stewart platform, compiled; see :mod:`.stewart`.

Arrays: ``base`` and ``platform`` are joints of shape (6, 3), m; poses are a position of shape (3,),
m, and a quaternion of shape (4,), scalar first; rates are Jacobians of shape (6, 6).
"""

from __future__ import annotations

from math import cos, inf, sin, sqrt

import numpy as np

from orchestrator import compiled
from python_blocks.kinematics.rotation import Floats

#: Steps after which a search for a pose ends.
MOST_STEPS = 20
_MOST_SWEEPS = 40
#: m, m/s, rad/s; larger numbers are no motion, and their squares may not be numbers.
LARGEST = 1e9
_SAME = 1e-28  # cosine, squared, of columns that count as perpendicular


@compiled
def believable(values: Floats) -> bool:
    """Whether all are finite, and of a plausible size for a robot."""
    for value in values:  # noqa: SIM110 - Numba takes no generators
        if not abs(value) < LARGEST:
            return False
    return True


@compiled
def legs(
    base: Floats, platform: Floats, position: Floats, q: Floats, lengths: Floats, rates: Floats
) -> None:
    """Write the lengths of the legs, shape (6,), and their rates for a motion of the platform."""
    a, b, c, d = q
    n = a * a + b * b + c * c + d * d
    R = (
        ((a * a + b * b - c * c - d * d) / n, 2 * (b * c - a * d) / n, 2 * (b * d + a * c) / n),
        (2 * (b * c + a * d) / n, (a * a - b * b + c * c - d * d) / n, 2 * (c * d - a * b) / n),
        (2 * (b * d - a * c) / n, 2 * (c * d + a * b) / n, (a * a - b * b - c * c + d * d) / n),
    )
    for i in range(6):
        u, v, w = platform[i]
        x = R[0][0] * u + R[0][1] * v + R[0][2] * w  # from the control point to the upper joint
        y = R[1][0] * u + R[1][1] * v + R[1][2] * w
        z = R[2][0] * u + R[2][1] * v + R[2][2] * w
        along = position[0] + x - base[i, 0]
        across = position[1] + y - base[i, 1]
        up = position[2] + z - base[i, 2]
        length = max(sqrt(along * along + across * across + up * up), 1e-12)
        e, f, g = along / length, across / length, up / length
        lengths[i] = length
        rates[i, 0], rates[i, 1], rates[i, 2] = e, f, g
        rates[i, 3], rates[i, 4], rates[i, 5] = y * g - z * f, z * e - x * g, x * f - y * e


@compiled
def perpendicular(u: Floats, p: int, q: int) -> bool:
    """Rotate two columns until they are perpendicular; return whether they were not."""
    aa, bb, ab = 0.0, 0.0, 0.0
    for i in range(6):
        aa += u[i, p] * u[i, p]
        bb += u[i, q] * u[i, q]
        ab += u[i, p] * u[i, q]
    if ab * ab <= _SAME * aa * bb:
        return False
    zeta = (bb - aa) / (2.0 * ab)
    tangent = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    cosine = 1.0 / sqrt(1.0 + tangent * tangent)
    for i in range(6):
        x, y = u[i, p], u[i, q]
        u[i, p], u[i, q] = cosine * (x - tangent * y), cosine * (tangent * x + y)
    return True


@compiled
def condition(rates: Floats, radius: float) -> float:
    """Return the condition number of a Jacobian, turns counted in radii; infinite where singular.

    One-sided Jacobi rotations make its columns perpendicular. Their lengths are then the singular
    values, each with its own relative accuracy.
    """
    u = rates.copy()
    for i in range(6):
        for j in range(3, 6):
            u[i, j] /= radius
    for _ in range(_MOST_SWEEPS):
        turned = False
        for p in range(5):
            for q in range(p + 1, 6):
                turned = perpendicular(u, p, q) or turned
        if not turned:
            break
    largest, smallest = 0.0, inf
    for j in range(6):
        square = 0.0
        for i in range(6):
            square += u[i, j] * u[i, j]
        largest, smallest = max(largest, square), min(smallest, square)
    return sqrt(largest / smallest) if smallest > 0.0 else inf


@compiled
def solved(matrix: Floats, right: Floats) -> tuple[Floats, bool]:
    """Solve six linear equations with pivoting; return whether there is a solution."""
    a, x = matrix.copy(), right.copy()
    for j in range(6):
        pivot = j
        for i in range(j + 1, 6):
            if abs(a[i, j]) > abs(a[pivot, j]):
                pivot = i
        if a[pivot, j] == 0.0:
            return x, False
        for k in range(6):
            a[j, k], a[pivot, k] = a[pivot, k], a[j, k]
        x[j], x[pivot] = x[pivot], x[j]
        for i in range(j + 1, 6):
            factor = a[i, j] / a[j, j]
            for k in range(j, 6):
                a[i, k] -= factor * a[j, k]
            x[i] -= factor * x[j]
    for j in range(5, -1, -1):
        for k in range(j + 1, 6):
            x[j] -= a[j, k] * x[k]
        x[j] /= a[j, j]
    return x, True


@compiled
def moved(position: Floats, q: Floats, step: Floats) -> None:
    """Move a pose in place: by a displacement, and by a rotation vector of the outer frame."""
    for i in range(3):
        position[i] += step[i]
    x, y, z = step[3], step[4], step[5]
    half = 0.5 * sqrt(x * x + y * y + z * z)
    scale = 0.5 * (1.0 - half * half / 6.0) if half < 1e-4 else 0.5 * sin(half) / half
    s, u, v, w = cos(half), scale * x, scale * y, scale * z
    a, b, c, d = q
    q[0] = s * a - u * b - v * c - w * d
    q[1] = s * b + u * a + v * d - w * c
    q[2] = s * c - u * d + v * a + w * b
    q[3] = s * d + u * c - v * b + w * a
    q /= sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])


@compiled
def follow(
    base: Floats,
    platform: Floats,
    position: Floats,
    q: Floats,
    twist: tuple[Floats, Floats],
    limits: tuple[float, float],
    length: Floats,
    rate: Floats,
) -> tuple[bool, float, float]:
    """Write lengths, clipped to their limits, and their rates, 0 there.

    Parameters
    ----------
    twist
        Velocity of the control point, m/s, and angular velocity, rad/s, of shape (3,) each.
    limits
        Shortest and longest length, m.
    length, rate
        Arrays to write, shape (6,) each.

    Returns
    -------
    tuple
        Whether the pose and its twist are finite (nothing is written otherwise), the distance of
        the worst leg from its limits, m, and the condition number.
    """
    velocity, w = twist
    is_valid = believable(position) and believable(q) and believable(velocity) and believable(w)
    if not is_valid or not q.any():
        return False, 0.0, inf
    lengths, rates = np.empty(6), np.empty((6, 6))
    legs(base, platform, position, q, lengths, rates)
    shortest, longest = limits
    margin = inf
    for i in range(6):
        margin = min(margin, lengths[i] - shortest, longest - lengths[i])
        if lengths[i] < shortest or lengths[i] > longest:
            length[i], rate[i] = min(max(lengths[i], shortest), longest), 0.0
            continue
        length[i], rate[i] = lengths[i], 0.0
        for j in range(3):
            rate[i] += rates[i, j] * velocity[j] + rates[i, 3 + j] * w[j]
    return True, margin, condition(rates, sqrt(platform[0, 0] ** 2 + platform[0, 1] ** 2))


@compiled
def find_pose(
    base: Floats,
    platform: Floats,
    lengths: Floats,
    position: Floats,
    q: Floats,
    tolerance: float,
    most_steps: int,
) -> tuple[Floats, Floats, Floats, float, int]:
    """Find the pose that has given lengths by Newton's method; see :func:`.stewart.forward`.

    Returns
    -------
    tuple
        Position, quaternion and Jacobian of the best pose, the largest difference of a length
        there, m, and the steps that led there.
    """
    radius = sqrt(platform[0, 0] ** 2 + platform[0, 1] ** 2)
    position, q = position.copy(), q.copy()
    pose, rates, missing = np.empty(6), np.empty((6, 6)), np.empty(6)
    best, best_q, best_rates, smallest, count = position.copy(), q.copy(), np.eye(6), inf, 0
    if not np.isfinite(lengths).all():
        return best, best_q, best_rates, smallest, count
    for iteration in range(most_steps + 1):
        legs(base, platform, position, q, pose, rates)
        residual = 0.0
        for i in range(6):
            missing[i] = lengths[i] - pose[i]
            residual = max(residual, abs(missing[i]))
        if residual < smallest:
            best[:], best_q[:], best_rates[:] = position, q, rates
            smallest, count = residual, iteration
        if not residual > tolerance:
            break
        step, possible = solved(rates, missing)
        if not possible:
            break  # singular: no step leads on from here
        far = sqrt(step[0] ** 2 + step[1] ** 2 + step[2] ** 2)
        turn = radius * sqrt(step[3] ** 2 + step[4] ** 2 + step[5] ** 2)
        if max(far, turn) > 0.2 * radius:
            step *= 0.2 * radius / max(far, turn)
        moved(position, q, step)
    return best, best_q, best_rates, smallest, count


@compiled
def track(
    base: Floats,
    platform: Floats,
    length: Floats,
    rate: Floats,
    pose: tuple[Floats, Floats],
    twist: tuple[Floats, Floats],
    tolerance: float,
    condition_limit: float,
) -> tuple[bool, float, int, float]:
    """Move a pose to given lengths of the legs, and write its velocities for their rates.

    Parameters
    ----------
    length, rate
        Shape (6,) each.
    pose
        Position and quaternion: start of the search; they are changed.
    twist
        Arrays for velocity, m/s, and angular velocity, rad/s, of shape (3,) each.
    tolerance, condition_limit
        Without a pose, or with a singular one, the pose stays and the twist is 0.

    Returns
    -------
    tuple
        Whether lengths and rates are finite, the residual, m, steps, and the condition number.
    """
    velocity, w = twist
    velocity[:], w[:] = 0.0, 0.0
    if not (believable(length) and believable(rate)):
        return False, 0.0, 0, inf
    radius = sqrt(platform[0, 0] ** 2 + platform[0, 1] ** 2)
    position, q, rates, residual, count = find_pose(
        base, platform, length, pose[0], pose[1], tolerance, MOST_STEPS
    )
    singular = condition(rates, radius)
    if residual <= tolerance and singular <= condition_limit:
        pose[0][:], pose[1][:] = position, q
        motion, _ = solved(rates, rate)
        velocity[:], w[:] = motion[:3], motion[3:]
    return True, residual, count, singular
