"""Virtual damper: a force of damping that software adds."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter


class VirtualDamper(Block):
    """Force against a velocity: ``force = -b velocity``.

    On a simulated body it removes the energy that a delay in the contact loop adds.

    ========= ========= ===== ===========================
    connector causality unit  meaning
    ========= ========= ===== ===========================
    velocity  input     m/s   velocity in the loop
    force     output    N     force on the body
    b         parameter N.s/m damping
    ========= ========= ===== ===========================

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation, section 5.2; ``b`` of Eq 7 and 12.
    """

    velocity: float = Input(unit="m/s", description="Velocity as the loop sees it")
    force: float = Output(unit="N", description="Force on the body")
    b: float = Parameter(start=60.0, unit="N.s/m", description="Damping", tunable=True)

    def step(self, t: float, h: float) -> None:
        """Evaluate the damper; the block has no state."""
        self.force = -self.b * self.velocity
