"""A gear with a compliant shaft between a motor on a bench and a joint of a simulated chain."""

from __future__ import annotations

from orchestrator import Block, Input, Notice, Output, Parameter, State

_NEVER = -1.0


class ElasticGear(Block):
    """Torques of a gear and a spring with a damper on a motor's shaft and on a joint.

    Both sides receive the torque between them: ``torque = -k twist - d twist'`` on the joint with
    ``twist = joint - zero - shaft / ratio``, and ``load = -torque / ratio`` on the shaft. No
    acceleration has to be measured, whatever the ratio of the inertias of shaft and chain.
    ``load_limit`` limits the torque on the shaft, and that on the joint accordingly.

    ========== ========= ========= ==========================================================
    connector  causality unit      meaning
    ========== ========= ========= ==========================================================
    shaft      input     rad       angle of the motor's shaft
    shaft_rate input     rad/s     its rate
    joint      input     rad       angle of the joint
    joint_rate input     rad/s     its rate
    load       output    N.m       torque on the shaft
    torque     output    N.m       torque on the joint
    twist      output    rad       angle of the joint ahead of the gear
    energy     output    J         energy of the spring
    clamped    output              the load is at its limit
    ratio      parameter 1         turns of the motor for one of the joint
    zero       parameter rad       angle of the joint with the shaft at zero
    k          parameter N.m/rad   stiffness, at the joint
    d          parameter N.m.s/rad damping, at the joint
    load_limit parameter N.m       largest torque on the shaft
    ========== ========= ========= ==========================================================

    References
    ----------
    Colgate, Stanley, Brown: Issues in the haptic display of tool use, IROS 1995: a virtual coupling
    between a device and a simulation.
    """

    shaft: float = Input(unit="rad", description="Angle of the motor's shaft")
    shaft_rate: float = Input(unit="rad/s", description="Rate of the motor's shaft")
    joint: float = Input(unit="rad", description="Angle of the joint")
    joint_rate: float = Input(unit="rad/s", description="Rate of the joint")
    load: float = Output(unit="N.m", description="Torque on the shaft")
    torque: float = Output(unit="N.m", description="Torque on the joint")
    twist: float = Output(
        unit="rad",
        description="Angle by which the joint leads the gear",
        depends_on=("shaft", "joint"),
    )
    energy: float = Output(
        unit="J", description="Energy of the spring", depends_on=("shaft", "joint")
    )
    clamped: bool = Output(description="The load is at its limit")
    ratio: float = Parameter(
        start=100.0, unit="1", above=0.0, description="Turns of the motor for one of the joint"
    )
    zero: float = Parameter(
        start=0.0, unit="rad", description="Angle of the joint where the shaft stands at zero"
    )
    k: float = Parameter(
        start=2000.0, unit="N.m/rad", minimum=0.0, description="Stiffness, at the joint"
    )
    d: float = Parameter(
        start=90.0, unit="N.m.s/rad", minimum=0.0, description="Damping, at the joint"
    )
    load_limit: float = Parameter(
        start=0.144, unit="N.m", above=0.0, description="Largest torque on the shaft"
    )
    first: float = State(
        start=_NEVER, description="Time at which the load first reached its limit, s; -1: never"
    )
    asked: float = State(start=0.0, description="Torque on the shaft that was asked for then, N.m")

    def initialise(self, t: float) -> None:
        """Begin without having reached the limit."""
        self.first = _NEVER
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Evaluate gear and spring."""
        self.twist = self.joint - self.zero - self.shaft / self.ratio
        twisting = self.joint_rate - self.shaft_rate / self.ratio
        torque = (self.k * self.twist + self.d * twisting) / self.ratio
        self.clamped = abs(torque) > self.load_limit
        self.load = min(max(torque, -self.load_limit), self.load_limit)
        self.torque = -self.ratio * self.load
        self.energy = 0.5 * self.k * self.twist**2
        if self.clamped and self.first == _NEVER:
            self.first, self.asked = t + h, torque

    def notices(self) -> tuple[Notice, ...]:
        """Return a notice with the time at which the load first reached its limit."""
        if self.first == _NEVER:
            return ()
        message = (
            f"the torque on the shaft is at its limit: {self.asked:.4g} N.m were asked for,"
            f" load_limit is {self.load_limit:g} N.m; the motor does not follow the joint"
        )
        advice = "take a larger ratio, a softer spring, or a motor that can do more"
        return (Notice(round(self.first * 1e9), message, advice),)
