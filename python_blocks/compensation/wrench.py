"""Eq 27 to 34 of the compensation in six degrees of freedom, compiled; see :mod:`.force_moment`."""

from __future__ import annotations

from math import nan

import numpy as np

from orchestrator.simunits.compiled import compiled
from python_blocks.kinematics.rotation import Floats

#: Position, attitude (a quaternion, scalar first), velocity and angular velocity.
Motion = tuple[Floats, Floats, Floats, Floats]


@compiled
def cross(a: Floats, b: Floats) -> Floats:
    """Give the cross product of two vectors of shape (3,)."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


@compiled
def turned(q: Floats, vector: Floats) -> Floats:
    """Turn a vector by a quaternion of any norm; one of norm zero gives no numbers."""
    norm = (q * q).sum()
    twice = cross(q[1:], vector) * (2.0 / norm if norm > 0.0 else nan)
    return vector + q[0] * twice + cross(q[1:], twice)


@compiled
def deviation(
    computed: Motion, actual: Motion, points: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Give the actual captured point from the end-effector, its error, velocity, and their error.

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
    to_point, offset = turned(q, control + captured), turned(actual_q, captured)
    moving = v + cross(w, to_point)  # Eq 27
    arm = position + offset - effector
    ds = s + to_point - arm  # Eq 29
    dv = moving - velocity - cross(actual_w, offset)  # Eq 28
    return arm, ds, moving, dv


@compiled
def compensate(
    ahead: float,
    limit: float,
    measured: tuple[Floats, Floats],
    last: tuple[Floats, Floats],
    contact: tuple[Floats, Floats, Floats],
    computed: Motion,
    actual: Motion,
    points: tuple[Floats, Floats, Floats],
    shown: tuple[Floats, Floats, Floats, Floats],
) -> tuple[bool, bool]:
    """Write the compensated wrench; say whether it was corrected, and whether a limit cut that.

    Parameters
    ----------
    ahead
        How far the motion of the computed point is followed, s.
    limit
        Largest correction of a direction, N.
    measured
        Force and moment, N and N m.
    last
        The last ones that were numbers; they stand where these are none.
    contact
        Stiffness, damping, and above 0.5 where a sign is wrong.
    computed, actual, points
        See :func:`deviation`.
    shown
        Where to write: force, moment, correction of the force, error of the point.
    """
    believed = np.isfinite(measured[0]).all() and np.isfinite(measured[1]).all()
    if believed:
        last[0][:], last[1][:] = measured
    arm, error, velocity, dv = deviation(computed, actual, points)
    stiffness, damping, wrong_sign = contact
    ds = error + ahead * velocity
    wanted = np.where(wrong_sign > 0.5, 0.0, stiffness * ds + damping * dv)
    active = (
        believed and np.isfinite(arm).all() and np.isfinite(ds).all() and np.isfinite(wanted).all()
    )
    if not active:
        arm, ds, wanted, error = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    added = np.minimum(np.maximum(wanted, -limit), limit)
    force, torque, force_correction, shown_error = shown
    force[:] = last[0] + added  # Eq 31
    torque[:] = last[1] + cross(arm, added) + cross(ds, force)  # Eq 33, 34
    force_correction[:], shown_error[:] = added, error
    return active, bool((added != wanted).any())
