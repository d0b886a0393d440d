"""Linear contacts: a spring and a damper in parallel, damped for a requested restitution."""

from __future__ import annotations

from math import cos, log, pi, sin, sqrt

from orchestrator import Parameter
from python_blocks.contact.partial_normal_contact import PartialNormalContact

#: Restitution of a critically damped contact, exp(-2); overdamped contacts are refused.
LEAST_RESTITUTION = 0.1353352832366127


class KelvinVoigt(PartialNormalContact):
    """Spring and damper in parallel that never pull, with the damping for a requested restitution.

    ``F = max(0, k delta + d delta')``, released when the force reaches zero: then
    ``c = exp(-2 zeta acos(zeta) / sqrt(1 - zeta^2))``, solved for zeta by Newton's method,
    and ``d = 2 zeta sqrt(k mass)``. The force begins with a jump of ``d v0``. With d given instead
    of c it is ``spring_dashpot``.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damper takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  stiffness
    mass                   parameter kg   reduced mass of the two bodies
    restitution            parameter 1    requested coefficient of restitution c, above exp(-2)
    ====================== ========= ==== ==============================================

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation, Eq 1; the release and the closed form are added.
    """

    mass: float = Parameter(
        start=1.0, unit="kg", above=0.0, description="Reduced mass m1 m2/(m1 + m2)"
    )
    restitution: float = Parameter(
        start=0.55,
        unit="1",
        above=LEAST_RESTITUTION,
        maximum=1.0,
        description="Coefficient of restitution",
    )

    def elastic(self, depth: float) -> tuple[float, float]:
        """Return ``k delta`` and its integral."""
        return self.k * depth, 0.5 * self.k * depth**2

    def damping_ratio(self) -> float:
        """Return zeta = cos(theta), from theta cot(theta) = -ln(c)/2."""
        target = -0.5 * log(self.restitution)
        theta = 0.5 * pi * sqrt(1.0 - target)
        for _ in range(6):
            error = theta * cos(theta) - target * sin(theta)
            slope = (1.0 - target) * cos(theta) - theta * sin(theta)
            theta = theta - error / slope
        return cos(theta)

    def damped(self, spring: float, rate: float) -> float:
        """Return the force including that of the damper."""
        return spring + 2.0 * self.damping_ratio() * sqrt(self.k * self.mass) * rate


class KelvinVoigtAdhesive(KelvinVoigt):
    """Spring and damper in parallel that hold together until the compression is zero.

    ``F = k delta + d delta'`` while ``delta > 0``: the damper pulls at the end. Then
    ``c = exp(-pi zeta / sqrt(1 - zeta^2))`` and ``d = 2 zeta sqrt(k mass)``.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damper takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  stiffness
    mass                   parameter kg   reduced mass of the two bodies
    restitution            parameter 1    requested coefficient of restitution c, above 0
    ====================== ========= ==== ==============================================

    References
    ----------
    Cai, Chen, Luo, Wang: Aerospace 8, 381 (2021), section 1, which names the pulling as one of the
    three faults of this law.
    """

    restitution: float = Parameter(
        start=0.55,
        unit="1",
        above=0.0,
        maximum=1.0,
        description="Coefficient of restitution",
    )

    def damping_ratio(self) -> float:
        """Return zeta = -ln(c) / sqrt(pi^2 + ln(c)^2)."""
        lost = -log(self.restitution)
        return lost / sqrt(pi * pi + lost * lost)

    def admitted(self, push: float) -> float:
        """Return the force unchanged: it may pull."""
        return push
