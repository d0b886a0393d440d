"""A spring and a damper between a joint that is simulated and the shaft that is that joint."""

from __future__ import annotations

from orchestrator import Block, Input, Notice, Output, Parameter, State

_NEVER = -1.0


class VirtualCoupling(Block):
    """Let a simulated arm turn a real joint, and feel it: both by the torque of one stiff spring.

    The joint of the arm has no friction and no drive of its own. The spring and the damper act
    between its angle and that of the shaft behind the gear: a load motor turns the shaft with their
    torque, and the arm gets the same torque against its motion. So it has friction, rotor and drive
    of the shaft as they are, also while it sticks, and what is measured is neither differentiated
    nor an acceleration. A joint whose inertia is far above that of the rotor takes nothing else:
    an arm that is given the measured acceleration, and tells the torque, is a loop with the gain
    inertia over rotor, late by a sample.

    The shaft's angle when the run begins is that of the joint. Beyond ``torque_limit`` both get
    what the load motor can do.

    ============ ========= =========== ==================================================
    connector    causality unit        meaning
    ============ ========= =========== ==================================================
    phi          input     rad         angle of the joint, simulated
    rate         input     rad/s       its rate
    angle        input     rad         angle of the shaft
    shaft_rate   input     rad/s       its rate
    torque       output    N.m         on the joint of the arm
    load         output    N.m         torque for the load motor, within its limit
    windup       output    rad         of the spring, at the joint
    energy       output    J           energy of the spring
    dissipation  output    W           power that the damper takes
    saturated    output                the load motor is at its limit
    ratio        parameter 1           turns of the shaft for one of the joint
    stiffness    parameter N.m/rad     of the spring, at the joint
    damping      parameter N.m.s/rad   of the damper, at the joint
    torque_limit parameter N.m         of the load motor
    ============ ========= =========== ==================================================

    References
    ----------
    Colgate, Stanley, Brown: Issues in the haptic display of tool use (1995), for the virtual
    coupling; here between a simulated arm and a motor bench instead of a tool and a hand.
    """

    phi: float = Input(unit="rad", description="Angle of the joint, simulated")
    rate: float = Input(unit="rad/s", description="Its rate")
    angle: float = Input(unit="rad", description="Angle of the shaft")
    shaft_rate: float = Input(unit="rad/s", description="Its rate")
    torque: float = Output(unit="N.m", description="On the joint of the arm")
    load: float = Output(unit="N.m", description="Torque for the load motor, within its limit")
    windup: float = Output(
        unit="rad", description="Of the spring, at the joint", depends_on=("phi", "angle")
    )
    energy: float = Output(
        unit="J", description="Energy of the spring", depends_on=("phi", "angle")
    )
    dissipation: float = Output(unit="W", description="Power that the damper takes")
    saturated: bool = Output(description="The load motor is at its limit")
    ratio: float = Parameter(
        start=75.0, unit="1", above=0.0, description="Turns of the shaft for one of the joint"
    )
    stiffness: float = Parameter(
        start=2000.0, unit="N.m/rad", above=0.0, description="Of the spring, at the joint"
    )
    damping: float = Parameter(
        start=40.0, unit="N.m.s/rad", minimum=0.0, description="Of the damper, at the joint"
    )
    torque_limit: float = Parameter(
        start=0.144, unit="N.m", above=0.0, description="Of the load motor"
    )
    offset: float = State(start=0.0, description="Angle of the joint where that of the shaft is 0")
    first: float = State(start=_NEVER, description="When it was first at its limit, s; -1: never")
    asked: float = State(start=0.0, description="Torque that was asked for then, N.m")

    def initialise(self, t: float) -> None:
        """Begin with the spring at rest."""
        self.first = _NEVER
        self.offset = self.phi - self.angle / self.ratio
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Evaluate spring and damper."""
        apart = self.rate - self.shaft_rate / self.ratio
        self.windup = self.phi - self.offset - self.angle / self.ratio
        wanted = (self.stiffness * self.windup + self.damping * apart) / self.ratio
        self.saturated = abs(wanted) > self.torque_limit
        self.load = min(max(wanted, -self.torque_limit), self.torque_limit)
        self.torque = -self.ratio * self.load
        self.energy = 0.5 * self.stiffness * self.windup**2
        self.dissipation = -(self.torque + self.stiffness * self.windup) * apart
        if self.saturated and self.first == _NEVER:
            self.first, self.asked = t + h, wanted

    def notices(self) -> tuple[Notice, ...]:
        """Say when the load motor was first at its limit."""
        if self.first == _NEVER:
            return ()
        what = (
            f"the load motor is at its limit: {self.asked:.4g} N m were asked for, torque_limit is"
            f" {self.torque_limit:g} N m; the shaft does not follow the joint"
        )
        advice = "take a greater ratio, a load motor that can do more, or less damping"
        return (Notice(round(self.first * 1e9), what, advice),)
