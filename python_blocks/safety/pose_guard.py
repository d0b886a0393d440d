"""Guard of the pose that a robot is commanded."""

from __future__ import annotations

from math import cos, isfinite, sqrt

import numpy as np

from orchestrator import Input, Output, Parameter, Reason, State, compiled
from python_blocks.kinematics.rotation import Floats, turned
from python_blocks.safety.braking import braked_vector
from python_blocks.safety.partial_guard import LARGEST, PartialGuard

_NOT_FINITE, _VELOCITY = int(Reason.COMMAND_NOT_FINITE), int(Reason.VELOCITY)
_ACCELERATION, _TRAVEL = int(Reason.ACCELERATION), int(Reason.TRAVEL)


class PoseGuard(PartialGuard):
    """Guards the command from a simulation to a parallel robot, in six directions.

    Like :class:`~python_blocks.safety.axis_guard.AxisGuard`: in operation the pose passes unchanged
    and without delay. In the safe state it brakes on a straight line and about a fixed axis, and
    stays at rest. The kinematics follow the guard, so their result for a pose acts on the next
    one: keep ``margin_minimum`` above ``v h + v^2/(2 a)``.

    ==================== ========= ====== =========================================================
    connector            causality unit   meaning
    ==================== ========= ====== =========================================================
    position             input     m      position requested by the simulation, (3,)
    q                    input     1      attitude, scalar first, (4,)
    velocity             input     m/s    velocity of the position, (3,)
    w                    input     rad/s  angular velocity in the outer frame, (3,)
    reachable            input            the inverse kinematics are healthy
    solved               input            the forward kinematics are healthy
    margin               input     m      distance of the worst leg from its limits
    condition            input     1      condition number of the Jacobian
    stop                 input            reason of another guard in its safe state; 0: none
    reset                input            a rising edge leaves the safe state, if permitted
    command              output    m      position for the robot, (3,)
    attitude             output    1      attitude for the robot, (4,)
    rate                 output    m/s    its velocity, (3,)
    turn_rate            output    rad/s  its angular velocity, (3,)
    slope                output    m/s2   size of the change of the velocity over the last step
    standing             output           the command is at rest in the safe state
    safe                 output           the guard is in its safe state
    reason               output           cause, see :class:`~orchestrator.Reason`
    since                output    s      start of the safe state; 0 before
    travel               parameter m      largest distance from the start
    turn                 parameter rad    largest rotation from the start
    speed                parameter m/s    largest velocity
    turning              parameter rad/s  largest angular velocity
    acceleration         parameter m/s2   largest acceleration of the requested motion
    angular              parameter rad/s2 largest angular acceleration of the requested motion
    deceleration         parameter m/s2   deceleration of the stop
    angular_deceleration parameter rad/s2 angular deceleration of the stop
    margin_minimum       parameter m      least distance of the legs from their limits
    condition_maximum    parameter 1      largest condition number
    rejoin               parameter m      largest distance of the simulation for a reset
    persistence          parameter s      time after which a bad flag counts
    resettable           parameter        permit a reset
    ==================== ========= ====== =========================================================

    A reset works as in the guard of an axis; rotations count with a radius of 1 m.

    References
    ----------
    None: the closed form of a constant deceleration.
    """

    reaction = "the robot's command comes to rest and stands"

    position: Floats = Input(
        unit="m", shape=(3,), start=(0.0, 0.0, 1.8), description="Position that is asked for"
    )
    q: Floats = Input(
        unit="1", shape=(4,), start=(1.0, 0.0, 0.0, 0.0), description="Attitude that is asked for"
    )
    velocity: Floats = Input(unit="m/s", shape=(3,), description="Velocity of the position")
    w: Floats = Input(unit="rad/s", shape=(3,), description="Angular velocity, outer frame")
    reachable: bool = Input(start=True, description="The inverse kinematics have a valid solution")
    solved: bool = Input(start=True, description="The forward kinematics have a valid solution")
    margin: float = Input(start=1.0, unit="m", description="Distance of the worst leg from limits")
    condition: float = Input(start=1.0, unit="1", description="Condition number of the Jacobian")
    command: Floats = Output(
        unit="m", shape=(3,), description="Position for the robot", depends_on=("position",)
    )
    attitude: Floats = Output(
        unit="1", shape=(4,), description="Attitude for the robot", depends_on=("q",)
    )
    rate: Floats = Output(
        unit="m/s", shape=(3,), description="Velocity for the robot", depends_on=("velocity",)
    )
    turn_rate: Floats = Output(
        unit="rad/s", shape=(3,), description="Angular velocity for the robot", depends_on=("w",)
    )
    slope: float = Output(unit="m/s2", description="Change of the velocity", depends_on=())
    standing: bool = Output(description="The command is at rest in the safe state", depends_on=())
    travel: float = Parameter(
        start=0.1, unit="m", above=0.0, description="Largest distance from the start"
    )
    turn: float = Parameter(
        start=0.2, unit="rad", above=0.0, description="Largest rotation from the start"
    )
    speed: float = Parameter(start=0.5, unit="m/s", above=0.0, description="Largest velocity")
    turning: float = Parameter(
        start=0.5, unit="rad/s", above=0.0, description="Largest angular velocity"
    )
    acceleration: float = Parameter(
        start=20.0, unit="m/s2", above=0.0, description="Largest acceleration"
    )
    angular: float = Parameter(
        start=20.0, unit="rad/s2", above=0.0, description="Largest angular acceleration"
    )
    deceleration: float = Parameter(
        start=5.0, unit="m/s2", above=0.0, description="Deceleration of the stop in the safe state"
    )
    angular_deceleration: float = Parameter(
        start=5.0,
        unit="rad/s2",
        above=0.0,
        description="Angular one of the stop",
    )
    margin_minimum: float = Parameter(
        start=0.02,
        unit="m",
        minimum=0.0,
        description="Least distance of the legs from their limits",
    )
    condition_maximum: float = Parameter(
        start=50.0, unit="1", above=0.0, description="Largest condition number"
    )
    rejoin: float = Parameter(
        start=1e-4,
        unit="m",
        above=0.0,
        description="Distance, and in a second, at which a reset is taken",
    )
    home: Floats = State(start=np.zeros(7), description="Pose at the start, norm 1")

    def initialise(self, t: float) -> None:
        """Begin at the pose of the simulation, with start values for those out of range."""
        self.begin()
        starts = {"command": ("position", LARGEST), "attitude": ("q", 2.0)}
        starts |= {"rate": ("velocity", self.speed), "turn_rate": ("w", self.turning)}
        for output, (name, largest) in starts.items():
            value: Floats = getattr(self, name)
            is_valid = bool((np.abs(value) <= largest).all()) and (name != "q" or value.any())
            getattr(self, output)[:] = value if is_valid else self.connectors[name].start
        self.home[:3] = self.command
        self.home[3:] = self.attitude / np.linalg.norm(self.attitude)
        self.standing, self.slope = False, 0.0

    def step(self, t: float, h: float) -> None:
        """Pass the sample at the end of the step, or brake."""
        if self.reason:
            self._hold(t, h)
            return
        reported = self._reported_by_others(h)
        limits = self.travel, cos(0.5 * self.turn), self.speed, self.turning
        violation, self.slope = watch(
            (self.position, self.q, self.velocity, self.w),
            (self.command, self.attitude, self.rate, self.turn_rate),
            self.home,
            (*limits, self.acceleration, self.angular),
            h,
            reported,
        )
        if violation or reported:
            self.latch(violation or reported, t + h)
            self._hold(t, h)
            return
        self.left, self.pressed = False, self.reset

    def _reported_by_others(self, h: float) -> int:
        if self.stop and not self.left:
            return self.stop
        if not self.margin >= self.margin_minimum:
            return Reason.LEGS
        if not self.condition <= self.condition_maximum:
            return Reason.SINGULAR
        return self.persists(0 if self.reachable and self.solved else Reason.KINEMATICS, h)

    def _hold(self, t: float, h: float) -> None:
        v, w = self.rate.tolist(), self.turn_rate.tolist()
        fast = sqrt(sum(component * component for component in v))
        distance, v = braked_vector(v, self.deceleration, h)
        angle, w = braked_vector(w, self.angular_deceleration, h)
        self.slope = (fast - sqrt(sum(component * component for component in v))) / h if h else 0.0
        self.command += distance
        self.rate[:], self.turn_rate[:] = v, w
        if any(angle):
            self.attitude[:] = turned(self.attitude, angle)
        self.standing = not (any(v) or any(w))
        if self.reset_requested() and self.standing and self._near():
            self.leave(t + h)
            self.standing = False
            self.command[:], self.attitude[:] = self.position, self.q
            self.rate[:], self.turn_rate[:] = self.velocity, self.w

    def _near(self) -> bool:
        """Whether the simulation is at the position of the robot, and nearly at rest."""
        error, moving = self.position - self.command, np.concatenate([self.velocity, self.w])
        q, attitude = self.q, self.attitude
        with np.errstate(all="ignore"):  # what overflows is not near
            turned_by = abs(q @ attitude) / np.sqrt((q @ q) * (attitude @ attitude))
            return bool(
                error @ error <= self.rejoin**2
                and moving @ moving <= self.rejoin**2
                and turned_by >= cos(0.5 * self.rejoin)
            )


@compiled
def watch(
    requested: tuple[Floats, Floats, Floats, Floats],
    commanded: tuple[Floats, Floats, Floats, Floats],
    home: Floats,
    limits: tuple[float, float, float, float, float, float],
    h: float,
    reported: int,
) -> tuple[int, float]:
    """Check a requested pose, and pass it on if there is no cause.

    Parameters
    ----------
    requested
        Position, quaternion, velocity and angular velocity.
    commanded
        The same as last passed on; they are changed.
    home
        Position and quaternion at the start, shape (7,).
    limits
        Distance from the start, m; cosine of half the rotation from it; velocity, m/s, and angular
        velocity, rad/s; their changes per second, m/s2 and rad/s2.
    h
        Length of the step, s.
    reported
        Reason of other guards; a pose is passed on if it is 0.

    Returns
    -------
    tuple
        The reason, 0 for none, and the acceleration, m/s2.
    """
    position, q, velocity, w = requested
    command, attitude, rate, turn_rate = commanded
    travel, half_turn, speed, turning, acceleration, angular = limits
    away, step, fast, spin, change, twist = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        away += (position[i] - home[i]) ** 2
        step += (position[i] - command[i]) ** 2
        fast += velocity[i] ** 2
        spin += w[i] ** 2
        change += (velocity[i] - rate[i]) ** 2
        twist += (w[i] - turn_rate[i]) ** 2
    norm, alike = 0.0, 0.0
    for i in range(4):
        norm += q[i] ** 2
        alike += q[i] * home[3 + i]
    if not isfinite(away + fast + spin) or not 0.25 < norm < 4.0:
        return _NOT_FINITE, 0.0
    slope = sqrt(change) / h if h > 0.0 else 0.0
    if fast > speed**2 or spin > turning**2 or step > (speed * h) ** 2:
        return _VELOCITY, slope
    if change > (acceleration * h) ** 2 or twist > (angular * h) ** 2:
        return _ACCELERATION, slope
    # for quaternions of norm 1 the product is the cosine of half the angle between them
    if away > travel**2 or abs(alike) < half_turn * sqrt(norm):
        return _TRAVEL, slope
    if reported == 0:
        command[:], attitude[:], rate[:], turn_rate[:] = position, q, velocity, w
    return 0, slope
