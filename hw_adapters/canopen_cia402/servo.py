"""The emulated servo loops of one drive: torque, velocity, position."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """What an emulated drive is tuned to.

    Parameters
    ----------
    inertia
        That its loops reckon with, kg m2.
    bandwidth
        Of the velocity loop, Hz; the position loop has a quarter of it.
    current_lag
        Of the torque behind what is wanted, first order, s.
    ripple
        Share by which its torque varies as it turns; its drive, which knows the current, does not
        see it.
    segments
        Periods of that in a turn.
    """

    inertia: float
    bandwidth: float = 40.0
    current_lag: float = 0.5e-3
    ripple: float = 0.0
    segments: int = 7

    def torque_at(self, angle: float) -> float:
        """Return torque per torque that the drive reckons with, at an angle in rad."""
        return 1.0 + self.ripple * math.cos(self.segments * angle)


@dataclass(frozen=True, slots=True)
class Plate:
    """What stands on the plate of an emulated drive.

    Parameters
    ----------
    counts
        Increments of a turn; velocity is in increments per second.
    rated_torque
        N.m; torque is in thousandths of it.
    sync_tolerance
        Cycles without SYNC until it is in fault.
    """

    counts: int = 65536
    rated_torque: float = 1.0
    sync_tolerance: int = 20


class Servo:
    """Makes torque of what is wanted; everything in rad, s and N.m.

    Velocity: ``torque = J w_c (e + w_c / 5 * integral of e)`` with ``w_c = 2 pi bandwidth``; the
    integral stands still at the limit of torque. Position: ``velocity = w_c / 4 * e + x_wanted'``.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        self._corner = 2.0 * math.pi * tuning.bandwidth
        self._integral = 0.0
        self.torque = 0.0

    def reset(self) -> None:
        """Begin without memory."""
        self._integral = 0.0

    def position(self, error: float, rate: float, velocity: float, h: float, limit: float) -> float:
        """Return the torque that is wanted for an error of position and a wanted rate."""
        return self.velocity(self._corner / 4.0 * error + rate - velocity, h, limit)

    def velocity(self, error: float, h: float, limit: float) -> float:
        """Return the torque that is wanted for an error of velocity, within a limit."""
        gain = self._tuning.inertia * self._corner
        rate = gain * (error + self._corner / 5.0 * (self._integral + h * error))
        if abs(rate) <= limit:
            self._integral += h * error
        return max(-limit, min(limit, rate))

    def follow(self, target: float, h: float) -> float:
        """Let the torque follow for ``h`` s; return its mean over them."""
        lag = self._tuning.current_lag
        before = self.torque
        if lag == 0.0:
            self.torque = target
            return target
        decay = -math.expm1(-h / lag)
        self.torque += (target - before) * decay
        return target + (before - target) * decay * lag / h
