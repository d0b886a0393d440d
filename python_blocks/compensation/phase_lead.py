"""Phase lead of a force sensor as blocks: of one force, and of force and torque."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State
from python_blocks.compensation.lead import lead_coefficients
from python_blocks.kinematics.rotation import Floats

#: N, N m: what a sensor shows beyond is no measurement, and stays in a recursion for good.
LARGEST = 1e9


class PhaseLead(Block):
    """Takes the lag of a force sensor back: ``(T s + 1)/(rest T s + 1)``, one direction.

    ============= ========= ==== ===========================================================
    connector     causality unit meaning
    ============= ========= ==== ===========================================================
    measured      input     N    what the sensor shows
    force         output    N    force without the sensor's lag
    sensor_lost   output         what the sensor shows is no number; the last one stands
    lag           parameter s    time constant of the sensor, T
    rest          parameter 1    share of the lag that is left
    ============= ========= ==== ===========================================================

    White noise of the sensor comes out larger: 3.3 times at a lag of 2 ms sampled at 1 ms with a
    rest of 0.1.

    References
    ----------
    Yu et al., IEEE Access (2018), section IV: a first-order phase lead; neither its coefficients
    nor the lag are given. Assumed: a rest of 0.1, a lag of 2 ms.
    """

    measured: float = Input(unit="N", description="What the sensor shows")
    force: float = Output(unit="N", description="Force without the sensor's lag")
    sensor_lost: bool = Output(description="What the sensor shows is no number", depends_on=())
    lag: float = Parameter(
        start=2e-3, unit="s", above=0.0, description="Time constant of the sensor"
    )
    rest: float = Parameter(
        start=0.1, unit="1", above=0.0, maximum=1.0, description="Share of the lag that is left"
    )
    last: float = State(start=0.0, description="Sample before")

    def initialise(self, t: float) -> None:
        """Begin settled."""
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
    """Takes the lag of a force and torque sensor back: ``(T s + 1)/(rest T s + 1)``.

    =============== ========= ==== =========================================================
    connector       causality unit meaning
    =============== ========= ==== =========================================================
    measured_force  input     N    what the sensor shows, (3,)
    measured_torque input     N.m  what the sensor shows, (3,)
    force           output    N    force without the sensor's lag, (3,)
    torque          output    N.m  torque without the sensor's lag, (3,)
    sensor_lost     output         a sample is no number; the last one stands
    lag             parameter s    time constant of the sensor, T
    rest            parameter 1    share of the lag that is left
    =============== ========= ==== =========================================================

    References
    ----------
    Yu et al., IEEE Access (2018), section IV; see :class:`PhaseLead`.
    """

    measured_force: Floats = Input(unit="N", shape=(3,), description="What the sensor shows")
    measured_torque: Floats = Input(unit="N.m", shape=(3,), description="What the sensor shows")
    force: Floats = Output(
        unit="N", shape=(3,), description="Force without the lag", depends_on=("measured_force",)
    )
    torque: Floats = Output(
        unit="N.m",
        shape=(3,),
        description="Torque without the lag",
        depends_on=("measured_torque",),
    )
    sensor_lost: bool = Output(description="What the sensor shows is no number", depends_on=())
    lag: float = Parameter(
        start=2e-3, unit="s", above=0.0, description="Time constant of the sensor"
    )
    rest: float = Parameter(
        start=0.1, unit="1", above=0.0, maximum=1.0, description="Share of the lag that is left"
    )
    last: list[float] = State(start=[0.0] * 6, description="Sample before: force, torque")

    def initialise(self, t: float) -> None:
        """Begin settled."""
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
        """Force and torque; what is no number is replaced."""
        measured: list[float] = self.measured_force.tolist() + self.measured_torque.tolist()
        self.sensor_lost = not all(abs(x) < LARGEST for x in measured)
        if not self.sensor_lost:
            return measured
        return [x if abs(x) < LARGEST else y for x, y in zip(measured, otherwise, strict=True)]
