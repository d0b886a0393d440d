"""Contacts with Hertz's force k delta^n and damping laws."""

from __future__ import annotations

from orchestrator import Output, Parameter
from python_blocks.contact import damping_numbers
from python_blocks.contact.partial_normal_contact import PartialNormalContact


class PartialHertzian(PartialNormalContact):
    """Force ``k delta^n (1 + D delta'/v0)`` with the damping number D of the law."""

    n: float = Parameter(
        start=1.5, unit="1", minimum=1.0, description="Exponent; 3/2 for rounded bodies"
    )

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        raise NotImplementedError(f"{type(self).__name__} does not say its damping number")

    def elastic(self, depth: float) -> tuple[float, float]:
        """Return ``k delta^n`` and its integral."""
        force = self.k * depth**self.n
        return force, force * depth / (self.n + 1.0)

    def damped(self, spring: float, rate: float) -> float:
        """Return the force with the damping of the law."""
        return self.in_share_of_approach(spring, rate, self.damping_number())


class Hertz(PartialHertzian):
    """Hertz's elastic contact, without losses.

    ``F = k delta^n`` while ``delta > 0``. The coefficient of restitution is 1, whatever
    ``restitution`` is; the parameter exists so that other laws can replace this one.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  elastic force at a depth of 1 m: k of N/m^n
    n                      parameter 1    exponent
    restitution            parameter 1    requested coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Hertz: Journal fuer die reine und angewandte Mathematik 92, 156 (1882).
    """

    force_a: float = Output(
        unit="N", description="Force on side a", depends_on=("position_a", "position_b")
    )
    force_b: float = Output(
        unit="N", description="Force on side b", depends_on=("position_a", "position_b")
    )
    dissipation: float = Output(
        unit="W", description="Power that the damping takes: none", depends_on=()
    )

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        return damping_numbers.hertz(self.restitution)


class HuntCrossley(PartialHertzian):
    """Contact after Hunt and Crossley: D = 3 (1 - c) / 2.

    ``F = k delta^n (1 + D delta'/v0)`` while ``delta > 0``, with the speed v0 at first touch. Right
    for contacts with small losses.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  elastic force at a depth of 1 m: k of N/m^n
    n                      parameter 1    exponent
    restitution            parameter 1    requested coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Hunt, Crossley: Coefficient of restitution interpreted as damping in vibroimpact, J. Appl. Mech.
    42, 440 (1975).
    """

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        return damping_numbers.hunt_crossley(self.restitution)


class LankaraniNikravesh(PartialHertzian):
    """Contact after Lankarani and Nikravesh: D = 3 (1 - c^2) / 4.

    ``F = k delta^n (1 + D delta'/v0)`` while ``delta > 0``, with the speed v0 at first touch. Right
    for contacts with small losses.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  elastic force at a depth of 1 m: k of N/m^n
    n                      parameter 1    exponent
    restitution            parameter 1    requested coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Lankarani, Nikravesh: J. Mech. Des. 112, 369 (1990).
    """

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        return damping_numbers.lankarani_nikravesh(self.restitution)


class Flores(PartialHertzian):
    """Contact after Flores and others: D = 8 (1 - c) / (5 c).

    ``F = k delta^n (1 + D delta'/v0)`` while ``delta > 0``, with the speed v0 at first touch. Made
    for soft contacts as well.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  elastic force at a depth of 1 m: k of N/m^n
    n                      parameter 1    exponent
    restitution            parameter 1    requested coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Flores, Machado, Silva, Martins: Multibody Syst. Dyn. 25, 357 (2011).
    """

    restitution: float = Parameter(
        start=0.55,
        unit="1",
        above=0.0,
        maximum=1.0,
        description="Coefficient of restitution",
    )

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        return damping_numbers.flores(self.restitution)


class Gonthier(PartialHertzian):
    """Contact after Gonthier and others: D = (1 - c^2) / c.

    ``F = k delta^n (1 + D delta'/v0)`` while ``delta > 0``, with the speed v0 at first touch. Of
    these laws its restitution is nearest to the requested one.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  elastic force at a depth of 1 m: k of N/m^n
    n                      parameter 1    exponent
    restitution            parameter 1    requested coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Gonthier, McPhee, Lange, Piedboeuf: Multibody Syst. Dyn. 11, 209 (2004), its explicit
    approximation.
    """

    restitution: float = Parameter(
        start=0.55,
        unit="1",
        above=0.0,
        maximum=1.0,
        description="Coefficient of restitution",
    )

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        return damping_numbers.gonthier(self.restitution)


class ZhiyingQishao(PartialHertzian):
    """Contact after Zhiying and Qishao as printed: D = 3 (1 - c^2) e^(2 (1 - c)) / 4.

    ``F = k delta^n (1 + D delta'/v0)`` while ``delta > 0``, with the speed v0 at first touch. With
    c = 0.55 its restitution is 0.529; Table 1 of the paper that prints it has another damping, see
    ``zhiying_qishao_table``.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  elastic force at a depth of 1 m: k of N/m^n
    n                      parameter 1    exponent
    restitution            parameter 1    requested coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Cai, Chen, Luo, Wang: Aerospace 8, 381 (2021), Eq 1, 2; Qin, Lu: J. Dyn. Control 4, 294 (2006).
    """

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        return damping_numbers.zhiying_qishao(self.restitution)


class ZhiyingQishaoTable(PartialHertzian):
    """The same with the damping that reproduces the paper's table: 0.5829 of the printed one.

    ``F = k delta^n (1 + D delta'/v0)`` while ``delta > 0``, with the speed v0 at first touch.
    Fitted: D = 0.75 at c = 0.55, with k = 1.2e7 N/m^1.5 gives rows 1 to 3 of Table 1.

    ====================== ========= ==== ==============================================
    connector              causality unit meaning
    ====================== ========= ==== ==============================================
    position_a, position_b input     m    positions of the sides
    velocity_a, velocity_b input     m/s  velocities of the sides
    force_a, force_b       output    N    forces on the sides, ``force_a = -force_b``
    compression            output    m    ``position_a - position_b``
    energy                 output    J    energy of the spring
    dissipation            output    W    power that the damping takes
    impulse                output    N.s  impulse on side b so far
    k                      parameter N/m  elastic force at a depth of 1 m: k of N/m^n
    n                      parameter 1    exponent
    restitution            parameter 1    requested coefficient of restitution c
    ====================== ========= ==== ==============================================

    References
    ----------
    Cai, Chen, Luo, Wang: Aerospace 8, 381 (2021), Table 1. The paper does not say that it took
    another damping than its Eq 2; that it did follows from its own table.
    """

    def damping_number(self) -> float:
        """Return D for the requested restitution."""
        return damping_numbers.zhiying_qishao_table(self.restitution)
