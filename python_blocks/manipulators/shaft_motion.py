"""Motion of a joint from the sampled rate of its motor alone."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State


class PartialShaftMotion(Block):
    """Base of the blocks from the rate of a motor to the motion of its joint."""

    rate: float = Input(unit="rad/s", description="Measured rate of the motor")
    angle: float = Output(unit="rad", description="Angle of the joint")
    velocity: float = Output(unit="rad/s", description="Rate of the joint")
    acceleration: float = Output(unit="rad/s2", description="Acceleration of the joint")
    ratio: float = Parameter(
        start=1570.0, unit="1", above=0.0, description="Turns of the motor for one of the joint"
    )
    angle0: float = Parameter(start=0.0, unit="rad", description="Angle of the joint at the start")


class ShaftMotion(PartialShaftMotion):
    """Sum and backward difference of the samples of a motor's rate.

    The difference belongs to the middle between two samples, so it is late by half a sampling time
    h. It amplifies white noise of the rate by ``sqrt(2)/h`` in the acceleration.

    ============ ========= ====== ==========================================
    connector    causality unit   meaning
    ============ ========= ====== ==========================================
    rate         input     rad/s  measured rate of the motor
    angle        output    rad    angle of the joint
    velocity     output    rad/s  rate of the joint
    acceleration output    rad/s2 acceleration of the joint
    ratio        parameter 1      turns of the motor for one of the joint
    angle0       parameter rad    angle of the joint at the start
    ============ ========= ====== ==========================================

    References
    ----------
    Motor Substitution Test, section "Motor substitution servo": the filtered rate is integrated and
    differentiated numerically, and all are divided by the gear ratio. It gives no formula: the sum
    of the samples and their difference are assumed.
    """

    last: float = State(start=0.0, description="Sample before, rad/s")

    def initialise(self, t: float) -> None:
        """Begin with the first sample, and no acceleration."""
        self.last, self.angle, self.acceleration = self.rate, self.angle0, 0.0
        self.velocity = self.rate / self.ratio

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        if h > 0.0:
            self.angle += h * self.rate / self.ratio
            self.acceleration = (self.rate - self.last) / (h * self.ratio)
        self.velocity = self.rate / self.ratio
        self.last = self.rate
