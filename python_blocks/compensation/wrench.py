"""Eq 27 to 34 of the compensation in six degrees of freedom, compiled; see :mod:`.force_moment`."""

from __future__ import annotations

from math import isfinite, nan

from orchestrator import compiled
from python_blocks.kinematics.rotation import Floats

Vector = tuple[float, float, float]
#: Position, attitude (a quaternion, scalar first), velocity and angular velocity.
Motion = tuple[Floats, Floats, Floats, Floats]


@compiled
def vector(a: Floats) -> Vector:
    """Return an array of shape (3,) as a tuple, which allocates nothing here."""
    return a[0], a[1], a[2]


@compiled
def plus(a: Vector, b: Vector, factor: float) -> Vector:
    """Return ``a + factor b``."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def turned(q: Floats, a: Vector) -> Vector:
    """Turn a vector by a quaternion of any norm; norm zero gives NaN."""
    axis = q[1], q[2], q[3]
    norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    half = cross(axis, a)
    scale = 2.0 / norm if norm > 0.0 else nan
    return plus(plus(a, half, scale * q[0]), cross(axis, half), scale)


@compiled
def deviation(
    computed: Motion, actual: Motion, points: tuple[Floats, Floats, Floats]
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the actual captured point from the end-effector, its velocity, and both errors.

    Parameters
    ----------
    computed
        Of the spacecraft relative to the end-effector.
    actual
        Of the robot's control point in its base.
    points
        End-effector in the base; control point in the spacecraft; captured point from it.
    """
    s, q, v, w = computed
    position, actual_q, velocity, actual_w = actual
    effector, control, captured = points
    to_point = turned(q, plus(vector(control), vector(captured), 1.0))
    offset = turned(actual_q, vector(captured))
    moving = plus(vector(v), cross(vector(w), to_point), 1.0)  # Eq 27
    arm = plus(plus(vector(position), offset, 1.0), vector(effector), -1.0)
    ds = plus(plus(vector(s), to_point, 1.0), arm, -1.0)  # Eq 29
    rate = plus(vector(velocity), cross(vector(actual_w), offset), 1.0)
    return arm, ds, moving, plus(moving, rate, -1.0)  # Eq 28


@compiled
def compensate(
    ahead: float,
    limit: float,
    point: float,
    measured: tuple[Floats, Floats],
    last: tuple[Floats, Floats],
    contact: tuple[Floats, Floats, Floats],
    computed: Motion,
    actual: Motion,
    points: tuple[Floats, Floats, Floats],
    readings: tuple[Floats, Floats, Floats, Floats],
) -> tuple[bool, bool]:
    """Write the compensated wrench; return whether it was corrected, and whether at a limit.

    Parameters
    ----------
    ahead
        Time by which the motion of the computed point is extrapolated, s.
    limit
        Largest correction of a direction, N.
    point
        1: the contact has no moment of its own: that of the force is at the captured point.
    measured
        Force and moment, N and N m.
    last
        The last finite ones, which replace values that are not finite.
    contact
        Stiffness, damping, and above 0.5 where a sign is wrong.
    computed, actual, points
        See :func:`deviation`.
    shown
        Arrays to write: force, moment, correction of the force, error of the point.
    """
    believed = True
    for i in range(3):
        believed = believed and isfinite(measured[0][i]) and isfinite(measured[1][i])
    if believed:
        last[0][:], last[1][:] = measured[0], measured[1]
    stiffness, damping, wrong_sign = contact
    force, torque, added, error = readings
    arm, missing, velocity, dv = deviation(computed, actual, points)
    ds = plus(missing, velocity, ahead)
    active, limited = believed, False
    for i in range(3):
        right = not wrong_sign[i] > 0.5
        correction = stiffness[i] * ds[i] + damping[i] * dv[i] if right else 0.0
        active = active and isfinite(arm[i]) and isfinite(ds[i]) and isfinite(correction)
        added[i], error[i] = min(max(correction, -limit), limit), missing[i]
        limited = limited or added[i] != correction
    if not active:
        added[:], error[:], limited = 0.0, 0.0, False
        arm, ds = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(3):
        force[i] = last[0][i] + added[i]  # Eq 31
    moment = cross(arm, vector(last[0])) if point == 1.0 and active else vector(last[1])  # Eq 22
    by_arm, by_error = cross(arm, vector(added)), cross(ds, vector(force))
    for i in range(3):
        torque[i] = moment[i] + by_arm[i] + by_error[i]  # Eq 33, 34
    return active, limited
