"""Guard of the pose that a robot is commanded."""

from __future__ import annotations

from math import cos, sqrt

from orchestrator.simunits import Input, Output, Parameter, State
from python_blocks.kinematics.rotation import Floats, turned
from python_blocks.safety.braking import braked_vector
from python_blocks.safety.partial_guard import PartialGuard
from python_blocks.safety.reason import Reason


class PoseGuard(PartialGuard):
    """Stands between a simulation and the parallel robot that it commands, in six directions.

    As :class:`~python_blocks.safety.axis_guard.AxisGuard`: in operation the pose passes unchanged
    and without delay, in the safe state it comes to rest on a straight line and about a fixed
    axis, and stands. The kinematics come after the guard, so what they say of a pose acts on the
    next one: keep ``margin_minimum`` above ``v h + v^2/(2 a)``.

    ================= ========= ====== =========================================================
    connector         causality unit   meaning
    ================= ========= ====== =========================================================
    position          input     m      position that the simulation asks for, (3,)
    q                 input     1      attitude, scalar first, (4,)
    velocity          input     m/s    velocity of the position, (3,)
    w                 input     rad/s  angular velocity in the outer frame, (3,)
    reachable         input            the inverse kinematics are healthy
    solved            input            the forward kinematics are healthy
    margin            input     m      distance of the worst leg from its limits
    condition         input     1      condition number of the Jacobian
    stop              input            reason of another guard that is safe; 0: none
    reset             input            its rising edge leaves the safe state, if that is allowed
    command           output    m      position for the robot, (3,)
    attitude          output    1      attitude for the robot, (4,)
    rate              output    m/s    its velocity, (3,)
    turn_rate         output    rad/s  its angular velocity, (3,)
    slope             output    m/s2   size of the change of the velocity over the last step
    standing          output           the command stands in the safe state
    safe              output           the guard is in its safe state
    reason            output           why, see :class:`~python_blocks.safety.reason.Reason`
    since             output    s      when that began; 0 before
    travel            parameter m      largest distance from the start
    turn              parameter rad    largest rotation from the start
    speed             parameter m/s    largest velocity
    turning           parameter rad/s  largest angular velocity
    acceleration      parameter m/s2   largest acceleration of what is asked for
    angular           parameter rad/s2 largest angular acceleration of what is asked for
    deceleration      parameter m/s2   that of the stop
    slowing           parameter rad/s2 angular deceleration of the stop
    margin_minimum    parameter m      least distance of the legs from their limits
    condition_maximum parameter 1      largest condition number
    rejoin            parameter m      how near the simulation must be for a reset
    persistence       parameter s      how long a flag may be bad before it counts
    resettable        parameter        whether a reset is allowed
    ================= ========= ====== =========================================================

    A reset is taken as by the guard of an axis; rotations count with a radius of 1 m.

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
    reachable: bool = Input(start=True, description="The inverse kinematics are healthy")
    solved: bool = Input(start=True, description="The forward kinematics are healthy")
    margin: float = Input(start=1.0, unit="m", description="Distance of the worst leg from limits")
    condition: float = Input(start=1.0, unit="1", description="Condition number of the Jacobian")
    command: Floats = Output(
        unit="m", shape=(3,), description="Position for the robot", depends_on=("position",)
    )
    attitude: Floats = Output(
        unit="1", shape=(4,), description="Attitude for the robot", depends_on=("q",)
    )
    rate: Floats = Output(
        unit="m/s", shape=(3,), description="Its velocity", depends_on=("velocity",)
    )
    turn_rate: Floats = Output(
        unit="rad/s", shape=(3,), description="Its angular velocity", depends_on=("w",)
    )
    slope: float = Output(unit="m/s2", description="Change of the velocity", depends_on=())
    standing: bool = Output(description="The command stands in the safe state", depends_on=())
    travel: float = Parameter(start=0.1, unit="m", description="Largest distance from the start")
    turn: float = Parameter(start=0.2, unit="rad", description="Largest rotation from the start")
    speed: float = Parameter(start=0.5, unit="m/s", description="Largest velocity")
    turning: float = Parameter(start=0.5, unit="rad/s", description="Largest angular velocity")
    acceleration: float = Parameter(start=20.0, unit="m/s2", description="Largest acceleration")
    angular: float = Parameter(
        start=20.0, unit="rad/s2", description="Largest angular acceleration"
    )
    deceleration: float = Parameter(start=5.0, unit="m/s2", description="That of the stop")
    slowing: float = Parameter(start=5.0, unit="rad/s2", description="Angular one of the stop")
    margin_minimum: float = Parameter(
        start=0.02, unit="m", description="Least distance of the legs from their limits"
    )
    condition_maximum: float = Parameter(
        start=50.0, unit="1", description="Largest condition number"
    )
    rejoin: float = Parameter(
        start=1e-4, unit="m", description="Distance, and in a second, at which a reset is taken"
    )
    home: list[float] = State(start=[0.0] * 7, description="Pose at the start")
    last: list[float] = State(start=[0.0] * 9, description="Last position, velocity and w")

    def initialise(self, t: float) -> None:
        """Begin where the simulation is."""
        self.begin()
        self._pass(self.position.tolist(), self.velocity.tolist(), self.w.tolist())
        self.home = [*self.position.tolist(), *self.q.tolist()]
        self.standing, self.slope = False, 0.0

    def step(self, t: float, h: float) -> None:
        """Pass the sample at the end of the step, or come to rest."""
        if self.reason:
            self._hold(t, h)
            return
        p, v, w = self.position.tolist(), self.velocity.tolist(), self.w.tolist()
        found = self._found(p, v, w, h)
        if found:
            self.latch(found, t + h)
            self._hold(t, h)
            return
        self.left, self.pressed = False, self.reset
        self._pass(p, v, w)

    def _pass(self, p: list[float], v: list[float], w: list[float]) -> None:
        self.command[:], self.attitude[:] = self.position, self.q
        self.rate[:], self.turn_rate[:] = self.velocity, self.w
        self.last = p + v + w

    def _found(self, p: list[float], v: list[float], w: list[float], h: float) -> int:
        x, y, z = p
        a, b, c, d = self.q.tolist()
        vx, vy, vz = v
        wx, wy, wz = w
        norm = a * a + b * b + c * c + d * d
        speed, turning = vx * vx + vy * vy + vz * vz, wx * wx + wy * wy + wz * wz
        total = x + y + z + speed + turning
        if total - total != 0.0 or not 0.25 < norm < 4.0:
            return Reason.COMMAND_NOT_FINITE
        lx, ly, lz, lvx, lvy, lvz, lwx, lwy, lwz = self.last
        step = (x - lx) ** 2 + (y - ly) ** 2 + (z - lz) ** 2
        most = self.speed * self.speed
        if speed > most or turning > self.turning**2 or step > most * h * h:
            return Reason.VELOCITY
        change = (vx - lvx) ** 2 + (vy - lvy) ** 2 + (vz - lvz) ** 2
        turned_by = (wx - lwx) ** 2 + (wy - lwy) ** 2 + (wz - lwz) ** 2
        self.slope = sqrt(change) / h if h else 0.0
        if change > (self.acceleration * h) ** 2 or turned_by > (self.angular * h) ** 2:
            return Reason.ACCELERATION
        hx, hy, hz, ha, hb, hc, hd = self.home
        away = (x - hx) ** 2 + (y - hy) ** 2 + (z - hz) ** 2
        alike = abs(a * ha + b * hb + c * hc + d * hd)  # |cos(angle/2)| for quaternions of norm 1
        if away > self.travel**2 or alike < cos(0.5 * self.turn) * sqrt(norm):
            return Reason.TRAVEL
        return self._said_by_others(h)

    def _said_by_others(self, h: float) -> int:
        if self.stop and not self.left:
            return self.stop
        if not self.margin >= self.margin_minimum:
            return Reason.LEGS
        if not self.condition <= self.condition_maximum:
            return Reason.SINGULAR
        return self.persists(0 if self.reachable and self.solved else Reason.KINEMATICS, h)

    def _hold(self, t: float, h: float) -> None:
        p, v, w = self.last[:3], self.last[3:6], self.last[6:]
        fast = sqrt(sum(one * one for one in v))
        way, v = braked_vector(v, self.deceleration, h)
        self.slope = (fast - sqrt(sum(one * one for one in v))) / h if h else 0.0
        angle, w = braked_vector(w, self.slowing, h)
        p = [one + more for one, more in zip(p, way, strict=True)]
        self.last = p + v + w
        self.command[:], self.rate[:], self.turn_rate[:] = p, v, w
        if any(angle):
            self.attitude[:] = turned(self.attitude, angle)
        self.standing = not (any(v) or any(w))
        if self.asked() and self.standing and self._near():
            self.leave(t + h)
            self.standing = False
            self._pass(self.position.tolist(), self.velocity.tolist(), self.w.tolist())

    def _near(self) -> bool:
        """Whether the simulation is where the robot stands, and as good as at rest."""
        apart = sqrt(float(((self.position - self.command) ** 2).sum()))
        alike = abs(float(self.q @ self.attitude)) / sqrt(
            float((self.q @ self.q) * (self.attitude @ self.attitude)) or 1.0
        )
        moving = sqrt(float(self.velocity @ self.velocity + self.w @ self.w))
        return apart <= self.rejoin and moving <= self.rejoin and alike >= cos(0.5 * self.rejoin)
