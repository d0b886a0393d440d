"""Braking from a motion at a constant deceleration."""

from __future__ import annotations

from math import copysign, sqrt


def braked(position: float, velocity: float, deceleration: float, h: float) -> tuple[float, float]:
    """Return position and velocity a step later while braking.

    At a constant deceleration ``a`` against the velocity ``v`` the axis stops after ``|v|/a``, over
    ``v^2/(2 a)``. The step is the closed form, so the path does not depend on the sampling;
    position and velocity are continuous, and the acceleration is at most ``a``.

    Parameters
    ----------
    position, velocity
        Of an axis, in m and m/s or rad and rad/s.
    deceleration
        ``a`` > 0, in m/s2 or rad/s2.
    h
        Length of the step, s.
    """
    stopping_s = abs(velocity) / deceleration  # time until it stands
    if stopping_s <= h:
        return position + 0.5 * velocity * stopping_s, 0.0
    slower = velocity - copysign(deceleration * h, velocity)
    return position + 0.5 * (velocity + slower) * h, slower


def braked_vector(
    velocity: list[float], deceleration: float, h: float
) -> tuple[list[float], list[float]]:
    """Return the displacement of a step of a braking vector, and its velocity afterwards.

    Its direction is constant and its size decreases as in :func:`braked`, so the path is straight.

    Parameters
    ----------
    velocity
        Shape (3,), in m/s or rad/s.
    deceleration, h
        As for :func:`braked`.
    """
    x, y, z = velocity
    size = sqrt(x * x + y * y + z * z)
    if size == 0.0:
        return [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    distance, slower = braked(0.0, size, deceleration, h)
    ways, speeds = distance / size, slower / size
    return [x * ways, y * ways, z * ways], [x * speeds, y * speeds, z * speeds]
