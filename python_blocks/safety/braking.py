"""Coming to rest from a motion, at a deceleration that is kept."""

from __future__ import annotations

from math import copysign, sqrt


def braked(position: float, velocity: float, deceleration: float, h: float) -> tuple[float, float]:
    """Give position and velocity a step later, on the way to rest.

    At a constant deceleration ``a`` against the velocity ``v`` the axis stands after ``|v|/a``, a
    distance of ``v^2/(2 a)`` on. The step is the closed form of that, so the way does not depend
    on the sampling; position and velocity are continuous, the acceleration is never above ``a``.

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
    """Give the way of a step, and the velocity after it, of a vector that comes to rest.

    Its direction stays; its size goes down as :func:`braked` has it, so the way is straight.

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
