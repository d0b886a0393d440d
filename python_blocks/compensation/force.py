"""Compensation of a contact force for the delay of the robot, one direction."""

from __future__ import annotations

from math import isfinite

from orchestrator import Block, Input, Output, Parameter, State

_MOTION = (
    "stiffness",
    "damping",
    "desired",
    "desired_velocity",
    "actual",
    "actual_velocity",
    "wrong_sign",
)


class ForceCompensation(Block):
    """Adds to a measured force the part that is missing because of the robot's position error.

    The measured force belongs to the actual position of the robot. The simulated bodies need the
    force at the computed position: ``F + k (x_des - x_act) + c (v_des - v_act)``. The block uses no
    model of the robot.

    The bodies then hold that force for a whole step, in which the contact moves by ``v_des h/2`` in
    the mean. ``half_sample`` compensates this; without it a spring loses ``k h/2`` of damping.

    ================ ========= ===== =========================================================
    connector        causality unit  meaning
    ================ ========= ===== =========================================================
    measured         input     N     force on the end-effector, free of the sensor's lag
    stiffness        input     N/m   of the contact, identified or known
    damping          input     N.s/m of the contact, identified or known
    desired          input     m     computed position of the contact
    desired_velocity input     m/s   its velocity
    actual           input     m     actual position of the robot
    actual_velocity  input     m/s   its velocity
    wrong_sign       input           the identifier reports a wrong sign
    force            output    N     compensated force
    correction       output    N     added force
    limited          output          the correction is at its limit
    active           output          a correction is added; see below
    half_sample      parameter       compensate the hold of the force as well
    limit            parameter N     largest correction
    ================ ========= ===== =========================================================

    Where the force is not finite, the block keeps the last finite force. Then, and where a position
    or estimate is not finite or ``wrong_sign`` is true, it adds nothing and ``active`` is false.

    References
    ----------
    Yu et al., IEEE Access (2018), Eq 28 to 31 in one direction. Added: the half sample, the limit,
    and the behaviour on invalid signals.
    """

    measured: float = Input(unit="N", description="Force, free of the sensor's lag")
    stiffness: float = Input(unit="N/m", description="Stiffness of the contact")
    damping: float = Input(unit="N.s/m", description="Damping of the contact")
    desired: float = Input(unit="m", description="Computed position of the contact")
    desired_velocity: float = Input(unit="m/s", description="Computed velocity of the contact")
    actual: float = Input(unit="m", description="Measured position of the robot")
    actual_velocity: float = Input(unit="m/s", description="Measured velocity of the robot")
    wrong_sign: bool = Input(description="An identified sign is wrong")
    force: float = Output(unit="N", description="Compensated force")
    correction: float = Output(
        unit="N", description="Correction added to the force", depends_on=_MOTION
    )
    limited: bool = Output(description="The correction was cut at its limit", depends_on=_MOTION)
    active: bool = Output(description="A correction was added", depends_on=("wrong_sign",))
    half_sample: bool = Parameter(start=True, description="Compensate half a sample of hold, too")
    limit: float = Parameter(start=1e5, unit="N", minimum=0.0, description="Largest correction")
    last: float = State(start=0.0, description="Last force that was a number")

    def step(self, t: float, h: float) -> None:
        """Evaluate Eq 28 to 31 at the end of the step; ``h`` is also how long they are held."""
        believed = isfinite(self.measured)
        self.last = self.measured if believed else self.last
        ahead = 0.5 * h * self.desired_velocity if self.half_sample else 0.0
        correction = self.stiffness * (self.desired - self.actual + ahead) + self.damping * (
            self.desired_velocity - self.actual_velocity
        )
        self.active = believed and isfinite(correction) and not self.wrong_sign
        self.correction = min(max(correction, -self.limit), self.limit) if self.active else 0.0
        self.limited = self.active and self.correction != correction
        self.force = self.last + self.correction
