"""How a command moves from one value to another, and how it comes to rest."""

from __future__ import annotations

from math import copysign, sqrt

from orchestrator.core.diagnostics import DescriptionError


def blending_weight(share: float) -> float:
    """Return 0 to 1 for a share of the time, with no velocity and no acceleration at both ends.

    The quintic ``10 s^3 - 15 s^4 + 6 s^5``.
    """
    s = min(max(share, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


class RestProfile:
    """The fastest way to rest that keeps a deceleration and a jerk.

    From velocity ``v`` and acceleration ``a`` the acceleration goes to a peak, stays there, and
    goes back to 0 where the velocity is 0, with jerk ``+J``, 0, ``-J`` (a trapezoid, or a triangle
    where the peak stays below the deceleration ``A``). Position, velocity and acceleration are
    continuous; the size of the acceleration never exceeds ``A`` and that which it began with.

    position, velocity, acceleration: Where it begins, in the unit of the command, per s and per s2.
    deceleration: ``A`` > 0, per s2.
    jerk: ``J`` > 0, per s3.
    duration: Until it stands, s.

    References
    ----------
    Biagiotti, Melchiorri: Trajectory Planning for Automatic Machines and Robots, 2008, section 3.4
    (double S), for the case that only a final velocity of 0 is requested.
    """

    def __init__(
        self,
        position: float,
        velocity: float,
        acceleration: float,
        deceleration: float,
        jerk: float,
    ) -> None:
        if not (deceleration > 0.0 and jerk > 0.0):
            raise DescriptionError(
                "expected a deceleration and a jerk > 0 to come to rest with, found"
                f" {deceleration:g} and {jerk:g}"
            )
        self._begin = position, velocity, acceleration
        self._pieces = _pieces(velocity, acceleration, deceleration, jerk)
        self.duration = sum(length for length, _ in self._pieces)

    def at(self, t: float) -> tuple[float, float, float]:
        """Return position, velocity and acceleration ``t`` seconds after the beginning."""
        x, v, a = self._begin
        remaining = max(t, 0.0)
        for length, jerk in self._pieces:
            h = min(remaining, length)
            x += h * (v + h * (a / 2.0 + h * jerk / 6.0))
            v += h * (a + h * jerk / 2.0)
            a += h * jerk
            remaining -= h
        return (x, 0.0, 0.0) if t >= self.duration else (x, v, a)


def _pieces(v: float, a: float, deceleration: float, jerk: float) -> list[tuple[float, float]]:
    """Return length and jerk of the parts, for a peak in the direction of the missing velocity."""
    missing = -v - copysign(a * a / (2.0 * jerk), a)  # once the acceleration is brought to 0
    if missing == 0.0:
        return [(abs(a) / jerk, -copysign(jerk, a))]
    side = copysign(1.0, missing)
    ahead, start = -side * v, side * a  # both counted in the direction of the peak
    peak = sqrt(max(jerk * ahead + start * start / 2.0, 0.0))
    stays = 0.0
    if peak > deceleration:
        peak = deceleration
        sign = 1.0 if start <= peak else -1.0
        first = sign * (peak * peak - start * start) / (2.0 * jerk)
        stays = (ahead - first - peak * peak / (2.0 * jerk)) / peak
    return [
        (abs(peak - start) / jerk, side * copysign(jerk, peak - start)),
        (stays, 0.0),
        (peak / jerk, -side * jerk),
    ]
