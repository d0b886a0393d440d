"""Forward kinematics of a Stewart platform as a block."""

from __future__ import annotations

from orchestrator import Input, Output, Parameter
from python_blocks.kinematics.partial_stewart import PartialStewart
from python_blocks.kinematics.rotation import Floats
from python_blocks.kinematics.stewart_motion import track


class StewartForward(PartialStewart):
    """Pose and velocity of the platform for the lengths of the six legs and their rates.

    Newton's method starts from the last pose, and at first from ``position0``, ``q0``. If it finds
    no pose, or a singular one, or if lengths are not finite, the block keeps the last good pose
    without velocity, and ``healthy`` is false; with ``stop`` it is an error. Lengths beyond the
    limits give a pose that is not healthy.

    ================== ========= ===== ======================================================
    connector          causality unit  meaning
    ================== ========= ===== ======================================================
    length             input     m     lengths of the legs, (6,)
    rate               input     m/s   rates of the lengths, (6,)
    position           output    m     position of the control point, base frame, (3,)
    q                  output    1     platform's frame to base frame, scalar first, (4,)
    velocity           output    m/s   velocity of the control point, base frame, (3,)
    w                  output    rad/s angular velocity, base frame, (3,)
    residual           output    m     largest difference of a length
    iterations         output          steps of Newton's method
    condition          output    1     condition number of the Jacobian, turns in radii
    margin             output    m     distance of the worst leg from its limits, < 0 beyond
    healthy            output          the pose is a solution, within the limits and not singular
    position0          parameter m     start of the first search, (3,)
    q0                 parameter 1     attitude at the start of the first search, (4,)
    tolerance          parameter m     largest difference of a length at a solution
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
    Yu et al., IEEE Access (2018), Eq 22 and 23, first line: the velocity of the control point from
    those of the legs. The pose itself is Newton's method on the inverse kinematics.
    """

    length: Floats = Input(unit="m", shape=(6,), start=1.9730, description="Lengths of the legs")
    rate: Floats = Input(unit="m/s", shape=(6,), description="Rates of the lengths")
    position: Floats = Output(
        unit="m", shape=(3,), description="Position of the control point", depends_on=("length",)
    )
    q: Floats = Output(
        unit="1", shape=(4,), description="Attitude of the platform", depends_on=("length",)
    )
    velocity: Floats = Output(unit="m/s", shape=(3,), description="Velocity of the control point")
    w: Floats = Output(unit="rad/s", shape=(3,), description="Angular velocity, base frame")
    residual: float = Output(
        unit="m", description="Largest difference of a length", depends_on=("length",)
    )
    iterations: int = Output(description="Steps of Newton's method", depends_on=("length",))
    condition: float = Output(
        unit="1", description="Condition number of the Jacobian", depends_on=("length",)
    )
    margin: float = Output(
        unit="m", description="Distance of the worst leg from its limits", depends_on=("length",)
    )
    healthy: bool = Output(
        description="A pose was found, within the limits and not singular", depends_on=("length",)
    )
    position0: Floats = Parameter(
        unit="m",
        shape=(3,),
        start=(0.0, 0.0, 1.8),
        description="Start position of the first search",
    )
    q0: Floats = Parameter(
        unit="1",
        shape=(4,),
        start=(1.0, 0.0, 0.0, 0.0),
        description="Start attitude of the first search",
    )
    tolerance: float = Parameter(
        start=1e-10, unit="m", above=0.0, description="Largest difference of a length at a solution"
    )

    def initialise(self, t: float) -> None:
        """Search from the first pose."""
        self.position[:], self.q[:] = self.position0, self.q0
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Find the pose, starting from that of the outputs."""
        joints = self.geometry
        is_valid, residual, iterations, condition = track(
            joints.base,
            joints.platform,
            self.length,
            self.rate,
            (self.position, self.q),
            (self.velocity, self.w),
            self.tolerance,
            self.condition_limit,
        )
        if not is_valid:
            self.healthy = False
            self.refuse(t, "a length or its rate is no number: look at its source")
            return
        self.residual, self.iterations, self.condition = residual, iterations, min(condition, 1e12)
        self.margin = self.margin_of(self.length)
        self.healthy = (
            residual <= self.tolerance and condition <= self.condition_limit and self.margin >= 0.0
        )
        if not self.healthy:
            self._refuse(t)

    def _refuse(self, t: float) -> None:
        if not self.residual <= self.tolerance:
            problem = (
                "no pose has these lengths of the legs: from the last pose Newton's method comes"
                f" no nearer than {self.residual:.3g} m (tolerance {self.tolerance:g} m)"
            )
        elif not self.condition <= self.condition_limit:
            problem = (
                f"the pose is singular: the Jacobian's condition number is {self.condition:.4g},"
                f" expected at most {self.condition_limit:g}"
            )
        else:
            problem = self.limits_text(self.length)
        self.refuse(t, problem)
