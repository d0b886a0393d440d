"""Guard of the command of one axis."""

from __future__ import annotations

from orchestrator import Input, Output, Parameter, Reason, State
from python_blocks.safety.braking import braked
from python_blocks.safety.partial_guard import LARGEST, PartialGuard


class AxisGuard(PartialGuard):
    """Stands between a simulation and the robot that it commands, on one axis.

    In operation position and velocity pass unchanged and without delay. When they cannot be
    followed any more the command leaves with the velocity that it last had, comes to rest at the
    ``deceleration`` (after ``|v|/a``, within ``v^2/(2 a)``) and stands there: neither position
    nor velocity jump. What was found in a sample acts on that sample: a command that is no number
    or that jumps never reaches the robot.

    ============ ========= ===== =========================================================
    connector    causality unit  meaning
    ============ ========= ===== =========================================================
    position     input     m     position that the simulation asks for
    velocity     input     m/s   its velocity
    healthy      input           robot and kinematics are; false for the persistence is a cause
    stop         input           reason of another guard that is safe; 0: none
    reset        input           its rising edge leaves the safe state, if that is allowed
    command      output    m     position for the robot
    rate         output    m/s   its velocity
    slope        output    m/s2  change of the velocity over the last step
    standing     output          the command stands in the safe state
    safe         output          the guard is in its safe state
    reason       output          why, see :class:`~orchestrator.Reason`
    since        output    s     when that began; 0 before
    travel       parameter m     largest distance from the start
    speed        parameter m/s   largest velocity
    acceleration parameter m/s2  largest acceleration of what is asked for
    deceleration parameter m/s2  that of the stop
    rejoin       parameter m     how near the simulation must be for a reset, and in a second
    persistence  parameter s     how long a flag may be bad before it counts
    resettable   parameter       whether a reset is allowed
    ============ ========= ===== =========================================================

    A reset is taken while it is held, once the command stands and the simulation is within
    ``rejoin`` of it and no faster than that in a second: so there is no jump on the way back.

    References
    ----------
    None: the closed form of a constant deceleration.
    """

    reaction = "the robot's command comes to rest and stands"

    position: float = Input(unit="m", description="Position that the simulation asks for")
    velocity: float = Input(unit="m/s", description="Its velocity")
    healthy: bool = Input(start=True, description="Robot and kinematics are healthy")
    command: float = Output(
        unit="m", description="Position for the robot", depends_on=("position",)
    )
    rate: float = Output(unit="m/s", description="Its velocity", depends_on=("velocity",))
    slope: float = Output(unit="m/s2", description="Change of the velocity", depends_on=())
    standing: bool = Output(description="The command stands in the safe state", depends_on=())
    travel: float = Parameter(
        start=0.03, unit="m", above=0.0, description="Largest distance from the start"
    )
    speed: float = Parameter(start=0.3, unit="m/s", above=0.0, description="Largest velocity")
    acceleration: float = Parameter(
        start=10.0, unit="m/s2", above=0.0, description="Largest acceleration"
    )
    deceleration: float = Parameter(
        start=2.0, unit="m/s2", above=0.0, description="That of the stop"
    )
    rejoin: float = Parameter(
        start=1e-4,
        unit="m",
        above=0.0,
        description="Distance, and in a second, at which a reset is taken",
    )
    home: float = State(start=0.0, description="Position at the start, m")

    def initialise(self, t: float) -> None:
        """Begin where the simulation is; there is no coming to rest from what cannot be."""
        self.begin()
        x, v = self.position, self.velocity
        self.command = self.home = x if abs(x) < LARGEST else 0.0
        self.rate = v if abs(v) <= self.speed else 0.0
        self.standing, self.slope = False, 0.0

    def step(self, t: float, h: float) -> None:
        """Pass the sample at the end of the step, or come to rest."""
        if self.reason:
            self._hold(t, h)
            return
        violation = self._found(h)
        if violation:
            self.latch(violation, t + h)
            self._hold(t, h)
            return
        self.left, self.pressed = False, self.reset
        self.slope = (self.velocity - self.rate) / h if h else 0.0
        self.command, self.rate = self.position, self.velocity

    def _found(self, h: float) -> int:
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
