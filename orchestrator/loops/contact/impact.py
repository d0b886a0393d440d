"""Ideal impact: two free bodies meeting at a spring and a dashpot, in closed form.

With zeta = b / (2 sqrt(k mu)), w0 = sqrt(k / mu), mu the reduced mass and
A(zeta) = acos(zeta) / sqrt(1 - zeta^2) (acosh for zeta > 1), the contact force starts at b v,
falls to zero at t = 2 A / w0 while the spring is still compressed, and leaves the share
exp(-2 zeta A) of the approach speed. There is no adhesion: from then on the bodies fly free.

References
----------
Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for hardware-in-the-loop
docking simulation (EPOS 2.0), Eq 1. Added: release where the force, not the penetration, reaches
zero; the closed forms of peak and release.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct

Floats = NDArray[np.float64]


class ImpactTrajectory(Struct, eq=False):
    """The two bodies and their contact force over time; all arrays have the shape of ``time``.

    Parameters
    ----------
    time
        Time since first touch, s.
    x1, x2
        Positions, m; both are zero at first touch.
    v1, v2
        Velocities, m/s.
    a1, a2
        Accelerations, m/s^2; at first touch they are those of the contact.
    force
        Contact force, N, pushing body 2 forward and body 1 back.
    """

    time: Floats
    x1: Floats
    v1: Floats
    a1: Floats
    x2: Floats
    v2: Floats
    a2: Floats
    force: Floats


class IdealImpact(Struct):
    """A spring-dashpot impact of two free bodies on one line.

    Parameters
    ----------
    mass1, mass2
        Masses, kg. Body 1 comes from the negative side.
    stiffness
        Contact stiffness k, N/m.
    damping
        Contact damping b, N s/m.
    velocity1, velocity2
        Velocities before the impact, m/s.

    Raises
    ------
    DescriptionError
        A mass or the stiffness is not positive, the damping is negative, or the bodies do not
        approach each other.
    """

    mass1: float
    mass2: float
    stiffness: float
    damping: float
    velocity1: float
    velocity2: float = 0.0

    def __post_init__(self) -> None:
        problems = [
            f"ideal impact: {name} must be finite and > 0 {unit}, got {value}"
            for name, value, unit in (
                ("mass1", self.mass1, "kg"),
                ("mass2", self.mass2, "kg"),
                ("stiffness", self.stiffness, "N/m"),
            )
            if not (math.isfinite(value) and value > 0.0)
        ]
        if not (math.isfinite(self.damping) and self.damping >= 0.0):
            problems.append(f"ideal impact: damping must be >= 0 N s/m, got {self.damping}")
        if not (math.isfinite(self.approach_speed) and self.approach_speed > 0.0):
            problems.append(
                "ideal impact: body 1 must be faster than body 2 to meet it, got "
                f"{self.velocity1} and {self.velocity2} m/s"
            )
        if problems:
            raise DescriptionError(*problems)

    @property
    def reduced_mass(self) -> float:
        """Reduced mass m1 m2 / (m1 + m2), kg."""
        return self.mass1 * self.mass2 / (self.mass1 + self.mass2)

    @property
    def approach_speed(self) -> float:
        """Relative speed v1 - v2 before the impact, m/s."""
        return self.velocity1 - self.velocity2

    @property
    def centre_of_mass_velocity(self) -> float:
        """Velocity of the common centre of mass, m/s (Eq 4)."""
        momentum = self.mass1 * self.velocity1 + self.mass2 * self.velocity2
        return momentum / (self.mass1 + self.mass2)

    @property
    def natural_frequency(self) -> float:
        """Undamped angular frequency of the closed contact, rad/s."""
        return math.sqrt(self.stiffness / self.reduced_mass)

    @property
    def damping_ratio(self) -> float:
        """Damping over critical damping, 1."""
        return self.damping / (2.0 * math.sqrt(self.stiffness * self.reduced_mass))

    @property
    def release_time(self) -> float:
        """Time at which the force has fallen to zero and the bodies part, s."""
        return 2.0 * _angle_over_sine(self.damping_ratio) / self.natural_frequency

    @property
    def release_relative_speed(self) -> float:
        """Relative speed v1 - v2 after release, m/s, negative."""
        lost = self.damping_ratio * self.natural_frequency * self.release_time
        return -self.approach_speed * math.exp(-lost)

    @property
    def peak_time(self) -> float:
        """Time of the largest force, s; zero (first touch) for damping ratios from 1/2 on."""
        zeta = self.damping_ratio
        if zeta >= 0.5:
            return 0.0
        return (3.0 * math.acos(zeta) - math.pi) / (
            self.natural_frequency * math.sqrt(1.0 - zeta * zeta)
        )

    @property
    def peak_force(self) -> float:
        """Largest contact force, N."""
        if self.damping_ratio >= 0.5:
            return self.damping * self.approach_speed
        lost = self.damping_ratio * self.natural_frequency * self.peak_time
        impulse_rate = self.reduced_mass * self.approach_speed * self.natural_frequency
        return impulse_rate * math.exp(-lost)

    def trajectory(self, time: ArrayLike) -> ImpactTrajectory:
        """Evaluate the motion.

        Parameters
        ----------
        time
            Times since first touch, s, any shape; before it and after release the bodies fly free.

        Returns
        -------
        ImpactTrajectory
            Positions, velocities, accelerations and force.
        """
        t = np.asarray(time, dtype=float)
        end = self.release_time
        within = np.clip(t, 0.0, end)
        depth, speed = self._contact(within)
        touching = (t >= 0.0) & (t < end)
        force = np.where(touching, self.stiffness * depth + self.damping * speed, 0.0)
        force = np.maximum(force, 0.0)  # rounding at the last instant
        speed = np.where(t >= end, self.release_relative_speed, speed)
        depth = depth + speed * (t - within)
        share1 = self.mass2 / (self.mass1 + self.mass2)
        share2 = self.mass1 / (self.mass1 + self.mass2)
        drift = self.centre_of_mass_velocity
        return ImpactTrajectory(
            time=t,
            x1=drift * t + share1 * depth,
            v1=drift + share1 * speed,
            a1=-force / self.mass1,
            x2=drift * t - share2 * depth,
            v2=drift - share2 * speed,
            a2=force / self.mass2,
            force=force,
        )

    def _contact(self, t: Floats) -> tuple[Floats, Floats]:
        """Penetration, m, and its rate, m/s, while in contact."""
        zeta, w0 = self.damping_ratio, self.natural_frequency
        decay = np.exp(-zeta * w0 * t)
        if zeta < 1.0:
            wd = w0 * math.sqrt(1.0 - zeta * zeta)
            even, odd = np.cos(wd * t), t * np.sinc(wd * t / np.pi)
        else:
            wd = w0 * math.sqrt(zeta * zeta - 1.0)
            even, odd = np.cosh(wd * t), np.sinh(wd * t) / wd if wd > 0.0 else t
        depth = self.approach_speed * decay * odd
        return depth, self.approach_speed * decay * (even - zeta * w0 * odd)


def _angle_over_sine(zeta: float) -> float:
    """A(zeta): acos(zeta) / sqrt(1 - zeta^2) continued past 1; 1 at zeta = 1."""
    gap = 1.0 - zeta * zeta
    if abs(gap) < 1e-8:
        return 1.0 + gap / 6.0
    if gap > 0.0:
        return math.acos(zeta) / math.sqrt(gap)
    return math.acosh(zeta) / math.sqrt(-gap)
