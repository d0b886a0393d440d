"""Friction of a contact along its surface: regularised, and with true stick."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State, where


class RegularisedFriction(Block):
    """Coulomb friction that is a steep line through zero instead of a jump.

    ``F = -mu N u / sqrt(1 + u^2)`` with ``u = velocity/slip``: within 1 % of Coulomb's force from
    seven times ``slip`` on. It never sticks: a load F creeps with ``slip F/sqrt((mu N)^2 - F^2)``.

    ========== ========= ==== =======================================
    connector  causality unit meaning
    ========== ========= ==== =======================================
    normal     input     N    force that presses the sides together
    velocity   input     m/s  sliding velocity
    force      output    N    friction on the sliding body
    dissipated output    J    energy that friction has taken so far
    mu         parameter 1    coefficient of friction
    slip       parameter m/s  velocity at which 71 % are reached
    ========== ========= ==== =======================================

    References
    ----------
    Cai, Chen, Luo, Wang: Aerospace 8, 381 (2021), section 4.1, gives mu = 0.00905 for its air
    table.
    """

    normal: float = Input(unit="N", description="Force that presses the sides together")
    velocity: float = Input(unit="m/s", description="Sliding velocity")
    force: float = Output(unit="N", description="Friction on what slides")
    dissipated: float = Output(
        unit="J", description="Energy that friction has taken so far", depends_on=()
    )
    mu: float = Parameter(start=0.00905, unit="1", minimum=0.0, description="Coefficient")
    slip: float = Parameter(
        start=1e-4, unit="m/s", above=0.0, description="Velocity at which 71 % are reached"
    )
    taken: float = State(start=0.0, description="Energy so far, J")

    def step(self, t: float, h: float) -> None:
        """Evaluate the law."""
        share = self.velocity / self.slip
        pressed = where(self.normal > 0.0, self.normal, 0.0)
        self.force = -self.mu * pressed * share / (1.0 + share * share) ** 0.5
        self.taken = self.taken - self.force * self.velocity * h
        self.dissipated = self.taken


class StickingFriction(Block):
    """Coulomb friction that sticks: a stiff spring whose foot slides at mu N and not before.

    The spring is stretched by the sliding velocity; where its force and that of the damper would
    exceed ``mu N``, its foot slides until the spring alone has ``mu N`` (the return map of
    elasto-plasticity, exact for a velocity that is held over the step). Stuck sides bear a load at
    rest without creeping: the foot does not move, and the displacement is F/k.

    ========== ========= ===== =======================================
    connector  causality unit  meaning
    ========== ========= ===== =======================================
    normal     input     N     force that presses the sides together
    velocity   input     m/s   sliding velocity
    force      output    N     friction on the sliding body
    stuck      output          the foot has not moved in this step
    stretch    output    m     displacement of the stuck sides
    dissipated output    J     energy that friction has taken so far
    mu         parameter 1     coefficient of friction
    k          parameter N/m   stiffness while it sticks
    d          parameter N.s/m damping while it sticks
    ========== ========= ===== =======================================

    References
    ----------
    Gonthier, McPhee, Lange, Piedboeuf: Multibody Syst. Dyn. 11, 209 (2004), without its dwell time;
    Simo, Hughes: Computational Inelasticity (1998), section 1.2, for the return map.
    """

    normal: float = Input(unit="N", description="Force that presses the sides together")
    velocity: float = Input(unit="m/s", description="Sliding velocity")
    force: float = Output(unit="N", description="Friction on what slides")
    stuck: bool = Output(description="The contact sticks: its foot did not slide in this step")
    stretch: float = Output(unit="m", description="Displacement of the stuck sides")
    dissipated: float = Output(unit="J", description="Energy that friction has taken so far")
    mu: float = Parameter(start=0.3, unit="1", minimum=0.0, description="Coefficient")
    k: float = Parameter(start=1e5, unit="N/m", above=0.0, description="Stiffness while it sticks")
    d: float = Parameter(start=0.0, unit="N.s/m", minimum=0.0, description="Damping of the spring")
    bow: float = State(start=0.0, description="Stretch of the spring, m")
    taken: float = State(start=0.0, description="Energy so far, J")

    def step(self, t: float, h: float) -> None:
        """Stretch the spring, then draw its foot along where the force would be too large."""
        bound = self.mu * where(self.normal > 0.0, self.normal, 0.0)
        trial = self.bow + self.velocity * h
        trial_force = self.k * trial + self.d * self.velocity
        sticks = abs(trial_force) <= bound
        slid = where(trial_force > 0.0, bound, -bound)
        before = 0.5 * self.k * self.bow**2
        self.bow = where(sticks, trial, slid / self.k)
        self.force = -where(sticks, trial_force, slid)
        self.taken = (
            self.taken - self.force * self.velocity * h + before - 0.5 * self.k * self.bow**2
        )
        self.stuck, self.stretch, self.dissipated = sticks, self.bow, self.taken
