"""Hybrid contact: a real and a virtual compliance that together act like the desired contact."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, where


class HybridContact(Block):
    """Adds virtual impedances to a measured contact force, one degree of freedom.

    A spring and a damper connect each body to a virtual wall that moves with the centre of mass.
    The wall is a signal from a body without forces, so it has the delay of the bodies, however the
    graph is stepped. The parameters of the impedances follow from the
    desired contact and the stiffness of the hardware: see
    :mod:`python_blocks.contact.hybrid_parameters`. The net forces go to the simulated bodies. They
    act while the bodies touch (``position_1 > position_2``) and never pull them together.

    ============== ========= ===== ===================================
    connector      causality unit  meaning
    ============== ========= ===== ===================================
    position_1     input     m     position of the chaser
    velocity_1     input     m/s   velocity of the chaser
    position_2     input     m     position of the target
    velocity_2     input     m/s   velocity of the target
    wall_position  input     m     position of the virtual wall
    wall_velocity  input     m/s   velocity of the virtual wall (Eq 4)
    measured_force input     N     hardware's force on the chaser (force sensor)
    force_1        output    N     net force on the chaser
    force_2        output    N     net force on the target
    k1, k2         parameter N/m   virtual stiffness at chaser, target
    b1, b2         parameter N.s/m virtual damping at chaser, target
    ============== ========= ===== ===================================

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation, Eq 2 to 4. Eq 3 is printed with the wrong sign of
    the target's spring; it must restore: ``-k2 (x2 - int V dt)``.
    """

    position_1: float = Input(unit="m", description="Position of the chaser")
    velocity_1: float = Input(unit="m/s", description="Velocity of the chaser")
    position_2: float = Input(unit="m", description="Position of the target")
    velocity_2: float = Input(unit="m/s", description="Velocity of the target")
    wall_position: float = Input(unit="m", description="Position of the virtual wall")
    wall_velocity: float = Input(unit="m/s", description="Velocity of the virtual wall")
    measured_force: float = Input(unit="N", description="Hardware's force on the chaser")
    force_1: float = Output(
        unit="N",
        description="Net force on the chaser",
        depends_on=(
            "position_1",
            "velocity_1",
            "position_2",
            "wall_position",
            "wall_velocity",
            "measured_force",
        ),
    )
    force_2: float = Output(
        unit="N",
        description="Net force on the target",
        depends_on=(
            "position_1",
            "position_2",
            "velocity_2",
            "wall_position",
            "wall_velocity",
            "measured_force",
        ),
    )
    k1: float = Parameter(start=0.0, unit="N/m", description="Virtual stiffness at the chaser")
    b1: float = Parameter(start=0.0, unit="N.s/m", description="Virtual damping at the chaser")
    k2: float = Parameter(start=0.0, unit="N/m", description="Virtual stiffness at the target")
    b2: float = Parameter(start=0.0, unit="N.s/m", description="Virtual damping at the target")

    def step(self, t: float, h: float) -> None:
        """Evaluate Eq 2 and 3; the block has no state."""
        virtual_1 = -self.k1 * (self.position_1 - self.wall_position) - self.b1 * (
            self.velocity_1 - self.wall_velocity
        )
        virtual_2 = -self.k2 * (self.position_2 - self.wall_position) - self.b2 * (
            self.velocity_2 - self.wall_velocity
        )
        net_1 = virtual_1 + self.measured_force
        net_2 = virtual_2 - self.measured_force
        is_open = self.position_1 <= self.position_2
        self.force_1 = where(is_open | (net_1 > 0.0), 0.0, net_1)
        self.force_2 = where(is_open | (net_2 < 0.0), 0.0, net_2)
