"""Contact loop: the docking rig's loop m s^2 + (K + b s) exp(-s h) = 0 and its limits.

All delays of the loop (robot, sensor, coupling step) are summed up in ONE delay h.

References
----------
Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for hardware-in-the-loop
docking simulation (EPOS 2.0), Eq 7-12. Changed: Eq 7 and 9 show two delays, of which the
characteristic equation holds one; beside the first-order Pade limit of Eq 12 there are the limits
of any Pade order and of the delay itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact.pade import pade_phase
from orchestrator.loops.contact.quasi_polynomial import DelayMargin, QuasiPolynomial


def _rising_to(value: float, function: Callable[[float], float], low: float, high: float) -> float:
    """Bisect to where a rising function has a value; scipy takes longer to import than all this."""
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if function(middle) < value else (low, middle)
    return high


@dataclass(frozen=True)
class ContactLoop:
    """A free-floating mass against a spring and a damper whose force comes one delay late.

    Parameters
    ----------
    mass
        Reduced mass m1 m2 / (m1 + m2), kg.
    stiffness
        Contact stiffness K, N/m. The stiffness limits do not depend on it.
    damping
        Contact damping b, N s/m.
    delay
        Delay h of the whole loop, s.

    Raises
    ------
    DescriptionError
        The mass is not positive, or another value negative or not finite.
    """

    mass: float
    stiffness: float
    damping: float
    delay: float

    def __post_init__(self) -> None:
        problems = [
            f"contact loop: {name} must be finite and {'> 0' if positive else '>= 0'} {unit}, "
            f"got {value}"
            for name, value, unit, positive in (
                ("mass", self.mass, "kg", True),
                ("stiffness", self.stiffness, "N/m", False),
                ("damping", self.damping, "N s/m", False),
                ("delay", self.delay, "s", False),
            )
            if not math.isfinite(value) or value < 0.0 or (positive and value == 0.0)
        ]
        if problems:
            raise DescriptionError(*problems)

    @property
    def characteristic(self) -> QuasiPolynomial:
        """The characteristic quasi-polynomial."""
        return QuasiPolynomial((self.mass, 0.0, 0.0), (self.damping, self.stiffness), self.delay)

    @property
    def stiffness_limit_closed_form(self) -> float:
        """Largest stable stiffness after Eq 12 (first-order Pade), N/m; 0 if none is stable."""
        m, b, h = self.mass, self.damping, self.delay
        if b * h >= 2.0 * m:
            return 0.0
        if h == 0.0:
            return math.inf if b > 0.0 else 0.0
        return b * (4.0 * m - 2.0 * b * h) / (h * (4.0 * m - b * h))

    @property
    def stiffness_limit_exact(self) -> float:
        """Largest stable stiffness of the delayed loop itself, N/m; 0 if none is stable.

        On the axis, m w^2 exp(j w h) = K + j b w, so b = m w sin(w h) fixes the frequency and
        K = m w^2 cos(w h) the stiffness. Up to w h = pi/2, where K is 0, w sin(w h) rises, so the
        frequency is the only one in that bracket and its K the lowest.
        """
        return self._stiffness_limit(lambda angle: angle)

    def stiffness_limit_pade(self, order: int) -> float:
        """Give the largest stable stiffness with a Pade approximation of the delay.

        Parameters
        ----------
        order
            Order n of the diagonal approximation: 1 is Eq 12, a high order the exact limit. The
            approximation is an all-pass, so its phase takes the place of w h, without error.

        Returns
        -------
        float
            Stiffness, N/m; 0 if none is stable.

        Raises
        ------
        DescriptionError
            The order is below 1.
        """
        return self._stiffness_limit(lambda angle: pade_phase(order, angle))

    def _stiffness_limit(self, phase: Callable[[float], float]) -> float:
        """Solve b = m w sin(phase) below a phase of pi/2 and give K = m w^2 cos(phase)."""
        if self.damping == 0.0:
            return 0.0
        if self.delay == 0.0:
            return math.inf
        target = self.damping * self.delay / self.mass
        quarter = _rising_to(0.5 * math.pi, phase, 1.0, 2.5)
        if target >= quarter:
            return 0.0
        angle = _rising_to(target, lambda x: x * math.sin(phase(x)), 0.0, quarter)
        return self.mass * (angle / self.delay) ** 2 * math.cos(phase(angle))

    @property
    def delay_margin(self) -> DelayMargin:
        """Smallest delay that makes the loop oscillate undamped, and what is left of it, s."""
        return self.characteristic.delay_margin()

    @property
    def rightmost_root(self) -> complex:
        """Rightmost root, of a pair the one with positive imaginary part, 1/s."""
        return complex(self.characteristic.rightmost_roots(1)[0])

    @property
    def growth_rate(self) -> float:
        """Real part of the rightmost root, 1/s; positive: the contact gains energy."""
        return self.rightmost_root.real

    @property
    def is_stable(self) -> bool:
        """Whether the contact oscillation dies out."""
        return self.growth_rate < 0.0
