"""Contact between two bodies on a line, as a linear spring with a damper."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, where


class SpringDashpot(Block):
    """Spring-dashpot contact of a probe (a) with a base (b), one degree of freedom.

    With the compression ``delta = position_a - position_b`` the contact pushes the bodies apart
    with ``k delta + d delta'`` while they touch (``delta > 0``), and never pulls: it is released
    when this force reaches zero. ``latched`` removes both conditions (a captured probe).

    The ports are those of the Modelica plant ``SpaceDocking.Contact.Compliance``: each can
    replace the other.

    ============ ========= ===== ==============================
    connector    causality unit  meaning
    ============ ========= ===== ==============================
    position_a   input     m     position of the probe
    velocity_a   input     m/s   velocity of the probe
    position_b   input     m     position of the base
    velocity_b   input     m/s   velocity of the base
    force_a      output    N     force on the probe
    force_b      output    N     force on the base, = -force_a
    energy       output    J     energy of the spring
    dissipation  output    W     power that the damper takes
    k            parameter N/m   stiffness
    d            parameter N.s/m damping
    latched      parameter       the contact holds and pulls too
    ============ ========= ===== ==============================

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation, Eq 1, written for the two bodies instead of their
    relative motion. The paper does not say how the contact ends; here it never pulls.
    """

    position_a: float = Input(unit="m", description="Position of the probe")
    velocity_a: float = Input(unit="m/s", description="Velocity of the probe")
    position_b: float = Input(unit="m", description="Position of the base")
    velocity_b: float = Input(unit="m/s", description="Velocity of the base")
    force_a: float = Output(unit="N", description="Force on the probe")
    force_b: float = Output(unit="N", description="Force on the base")
    energy: float = Output(
        unit="J", description="Energy of the spring", depends_on=("position_a", "position_b")
    )
    dissipation: float = Output(unit="W", description="Power that the damper takes")
    k: float = Parameter(
        start=3000.0, unit="N/m", minimum=0.0, description="Stiffness", tunable=True
    )
    d: float = Parameter(start=40.0, unit="N.s/m", minimum=0.0, description="Damping", tunable=True)
    latched: bool = Parameter(start=False, description="The contact is latched: it pulls, too")

    def step(self, t: float, h: float) -> None:
        """Evaluate the contact law; the block has no state."""
        delta = self.position_a - self.position_b
        rate = self.velocity_a - self.velocity_b
        push = self.k * delta + self.d * rate
        free = (delta <= 0.0) | (push < 0.0)
        push = where(self.latched, push, where(free, 0.0, push))
        self.force_a = -push
        self.force_b = push
        spring = where(self.latched, self.k * delta, where(delta <= 0.0, 0.0, self.k * delta))
        self.energy = 0.5 * spring * delta
        self.dissipation = (push - spring) * rate
