"""Inverse kinematics of a Stewart platform as a block."""

from __future__ import annotations

from orchestrator import Input, Output
from python_blocks.kinematics.partial_stewart import PartialStewart
from python_blocks.kinematics.rotation import Floats
from python_blocks.kinematics.stewart import leg_lengths
from python_blocks.kinematics.stewart_motion import follow

_POSE = ("position", "q")


class StewartInverse(PartialStewart):
    """Lengths of the six legs, and their rates, for a pose of the platform.

    Vectors are in the frame of the base, whose origin is the centre of the lower joints. For a
    pose beyond the limits of the legs the block clips the lengths at a rate of 0, and ``healthy``
    is false; with ``stop`` it is an error. For a pose that is not finite it keeps the last
    lengths.

    ================== ========= ===== ======================================================
    connector          causality unit  meaning
    ================== ========= ===== ======================================================
    position           input     m     position of the control point, (3,)
    q                  input     1     platform's frame to base frame, scalar first, (4,)
    velocity           input     m/s   velocity of the control point, (3,)
    w                  input     rad/s angular velocity in the base frame, (3,)
    length             output    m     lengths of the legs, (6,)
    rate               output    m/s   rates of the lengths, (6,)
    condition          output    1     condition number of the Jacobian, turns in radii
    margin             output    m     distance of the worst leg from its limits, < 0 beyond
    healthy            output          the pose can be reached and is not singular
    base_radius        parameter m     circle of the lower joints
    platform_radius    parameter m     circle of the upper joints
    base_half          parameter rad   half the angle between the lower joints of a pair
    platform_half      parameter rad   half the angle between the upper joints of a pair
    shortest, longest  parameter m     limits of the lengths
    condition_limit    parameter 1     condition number of a singular pose
    stop               parameter       an unhealthy result is an error
    ================== ========= ===== ======================================================

    References
    ----------
    Yu et al., IEEE Access (2018), section III B (position inverse solution); the Jacobian is the
    inverse of that of Eq 22. Added: limits of the legs and the singularity.
    """

    position: Floats = Input(
        unit="m", shape=(3,), start=(0.0, 0.0, 1.8), description="Position of the control point"
    )
    q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude of the platform"
    )
    velocity: Floats = Input(unit="m/s", shape=(3,), description="Velocity of the control point")
    w: Floats = Input(unit="rad/s", shape=(3,), description="Angular velocity, base frame")
    length: Floats = Output(
        unit="m", shape=(6,), description="Lengths of the legs", depends_on=_POSE
    )
    rate: Floats = Output(unit="m/s", shape=(6,), description="Rates of the lengths")
    condition: float = Output(
        unit="1", description="Condition number of the Jacobian", depends_on=_POSE
    )
    margin: float = Output(
        unit="m", description="Distance of the worst leg from its limits", depends_on=_POSE
    )
    healthy: bool = Output(
        description="The pose can be reached and is not singular", depends_on=_POSE
    )

    def initialise(self, t: float) -> None:
        """Begin with the shortest legs, which stay while the pose is not finite."""
        self.length[:] = self.shortest
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Evaluate the kinematics."""
        joints = self.geometry
        is_valid, margin, condition = follow(
            joints.base,
            joints.platform,
            self.position,
            self.q,
            (self.velocity, self.w),
            (self.shortest, self.longest),
            self.length,
            self.rate,
        )
        if not is_valid:
            self.refuse(t, "the pose is no number, or its quaternion is zero: look at its source")
            self.healthy = False
            self.rate[:] = 0.0
            return
        self.condition, self.margin = min(condition, 1e12), margin
        self.healthy = margin >= 0.0 and self.condition <= self.condition_limit
        if not self.healthy:
            self._refuse(t)

    def _refuse(self, t: float) -> None:
        if self.margin < 0.0:
            lengths = leg_lengths(self.geometry, self.position.tolist(), self.q.tolist())
            self.refuse(t, f"the pose cannot be reached: {self.limits_text(lengths)}")
        if self.condition > self.condition_limit:
            self.refuse(
                t,
                f"the pose is singular: the Jacobian's condition number is {self.condition:.4g},"
                f" expected at most {self.condition_limit:g}",
            )
