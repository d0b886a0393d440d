"""Command of a load motor that acts on a drive motor like the simulated arm."""

from __future__ import annotations

from orchestrator import Block, Input, Notice, Output, Parameter, State, StepError

_NEVER = -1.0


class LoadCommand(Block):
    """Torque of the load motor that replaces the arm behind the gearbox.

    The shaft then accelerates as the joint would: ``torque_drive + torque_load = J a`` with
    ``ratio (torque_drive) = (ratio^2 J + inertia) a / ratio + bias``. The torque of the drive motor
    is computed from its voltage and rate. Friction of the bench is not compensated, so it acts like
    friction of the joint.

    ============= ========= ====== =====================================================
    connector     causality unit   meaning
    ============= ========= ====== =====================================================
    voltage       input     V      voltage of the drive motor
    rate          input     rad/s  measured rate of the shaft
    inertia       input     kg.m2  inertia of the arm at the joint, without the rotor
    bias          input     N.m    torque of the joint without acceleration
    load          output    N.m    torque for the load motor, within its limit
    drive_torque  output    N.m    assumed torque of the drive motor
    saturated     output           the load motor's amplifier is at its limit
    ratio         parameter 1      turns of the motor for one of the joint
    J             parameter kg.m2  inertia of the shaft of both motors
    R             parameter Ohm    resistance of the drive motor
    KT            parameter N.m/A  its torque coefficient, and back-EMF in V.s/rad
    KTl           parameter N.m/A  torque coefficient of the load motor
    current_limit parameter A      largest current of its amplifier
    ============= ========= ====== =====================================================

    References
    ----------
    Motor Substitution Test, Eq 5 to 10. Changed: Eq 9 is ``N tau_l = -J_eff a - b`` with the
    joint's acceleration a; with Eq 5 and 6 the load is ``-(J_eff tau_d + J_m N b)/(N^2 J_m +
    J_eff)``, which Eq 10 prints without its first sign.
    """

    voltage: float = Input(unit="V", description="Voltage of the drive motor")
    rate: float = Input(unit="rad/s", description="Measured rate of the shaft")
    inertia: float = Input(unit="kg.m2", description="Inertia of the arm at the joint")
    bias: float = Input(unit="N.m", description="Torque of the joint without acceleration")
    load: float = Output(unit="N.m", description="Torque for the load motor, within its limit")
    drive_torque: float = Output(
        unit="N.m",
        description="Estimated torque of the drive motor",
        depends_on=("voltage", "rate"),
    )
    saturated: bool = Output(description="The load motor's amplifier is at its limit")
    ratio: float = Parameter(
        start=1570.0, unit="1", above=0.0, description="Turns of the motor for one of the joint"
    )
    J: float = Parameter(
        start=6.38e-5, unit="kg.m2", above=0.0, description="Inertia of the shaft of both motors"
    )
    R: float = Parameter(
        start=2.05, unit="Ohm", above=0.0, description="Resistance of the drive motor"
    )
    KT: float = Parameter(
        start=0.061,
        unit="N.m/A",
        minimum=0.0,
        description="Torque and back-EMF coefficient of the load motor",
    )
    KTl: float = Parameter(
        start=0.072, unit="N.m/A", above=0.0, description="Torque coefficient of the load motor"
    )
    current_limit: float = Parameter(
        start=2.0, unit="A", above=0.0, description="Largest current of its amplifier"
    )
    first: float = State(
        start=_NEVER,
        description="Time at which the amplifier first reached its limit, s; -1: never",
    )
    asked: float = State(start=0.0, description="Current that was asked for then, A")

    def initialise(self, t: float) -> None:
        """Begin without having reached the limit."""
        self.first = _NEVER
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Evaluate Eq 10.

        Raises
        ------
        StepError
            If rotor and arm together have no inertia.
        """
        total = self.ratio**2 * self.J + self.inertia
        if not total > 0.0:
            raise StepError(
                f"t = {t + h:.9g} s: the joint has no inertia to accelerate: expected"
                f" ratio^2 J + inertia > 0, found {self.ratio**2 * self.J:g} + {self.inertia:g}"
                " kg m2: look at the arm's masses"
            )
        self.drive_torque = self.KT * (self.voltage - self.KT * self.rate) / self.R
        command = -(self.inertia * self.drive_torque + self.J * self.ratio * self.bias) / total
        limit = self.KTl * self.current_limit
        self.saturated = abs(command) > limit
        self.load = min(max(command, -limit), limit)
        if self.saturated and self.first == _NEVER:
            self.first, self.asked = t + h, command / self.KTl

    def notices(self) -> tuple[Notice, ...]:
        """Return a notice with the time at which the amplifier first reached its limit."""
        if self.first == _NEVER:
            return ()
        message = (
            f"the load motor's amplifier is at its limit: {self.asked:.4g} A were asked for,"
            f" current_limit is {self.current_limit:g} A; the drive motor does not feel the arm"
        )
        advice = "command less acceleration, or take a load motor or amplifier that can do more"
        return (Notice(round(self.first * 1e9), message, advice),)
