"""Guard of the command of one axis."""

from __future__ import annotations

from orchestrator import Input, Output, Parameter, Reason, State
from python_blocks.safety.braking import braked
from python_blocks.safety.partial_guard import LARGEST, PartialGuard


class AxisGuard(PartialGuard):
    """Guards the command from a simulation to a robot, on one axis.

    In operation position and velocity pass unchanged and without delay. On a cause the command
    leaves them with its last velocity, brakes at the ``deceleration`` (for ``|v|/a``, over
    ``v^2/(2 a)``) and stays at rest, so neither position nor velocity jump. A cause acts on the
    sample in which it occurs: a command that is not finite or that jumps never reaches the robot.

    ============ ========= ===== =========================================================
    connector    causality unit  meaning
    ============ ========= ===== =========================================================
    position     input     m     position requested by the simulation
    velocity     input     m/s   its velocity
    healthy      input           robot and kinematics are healthy; a cause if not
    stop         input           reason of another guard in its safe state; 0: none
    reset        input           a rising edge leaves the safe state, if permitted
    command      output    m     position for the robot
    rate         output    m/s   its velocity
    slope        output    m/s2  change of the velocity over the last step
    standing     output          the command is at rest in the safe state
    safe         output          the guard is in its safe state
    reason       output          cause, see :class:`~orchestrator.Reason`
    since        output    s     start of the safe state; 0 before
    travel       parameter m     largest distance from the start
    speed        parameter m/s   largest velocity
    acceleration parameter m/s2  largest acceleration of the requested motion
    deceleration parameter m/s2  deceleration of the stop
    rejoin       parameter m     largest distance for a reset, and motion per second
    persistence  parameter s     time after which a bad flag counts
    resettable   parameter       permit a reset
    ============ ========= ===== =========================================================

    A held reset takes effect once the command is at rest and the simulation is within ``rejoin`` of
    it, and moves by at most ``rejoin`` per second. The return therefore does not jump.

    References
    ----------
    None: the closed form of a constant deceleration.
    """

    reaction = "the robot's command comes to rest and stands"

    position: float = Input(unit="m", description="Position that the simulation commands")
    velocity: float = Input(unit="m/s", description="Velocity that the simulation commands")
    healthy: bool = Input(start=True, description="Robot and kinematics are healthy")
    command: float = Output(
        unit="m", description="Position for the robot", depends_on=("position",)
    )
    rate: float = Output(unit="m/s", description="Velocity for the robot", depends_on=("velocity",))
    slope: float = Output(unit="m/s2", description="Acceleration of the command", depends_on=())
    standing: bool = Output(description="The command is at rest in the safe state", depends_on=())
    travel: float = Parameter(
        start=0.03, unit="m", above=0.0, description="Largest distance from the start"
    )
    speed: float = Parameter(start=0.3, unit="m/s", above=0.0, description="Largest velocity")
    acceleration: float = Parameter(
        start=10.0, unit="m/s2", above=0.0, description="Largest acceleration"
    )
    deceleration: float = Parameter(
        start=2.0, unit="m/s2", above=0.0, description="Deceleration of the stop in the safe state"
    )
    rejoin: float = Parameter(
        start=1e-4,
        unit="m",
        above=0.0,
        description="Largest distance, and velocity per s, at which a reset is accepted",
    )
    home: float = State(start=0.0, description="Position at the start, m")

    def initialise(self, t: float) -> None:
        """Begin at the position of the simulation, or at 0 if that is not finite."""
        self.begin()
        x, v = self.position, self.velocity
        self.command = self.home = x if abs(x) < LARGEST else 0.0
        self.rate = v if abs(v) <= self.speed else 0.0
        self.standing, self.slope = False, 0.0

    def step(self, t: float, h: float) -> None:
        """Pass the sample at the end of the step, or brake."""
        if self.reason:
            self._hold(t, h)
            return
        violation = self._violation(h)
        if violation:
            self.latch(violation, t + h)
            self._hold(t, h)
            return
        self.left, self.pressed = False, self.reset
        self.slope = (self.velocity - self.rate) / h if h else 0.0
        self.command, self.rate = self.position, self.velocity

    def _violation(self, h: float) -> int:
        x, v = self.position, self.velocity
        if x - x != 0.0 or v - v != 0.0:  # NaN or infinite
            return Reason.COMMAND_NOT_FINITE
        if abs(v) > self.speed or abs(x - self.command) > self.speed * h:
            return Reason.VELOCITY
        if abs(v - self.rate) > self.acceleration * h:
            return Reason.ACCELERATION
        if abs(x - self.home) > self.travel:
            return Reason.TRAVEL
        if self.stop and not self.left:
            return self.stop
        return self.persists(0 if self.healthy else Reason.KINEMATICS, h)

    def _hold(self, t: float, h: float) -> None:
        before = self.rate
        self.command, self.rate = braked(self.command, before, self.deceleration, h)
        self.slope = (self.rate - before) / h if h else 0.0
        self.standing = self.rate == 0.0
        near = abs(self.position - self.command) <= self.rejoin
        slow = abs(self.velocity) <= self.rejoin
        if self.reset_requested() and self.standing and near and slow:
            self.leave(t + h)
            self.standing, self.command, self.rate = False, self.position, self.velocity
