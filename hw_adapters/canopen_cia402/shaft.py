"""The emulated shaft that drives turn: inertia, viscous friction, Coulomb friction that sticks."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Shaft:
    """A shaft in steps of constant torque: ``J w' = torque - b w - c sign(w) - m sin(angle)``.

    Parameters
    ----------
    inertia
        J, kg m2.
    viscous
        b, N.m.s/rad.
    coulomb
        c, N.m; at rest it holds against any torque up to that.
    position, velocity
        rad and rad/s.
    misalignment
        m, N.m, of bent couplings, once in a turn; constant within a step.
    is_blocked
        It stands still whatever the torque.
    """

    inertia: float
    viscous: float = 0.0
    coulomb: float = 0.0
    position: float = 0.0
    velocity: float = 0.0
    misalignment: float = 0.0
    is_blocked: bool = False

    def step(self, torque: float, h: float) -> None:
        """Go on by ``h`` s; exact where the direction does not change.

        The torque of Coulomb friction is constant within a step, and never turns the shaft back.
        """
        if self.is_blocked:
            self.velocity = 0.0
            return
        torque -= self.misalignment * math.sin(self.position)
        before = self.velocity
        against = math.copysign(self.coulomb, before or torque)
        if before == 0.0 and abs(torque) <= self.coulomb:
            return
        self._move(torque - against, h)
        if before and self.velocity * before < 0.0 and abs(torque) <= self.coulomb:
            self.velocity = 0.0

    def _move(self, torque: float, h: float) -> None:
        rate = self.viscous / self.inertia
        if rate == 0.0:
            gain = torque / self.inertia * h
            self.position += h * (self.velocity + 0.5 * gain)
            self.velocity += gain
            return
        end = torque / self.viscous
        decay = -math.expm1(-rate * h)
        self.position += end * h + (self.velocity - end) * decay / rate
        self.velocity += (end - self.velocity) * decay
