"""Rate controller of a motor, sampled."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State


class RateController(Block):
    """Proportional-integral controller of a motor's rate, with a limit of its voltage.

    The integral adds the error of the newest sample times the sampling time. It has no anti-windup:
    it continues while the voltage is at its limit.

    ============= ========= ======= ==========================================
    connector     causality unit    meaning
    ============= ========= ======= ==========================================
    command       input     rad/s   commanded rate of the joint
    rate          input     rad/s   measured rate of the motor
    voltage       output    V       voltage for the motor, within its limit
    limited       output            it is at its limit
    ratio         parameter 1       turns of the motor for one of the joint
    Kp            parameter V.s/rad gain of the error at the motor
    Ki            parameter V/rad   gain of its integral
    voltage_limit parameter V       largest voltage
    ============= ========= ======= ==========================================

    References
    ----------
    Motor Substitution Test, Figures 3 and 4, Table 1: the errors are those of the motor's rate.
    """

    command: float = Input(unit="rad/s", description="Commanded rate of the joint")
    rate: float = Input(unit="rad/s", description="Measured rate of the motor")
    voltage: float = Output(unit="V", description="Voltage for the motor, within its limit")
    limited: bool = Output(description="The voltage is at its limit")
    ratio: float = Parameter(
        start=1570.0, unit="1", above=0.0, description="Turns of the motor for one of the joint"
    )
    Kp: float = Parameter(
        start=0.020, unit="V.s/rad", minimum=0.0, description="Gain of the error at the motor"
    )
    Ki: float = Parameter(
        start=0.125, unit="V/rad", minimum=0.0, description="Gain of its integral"
    )
    voltage_limit: float = Parameter(start=20.0, unit="V", above=0.0, description="Largest voltage")
    integral: float = State(start=0.0, description="Integral of the error, rad")

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        error = self.ratio * self.command - self.rate
        self.integral += h * error
        command = self.Kp * error + self.Ki * self.integral
        self.limited = abs(command) > self.voltage_limit
        self.voltage = min(max(command, -self.voltage_limit), self.voltage_limit)
