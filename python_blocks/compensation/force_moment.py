"""Compensation of contact force and moment for the delay of the robot, six degrees of freedom."""

from __future__ import annotations

import numpy as np

from orchestrator import Block, Input, Output, Parameter, State
from python_blocks.compensation.wrench import compensate
from python_blocks.kinematics.rotation import Floats

_POSES = ("s", "q", "position", "actual_q")
_MOTION = ("stiffness", "damping", "wrong_sign", *_POSES, "v", "w", "velocity", "actual_w")


class ForceMomentCompensation(Block):
    """Adds to measured force and moment the part that the pose error removes.

    All vectors are in the axes of the end-effector, which are those of the robot's base. The
    captured point O has a computed motion, that of the simulated spacecraft, and an actual one,
    that of the robot. The force changes by ``K ds + C dv`` with their difference, the moment by
    that force and by the difference of the arms. ``half_sample`` adds the motion of half a step, as
    in :class:`~python_blocks.compensation.force.ForceCompensation`.

    ================ ========= ===== =========================================================
    connector        causality unit  meaning
    ================ ========= ===== =========================================================
    measured_force   input     N     free of the sensor's lag, (3,)
    measured_torque  input     N.m   about the end-effector's centre of mass, (3,)
    stiffness        input     N/m   of the contact in three directions, (3,)
    damping          input     N.s/m of the contact in three directions, (3,)
    wrong_sign       input     1     > 0.5: a sign is wrong in that direction, (3,)
    s                input     m     computed: spacecraft from end-effector, (3,)
    q                input     1     computed attitude of the spacecraft, (4,)
    v                input     m/s   rate of s, (3,)
    w                input     rad/s computed relative angular velocity, (3,)
    position         input     m     robot's control point in its base frame, (3,)
    actual_q         input     1     attitude of the platform, (4,)
    velocity         input     m/s   velocity of the control point, (3,)
    actual_w         input     rad/s angular velocity of the platform, (3,)
    force            output    N     compensated force on the end-effector, (3,)
    torque           output    N.m   compensated moment on the end-effector, (3,)
    force_correction output    N     force that was added, (3,)
    error            output    m     computed minus actual captured point, (3,)
    limited          output          a correction is at its limit
    active           output          a correction is added
    half_sample      parameter       compensate the hold of the force as well
    point_contact    parameter       the contact has no moment of its own: Eq 22 gives it; see below
    limit            parameter N     largest correction of a direction
    effector         parameter m     end-effector's centre of mass in the base frame, (3,)
    control          parameter m     control point in the spacecraft's frame, (3,)
    captured         parameter m     captured point from the control point, same frame, (3,)
    ================ ========= ===== =========================================================

    With ``point_contact`` the moment is that of the measured force at the captured point (Eq 22),
    not the measured one. A contact that holds a point leaves the bodies free to turn about it, so
    errors of measured moments add up. Without a correction the block uses the measured moment.

    The block replaces samples of the sensor that are not finite by the last finite ones. It then
    adds nothing, nor where a pose or an estimate is not finite, nor in a direction with a wrong
    sign.

    References
    ----------
    Yu et al., IEEE Access (2018), Eq 22, 27 to 34. Changed: Eq 27 needs the relative angular
    velocity (``omega_ce``, printed ``omega_c``). Eq 35 and 36 are in the plant
    ``SpaceDocking.Docking.ManipulatorDocking``. Added: half sample, limit, invalid signals.
    """

    measured_force: Floats = Input(unit="N", shape=(3,), description="Force without lag")
    measured_torque: Floats = Input(unit="N.m", shape=(3,), description="Moment without lag")
    stiffness: Floats = Input(unit="N/m", shape=(3,), description="Stiffness of the contact")
    damping: Floats = Input(unit="N.s/m", shape=(3,), description="Damping of the contact")
    wrong_sign: Floats = Input(
        unit="1", shape=(3,), description="Above 0.5: an identified sign is wrong"
    )
    s: Floats = Input(
        unit="m",
        shape=(3,),
        start=(0.0, 0.0, 2.5),
        description="Position of the spacecraft from the end-effector",
    )
    q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude of the spacecraft"
    )
    v: Floats = Input(unit="m/s", shape=(3,), description="Rate of change of s")
    w: Floats = Input(unit="rad/s", shape=(3,), description="Relative angular velocity")
    position: Floats = Input(
        unit="m",
        shape=(3,),
        start=(0.0, 0.0, 1.8),
        description="Measured position of the robot's control point",
    )
    actual_q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude of the platform"
    )
    velocity: Floats = Input(unit="m/s", shape=(3,), description="Velocity of the control point")
    actual_w: Floats = Input(unit="rad/s", shape=(3,), description="Platform's angular velocity")
    force: Floats = Output(
        unit="N",
        shape=(3,),
        description="Compensated force",
        depends_on=("measured_force", *_MOTION),
    )
    torque: Floats = Output(unit="N.m", shape=(3,), description="Compensated moment")
    force_correction: Floats = Output(
        unit="N", shape=(3,), description="Correction added to the force", depends_on=_MOTION
    )
    error: Floats = Output(
        unit="m",
        shape=(3,),
        description="Position error: computed minus measured",
        depends_on=_POSES,
    )
    limited: bool = Output(description="A correction was cut at its limit", depends_on=_MOTION)
    active: bool = Output(description="A correction was added", depends_on=())
    half_sample: bool = Parameter(start=True, description="Compensate half a sample of hold, too")
    point_contact: bool = Parameter(
        start=False, description="Take the moment of the force at the captured point"
    )
    limit: float = Parameter(
        start=1e5, unit="N", minimum=0.0, description="Largest correction of a direction"
    )
    effector: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, 0.3), description="End-effector in the base frame"
    )
    control: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, -1.0), description="Control point, spacecraft frame"
    )
    captured: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, -0.5), description="Captured point from control"
    )
    last_force: Floats = State(start=np.zeros(3), description="Last force that was a number")
    last_torque: Floats = State(start=np.zeros(3), description="Last moment that was a number")

    def step(self, t: float, h: float) -> None:
        """Evaluate Eq 27 to 34 at the end of the step."""
        self.active, self.limited = compensate(
            0.5 * h if self.half_sample else 0.0,
            self.limit,
            1.0 if self.point_contact else 0.0,
            (self.measured_force, self.measured_torque),
            (self.last_force, self.last_torque),
            (self.stiffness, self.damping, self.wrong_sign),
            (self.s, self.q, self.v, self.w),
            (self.position, self.actual_q, self.velocity, self.actual_w),
            (self.effector, self.control, self.captured),
            (self.force, self.torque, self.force_correction, self.error),
        )
