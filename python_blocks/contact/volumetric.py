"""Contact whose force is proportional to the volume of interpenetration."""

from __future__ import annotations

from orchestrator import Parameter
from python_blocks.contact.damping_numbers import gonthier
from python_blocks.contact.partial_normal_contact import PartialNormalContact


class Volumetric(PartialNormalContact):
    """Sphere on a plane, pushed apart in proportion to the volume of their overlap.

    The cap of depth delta has the volume ``V = pi delta^2 (radius - delta/3)``; the force is ``F =
    k_v V (1 + D delta'/v0)`` with Gonthier's damping number ``D = (1 - c^2)/c``. The stiffness of
    the foundation is given by ``k = pi radius k_v`` in N/m at a depth of 1 m, so that ``F = k
    delta^2 (1 - delta/(3 radius))`` at rest.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the foundation
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  ``pi radius k_v``, at a depth of 1 m
    radius                 parameter m    radius of the sphere
    restitution            parameter 1    wanted coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Gonthier, Lange, McPhee: A volumetric contact model implemented using polynomial geometry
    (2009); Kosenko, Aleksandrov: J. Mech. Sci. Technol. 23, 931 (2009), named by Cai et al. (2021).
    """

    radius: float = Parameter(start=0.018, unit="m", above=0.0, description="Radius of the sphere")
    restitution: float = Parameter(
        start=0.55,
        unit="1",
        above=0.0,
        maximum=1.0,
        description="Coefficient of restitution",
    )

    def elastic(self, depth: float) -> tuple[float, float]:
        """Return the force of the volume and its integral."""
        part = depth / self.radius
        return (
            self.k * depth**2 * (1.0 - part / 3.0),
            self.k * depth**3 * (1.0 / 3.0 - part / 12.0),
        )

    def damped(self, spring: float, rate: float) -> float:
        """Return the force with Gonthier's damping."""
        return self.in_share_of_approach(spring, rate, gonthier(self.restitution))
