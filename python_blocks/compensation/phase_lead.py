"""Phase lead of a force sensor as blocks: of one force, and of force and torque."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State
from python_blocks.compensation.lead import lead_coefficients
from python_blocks.kinematics.rotation import Floats

#: N, N m: larger values are not measurements, and would stay in a recursion for ever.
LARGEST = 1e9


class PhaseLead(Block):
    """Compensates the lag of a force sensor: ``(T s + 1)/(rest T s + 1)``, one direction.

    ============= ========= ==== ===========================================================
    connector     causality unit meaning
    ============= ========= ==== ===========================================================
    measured      input     N    measured force
    force         output    N    force without the sensor's lag
    sensor_lost   output         the sample is not finite; the last one is kept
    lag           parameter s    time constant of the sensor, T
    rest          parameter 1    remaining share of the lag
    ============= ========= ==== ===========================================================

    The lead amplifies white noise of the sensor: 3.3 times at a lag of 2 ms, sampled at 1 ms, with
    a rest of 0.1.

    References
    ----------
    Yu et al., IEEE Access (2018), section IV: a first-order phase lead; neither its coefficients
    nor the lag are given. Assumed: a rest of 0.1, a lag of 2 ms.
    """

    measured: float = Input(unit="N", description="Measured force")
    force: float = Output(unit="N", description="Force without the sensor's lag")
    sensor_lost: bool = Output(description="The measurement is not a number", depends_on=())
    lag: float = Parameter(
        start=2e-3, unit="s", above=0.0, description="Time constant of the sensor"
    )
    rest: float = Parameter(
        start=0.1, unit="1", above=0.0, maximum=1.0, description="Remaining share of the lag"
    )
    last: float = State(start=0.0, description="Sample before")

    def initialise(self, t: float) -> None:
        """Begin in steady state."""
        self.sensor_lost = not abs(self.measured) < LARGEST
        self.last = 0.0 if self.sensor_lost else self.measured
        self.force = self.last

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        self.sensor_lost = not abs(self.measured) < LARGEST
        now = self.last if self.sensor_lost else self.measured
        if h > 0.0:
            b0, b1, a = lead_coefficients(self.lag, self.rest * self.lag, h)
            self.force = b0 * now + b1 * self.last + a * self.force
        self.last = now


class WrenchPhaseLead(Block):
    """Compensates the lag of a force and torque sensor: ``(T s + 1)/(rest T s + 1)``.

    =============== ========= ==== =========================================================
    connector       causality unit meaning
    =============== ========= ==== =========================================================
    measured_force  input     N    measured force, (3,)
    measured_torque input     N.m  measured torque, (3,)
    force           output    N    force without the sensor's lag, (3,)
    torque          output    N.m  torque without the sensor's lag, (3,)
    sensor_lost     output         a sample is not finite; the last one is kept
    lag             parameter s    time constant of the sensor, T
    rest            parameter 1    remaining share of the lag
    =============== ========= ==== =========================================================

    References
    ----------
    Yu et al., IEEE Access (2018), section IV; see :class:`PhaseLead`.
    """

    measured_force: Floats = Input(unit="N", shape=(3,), description="Measured force")
    measured_torque: Floats = Input(unit="N.m", shape=(3,), description="Measured torque")
    force: Floats = Output(
        unit="N", shape=(3,), description="Force without the lag", depends_on=("measured_force",)
    )
    torque: Floats = Output(
        unit="N.m",
        shape=(3,),
        description="Torque without the lag",
        depends_on=("measured_torque",),
    )
    sensor_lost: bool = Output(description="The measurement is not a number", depends_on=())
    lag: float = Parameter(
        start=2e-3, unit="s", above=0.0, description="Time constant of the sensor"
    )
    rest: float = Parameter(
        start=0.1, unit="1", above=0.0, maximum=1.0, description="Remaining share of the lag"
    )
    last: list[float] = State(start=[0.0] * 6, description="Sample before: force, torque")

    def initialise(self, t: float) -> None:
        """Begin in steady state."""
        now = self._sample([0.0] * 6)
        self.last, self.force[:], self.torque[:] = now, now[:3], now[3:]

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        now = self._sample(self.last)
        if h > 0.0:
            b0, b1, a = lead_coefficients(self.lag, self.rest * self.lag, h)
            before = self.force.tolist() + self.torque.tolist()
            led = [
                b0 * new + b1 * old + a * y
                for new, old, y in zip(now, self.last, before, strict=True)
            ]
            self.force[:], self.torque[:] = led[:3], led[3:]
        self.last = now

    def _sample(self, otherwise: list[float]) -> list[float]:
        """Return force and torque, with values that are not finite replaced."""
        measured: list[float] = self.measured_force.tolist() + self.measured_torque.tolist()
        self.sensor_lost = not all(abs(x) < LARGEST for x in measured)
        if not self.sensor_lost:
            return measured
        return [x if abs(x) < LARGEST else y for x, y in zip(measured, otherwise, strict=True)]
