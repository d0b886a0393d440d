"""Passivity observer and controller of a contact force, in one direction."""

from __future__ import annotations

from math import isfinite

from orchestrator import Block, Input, Notice, Output, Parameter, Reason, State


class PassivityController(Block):
    """Damps the force of a rig by the energy that the rig gives in excess.

    A passive rig gives the simulated bodies at most the energy that it took from them plus its
    initial energy, ``store``. The observer sums the given energy exactly: the work of a held force
    is force times displacement. Before each step it predicts ``given + power h``. A damper
    ``damping`` removes the excess over ``store`` in the step:

        applied = force - sense damping velocity,
        damping = (given + sense force velocity h - store) / (h velocity^2).

    If the contact hardly moves, or ``damping_limit`` is reached, the rest waits for a later step.
    Without an excess the force passes bit for bit. With ``acts = false`` it always passes, and the
    block gives one notice of an excess.

    ============= ========= ===== ==========================================================
    connector     causality unit  meaning
    ============= ========= ===== ==========================================================
    force         input     N     force of the rig
    position      input     m     position of the contact in the simulation
    velocity      input     m/s   its velocity
    applied       output    N     force on the bodies
    given         output    J     energy given by the rig, minus the damped energy
    damping       output    N.s/m damping that acts in this step
    damped        output    J     energy removed so far
    store         parameter J     initial energy of the contact
    sense         parameter 1     power into the bodies is sense x force x velocity
    damping_limit parameter N.s/m largest damping; below the simulated mass / step
    acts          parameter       false: observe and report only
    ============= ========= ===== ==========================================================

    References
    ----------
    Hannaford, Ryu: Time-domain passivity control of haptic interfaces, IEEE Transactions on
    Robotics and Automation 18(1), 2002: its observer, and its series controller; here with the work
    of the held force, which is known at the end of its step, instead of the sampled power.
    """

    force: float = Input(unit="N", description="Force of the rig")
    position: float = Input(unit="m", description="Position of the contact in the simulation")
    velocity: float = Input(unit="m/s", description="Velocity of the contact in the simulation")
    applied: float = Output(
        unit="N", description="Force on the bodies", depends_on=("force", "velocity", "position")
    )
    given: float = Output(
        unit="J", description="Energy that the rig has generated", depends_on=("position",)
    )
    damping: float = Output(
        unit="N.s/m",
        description="Damping that acts in this step",
        depends_on=("force", "velocity", "position"),
    )
    damped: float = Output(
        unit="J", description="Energy that was taken out so far", depends_on=("position",)
    )
    store: float = Parameter(
        start=0.0, unit="J", minimum=0.0, description="Energy that the contact stores at the start"
    )
    sense: float = Parameter(
        start=-1.0, unit="1", description="Power into the bodies is sense x force x velocity"
    )
    damping_limit: float = Parameter(
        start=2e4, unit="N.s/m", above=0.0, description="Largest damping"
    )
    acts: bool = Parameter(start=True, description="Damp; false: only report the energy")

    place: float = State(start=0.0, description="Position at the sample before, m")
    raw: float = State(start=0.0, description="Force of the rig at the sample before, N")
    alarm: float = State(start=-1.0, description="Time of the first excess of energy, s; -1: never")

    def initialise(self, t: float) -> None:
        """Begin without given energy."""
        self.place, self.raw = self.position, self.force
        self.given = self.damped = self.damping = 0.0
        self.applied, self.alarm = self.force, -1.0

    def step(self, t: float, h: float) -> None:
        """Add the energy of the last step, and damp the excess of the next one."""
        distance, self.place = self.position - self.place, self.position
        self.given += self.sense * self.applied * distance
        self.damped += self.sense * (self.raw - self.applied) * distance
        self.raw = self.applied = self.force
        self.damping = 0.0
        power = self.sense * self.force * self.velocity
        above = self.given + power * h - self.store
        if not (isfinite(above) and above > 0.0):
            return
        if self.alarm < 0.0:
            self.alarm = t + h
        if self.acts and self.velocity != 0.0:
            self.damping = min(above / (h * self.velocity**2), self.damping_limit)
            self.applied = self.force - self.sense * self.damping * self.velocity

    def notices(self) -> tuple[Notice, ...]:
        """Return a notice of the first excess if the block does not act."""
        if self.alarm < 0.0 or self.acts:
            return ()
        return (Notice(round(self.alarm * 1e9), Reason.ENERGY.text, Reason.ENERGY.advice),)
