"""Peak, time and restitution of an impact with damping proportional to the elastic force.

With the relative speed u as a share of that at first touch, the elastic energy is ``m v0^2 (D (1 -
u) - ln((1 + D)/(1 + D u)))/D^2`` all through the contact (Cai et al., Eq 7, written so that it
holds for any elastic force): the restitution needs no integration, the peak force a search in u,
and the contact time a quadrature, ``dt = -m dv / (g (1 + D u))``. Eq 9 and 11 of the paper
integrate over v and delta and are singular at both ends and at the turning point; here each half is
integrated over a power of the distance from its end, which makes the integrand smooth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from orchestrator import DescriptionError
from python_blocks.contact.damping_numbers import loss, restitution_of


@dataclass(frozen=True)
class NormalImpact:
    """Impact of two free bodies with ``F = k delta^n (1 - delta/(3 radius)) (1 + D delta'/v0)``.

    Parameters
    ----------
    reduced_mass
        m1 m2/(m1 + m2), kg (Eq 5 is printed inverted).
    speed
        Approach speed v0 at first touch, m/s.
    k
        Elastic force at a depth of 1 m, N/m^n.
    damping_number
        D: see :mod:`python_blocks.contact.damping_numbers`.
    n
        Exponent.
    radius
        Of the sphere of the volumetric law, m; infinite for the power laws.
    deformation
        Depth at the start of the approach, m; 0 for separate bodies.

    Raises
    ------
    DescriptionError
        A figure is out of its range, such as a negative deformation; the error names all of them.
    """

    reduced_mass: float
    speed: float
    k: float
    damping_number: float
    n: float = 1.5
    radius: float = inf
    deformation: float = 0.0

    def __post_init__(self) -> None:
        positive = ("reduced_mass", "speed", "k", "n")
        problems = [
            f"impact: expected a finite {name} > 0, found {getattr(self, name)}"
            for name in positive
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0.0)
        ]
        if not self.radius > 0.0:
            problems.append(f"impact: expected a radius > 0 m, found {self.radius}")
        problems += [
            f"impact: expected a finite {name} >= 0, found {getattr(self, name)}"
            for name in ("damping_number", "deformation")
            if not (isfinite(getattr(self, name)) and getattr(self, name) >= 0.0)
        ]
        if problems:
            raise DescriptionError(*problems)

    def elastic(self, depth: float) -> float:
        """Return the elastic force at a depth, N."""
        return float(self.k * depth**self.n * (1.0 - depth / (3.0 * self.radius)))

    def energy(self, depth: float) -> float:
        """Return the elastic energy at a depth, J."""
        factor = 1.0 / (self.n + 1.0) - depth / (3.0 * self.radius * (self.n + 2.0))
        return float(self.k * depth ** (self.n + 1.0) * factor)

    def depth(self, u: float) -> float:
        """Return the depth, m, at a relative speed of ``u v0``."""
        stored = self.energy(self.deformation) + self._gained(u)
        if stored <= 0.0:
            return 0.0
        first = ((self.n + 1.0) * stored / self.k) ** (1.0 / (self.n + 1.0))
        if self.radius == inf:
            return float(first)
        return float(brentq(lambda x: self.energy(x) - stored, first, 2.0 * first, xtol=1e-16))

    def _gained(self, u: float) -> float:
        """Return the elastic energy gained since u = 1, J."""
        work, d = self.reduced_mass * self.speed**2, self.damping_number
        if d > 1e-3:
            return work * loss(d, u) / d**2
        series = sum((-d) ** i * (1.0 - u ** (i + 2)) / (i + 2) for i in range(6))
        return work * series

    def force(self, u: float) -> float:
        """Return the contact force, N, at a relative speed of ``u v0``."""
        return self.elastic(self.depth(u)) * (1.0 + self.damping_number * u)

    @property
    def restitution(self) -> float:
        """Leaving speed over approach speed."""
        if self.deformation == 0.0:
            return restitution_of(self.damping_number)
        last = 1.0 / self.damping_number if self.damping_number > 0.0 else inf
        before = self.energy(self.deformation)
        faster = (1.0 + 2.0 * before / (self.reduced_mass * self.speed**2)) ** 0.5
        high = min(faster, last * (1.0 - 1e-15))
        return float(brentq(lambda c: before + self._gained(-c), 0.0, high, xtol=1e-15))

    @property
    def peak_force(self) -> float:
        """Largest contact force, N; it comes before the largest depth."""
        peak = minimize_scalar(
            lambda u: -self.force(u), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9}
        )
        return float(-peak.fun)

    @property
    def largest_depth(self) -> float:
        """Largest depth, m."""
        return self.depth(0.0)

    @property
    def contact_time(self) -> float:
        """Time from first touch to separation, s."""
        return self._time(1.0) + self._time(-self.restitution)

    @property
    def dissipated(self) -> float:
        """Energy that the contact takes, J."""
        before = self.energy(self.deformation)
        return before + 0.5 * self.reduced_mass * self.speed**2 * (1.0 - self.restitution**2)

    def _time(self, end: float) -> float:
        """Return the time between an end of the contact and the turning point, s."""
        power = self.n + 1.0

        def integrand(s: float) -> float:
            u = end * (1.0 - s**power)
            rate = self.force(u) / (self.reduced_mass * self.speed)
            return float(abs(end) * power * s ** (power - 1.0) / rate)

        # At s = 0 force and energy are differences of equal numbers; the integrand is flat there.
        first = 1e-4
        return float(quad(integrand, first, 1.0, limit=200)[0] + first * integrand(first))


def samples(impact: NormalImpact, count: int = 201) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return depth, m, relative speed, m/s, and force, N, each of shape (count,), from touch on."""
    # The depth changes fastest with the speed at both ends: samples are dense there.
    share = 0.5 * (1.0 - np.cos(np.linspace(0.0, np.pi, count)))
    u = 1.0 - (1.0 + impact.restitution) * share
    depth = np.array([impact.depth(x) for x in u])
    return depth, u * impact.speed, np.array([impact.force(x) for x in u])
