"""Compensation of contact force and moment for the delay of the robot, six degrees of freedom."""

from __future__ import annotations

import numpy as np

from orchestrator.simunits import Block, Input, Output, Parameter, State
from python_blocks.kinematics.rotation import Floats, cross, matrix

_POSES = ("s", "q", "position", "actual_q")
_MOTION = ("stiffness", "damping", "wrong_sign", *_POSES, "v", "w", "velocity", "actual_w")


class ForceMomentCompensation(Block):
    """Adds to measured force and moment what the robot's error of pose keeps from them.

    All vectors are in the axes of the end-effector, which are those of the robot's base. The
    captured point O moves as the simulated spacecraft moves it, and as the robot does; the force
    changes by ``K ds + C dv`` with the difference of the two, the moment by that force and by the
    arm that differs. ``half_sample`` adds the motion of half a step, as in
    :class:`~python_blocks.compensation.force.ForceCompensation`.

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
    force_correction output    N     what was added to the force, (3,)
    error            output    m     computed minus actual captured point, (3,)
    limited          output          a correction was cut at its limit
    active           output          a correction was added
    half_sample      parameter       the hold of the force is compensated, too
    limit            parameter N     largest correction of a direction
    effector         parameter m     end-effector's centre of mass in the base frame, (3,)
    control          parameter m     control point in the spacecraft's frame, (3,)
    captured         parameter m     captured point from the control point, same frame, (3,)
    ================ ========= ===== =========================================================

    Samples of the sensor that are no numbers are replaced by the last ones; there, and where a pose
    or an estimate is no number, nothing is added. A direction whose sign is wrong is left alone.

    References
    ----------
    Yu et al., IEEE Access (2018), Eq 27 to 34. Changed: Eq 27 needs the relative angular velocity
    (``omega_ce``, printed ``omega_c``). Eq 35 and 36 are in the plant
    ``SpaceDocking.Docking.ManipulatorDocking``. Added: half sample, limit, belief.
    """

    measured_force: Floats = Input(unit="N", shape=(3,), description="Force without lag")
    measured_torque: Floats = Input(unit="N.m", shape=(3,), description="Moment without lag")
    stiffness: Floats = Input(unit="N/m", shape=(3,), description="Stiffness of the contact")
    damping: Floats = Input(unit="N.s/m", shape=(3,), description="Damping of the contact")
    wrong_sign: Floats = Input(unit="1", shape=(3,), description="Above 0.5: a sign is wrong")
    s: Floats = Input(
        unit="m", shape=(3,), start=(0.0, 0.0, 2.5), description="Spacecraft from end-effector"
    )
    q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude of the spacecraft"
    )
    v: Floats = Input(unit="m/s", shape=(3,), description="Rate of s")
    w: Floats = Input(unit="rad/s", shape=(3,), description="Relative angular velocity")
    position: Floats = Input(
        unit="m", shape=(3,), start=(0.0, 0.0, 1.8), description="Robot's control point"
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
        unit="N", shape=(3,), description="Added to the force", depends_on=_MOTION
    )
    error: Floats = Output(
        unit="m", shape=(3,), description="Computed minus actual point", depends_on=_POSES
    )
    limited: bool = Output(description="A correction was cut at its limit", depends_on=_MOTION)
    active: bool = Output(description="A correction was added", depends_on=())
    half_sample: bool = Parameter(start=True, description="The hold is compensated, too")
    limit: float = Parameter(start=1e5, unit="N", description="Largest correction of a direction")
    effector: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, 0.3), description="End-effector in the base frame"
    )
    control: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, -1.0), description="Control point, spacecraft frame"
    )
    captured: Floats = Parameter(
        unit="m", shape=(3,), start=(0.0, 0.0, -0.5), description="Captured point from control"
    )
    last: list[float] = State(start=[0.0] * 6, description="Last force and moment")

    def step(self, t: float, h: float) -> None:
        """Evaluate Eq 27 to 34 at the end of the step."""
        shown = np.concatenate([self.measured_force, self.measured_torque])
        believed = bool(np.isfinite(shown).all())
        if believed:
            self.last = shown.tolist()
        force, moment = np.array(self.last[:3]), np.array(self.last[3:])
        arm, error, velocity, dv = self._errors()
        ds = error + 0.5 * h * velocity if self.half_sample else error
        wanted = np.where(self.wrong_sign > 0.5, 0.0, self.stiffness * ds + self.damping * dv)
        self.active = believed and bool(np.isfinite([*arm, *ds, *wanted]).all())
        if not self.active:
            arm, ds, wanted, error = np.zeros((4, 3))
        added = np.clip(wanted, -self.limit, self.limit)
        self.limited = bool((added != wanted).any())
        self.force[:] = force + added  # Eq 31
        self.torque[:] = moment + cross(arm, added) + cross(ds, force + added)  # Eq 33, 34
        self.force_correction[:], self.error[:] = added, error

    def _errors(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Give the actual point from the end-effector, its error, and velocity with error."""
        R, R_actual = matrix(self.q), matrix(self.actual_q)
        to_point = R @ (self.control + self.captured)
        offset = R_actual @ self.captured
        velocity = self.v + cross(self.w, to_point)  # Eq 27
        arm = self.position + offset - self.effector
        ds = self.s + to_point - arm  # Eq 29
        dv = velocity - self.velocity - cross(self.actual_w, offset)  # Eq 28
        return arm, ds, velocity, dv
