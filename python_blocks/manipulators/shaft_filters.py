"""Motion of a joint by Kalman filters or an accelerometer, instead of differences of samples."""

from __future__ import annotations

from orchestrator import Input, Output, Parameter, State
from python_blocks.manipulators.shaft_motion import PartialShaftMotion


class PartialShaftFilter(PartialShaftMotion):
    """Kalman filter of a rate, and of the unknown part of its acceleration.

    Between samples the rate continues with the known plus the estimated acceleration. The estimate
    is a random walk whose variance grows by ``wander`` per second.
    """

    noise: float = Parameter(
        start=0.05, unit="rad/s", above=0.0, description="Standard deviation of a sample"
    )
    wander: float = Parameter(
        start=1e5, unit="rad2/s5", above=0.0, description="Growth of the acceleration's variance"
    )
    estimate: float = State(start=0.0, description="Rate, rad/s")
    unknown: float = State(start=0.0, description="Acceleration that nothing tells, rad/s2")
    p_ww: float = State(start=0.0, description="Variance of the rate")
    p_wa: float = State(start=0.0, description="Covariance of both")
    p_aa: float = State(start=0.0, description="Variance of the acceleration")

    def initialise(self, t: float) -> None:
        """Begin with the first sample, and the variance of the acceleration after a second."""
        self.estimate, self.unknown = self.rate, 0.0
        self.p_ww, self.p_wa, self.p_aa = self.noise**2, 0.0, self.wander
        self.angle = self.angle0
        self.velocity, self.acceleration = self.rate / self.ratio, 0.0

    def take(self, h: float, measured: float) -> None:
        """Take a sample after a step with a known acceleration of the motor, rad/s2."""
        if h <= 0.0:
            return
        before = self.estimate
        self.estimate += h * (measured + self.unknown)
        q = self.wander
        self.p_ww += h * (2.0 * self.p_wa + h * self.p_aa) + q * h**3 / 3.0
        self.p_wa += h * self.p_aa + q * h**2 / 2.0
        self.p_aa += q * h
        total = self.p_ww + self.noise**2
        gain_w, gain_a = self.p_ww / total, self.p_wa / total
        innovation = self.rate - self.estimate
        self.estimate += gain_w * innovation
        self.unknown += gain_a * innovation
        self.p_aa -= gain_a * self.p_wa
        self.p_wa *= 1.0 - gain_w
        self.p_ww *= 1.0 - gain_w
        self.angle += 0.5 * h * (before + self.estimate) / self.ratio
        self.velocity = self.estimate / self.ratio
        self.acceleration = (measured + self.unknown) / self.ratio


class ShaftKalman(PartialShaftFilter):
    """Kalman filter of a motor's rate alone; its acceleration is a random walk.

    ============ ========= ======= ==============================================
    connector    causality unit    meaning
    ============ ========= ======= ==============================================
    rate         input     rad/s   measured rate of the motor
    angle        output    rad     angle of the joint
    velocity     output    rad/s   rate of the joint
    acceleration output    rad/s2  acceleration of the joint
    ratio        parameter 1       turns of the motor for one of the joint
    angle0       parameter rad     angle of the joint at the start
    noise        parameter rad/s   standard deviation of a sample of the rate
    wander       parameter rad2/s5 growth of the acceleration's variance
    ============ ========= ======= ==============================================

    References
    ----------
    Motor Substitution Test, conclusions: numerical differentiation is troublesome. The filter is
    Kalman's for a rate whose acceleration is a Wiener process: Bar-Shalom, Li, Kirubarajan,
    Estimation with Applications to Tracking and Navigation, 2001, section 6.2.2.
    """

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        self.take(h, 0.0)


class ShaftObserver(PartialShaftFilter):
    """Kalman filter that knows the torques of both motors; friction is a random walk.

    ============ ========= ======= ==============================================
    connector    causality unit    meaning
    ============ ========= ======= ==============================================
    rate         input     rad/s   measured rate of the motor
    drive_torque input     N.m     torque of the drive motor over the step
    load         input     N.m     torque of the load motor over the step
    angle        output    rad     angle of the joint
    velocity     output    rad/s   rate of the joint
    acceleration output    rad/s2  acceleration of the joint, over the step
    ratio        parameter 1       turns of the motor for one of the joint
    angle0       parameter rad     angle of the joint at the start
    noise        parameter rad/s   standard deviation of a sample of the rate
    wander       parameter rad2/s5 growth of the unknown acceleration's variance
    J            parameter kg.m2   inertia of the shaft of both motors
    ============ ========= ======= ==============================================

    References
    ----------
    Motor Substitution Test, Eq 5, and its conclusions. The filter is that of
    :class:`ShaftKalman` with ``(tau_d + tau_l)/J_m`` as a known input.
    """

    drive_torque: float = Input(unit="N.m", description="Torque of the drive motor over the step")
    load: float = Input(unit="N.m", description="Torque of the load motor over the step")
    angle: float = Output(unit="rad", description="Angle of the joint", depends_on=("rate",))
    velocity: float = Output(unit="rad/s", description="Rate of the joint", depends_on=("rate",))
    acceleration: float = Output(
        unit="rad/s2", description="Acceleration of the joint", depends_on=("rate",)
    )
    J: float = Parameter(
        start=6.38e-5, unit="kg.m2", above=0.0, description="Inertia of the shaft of both motors"
    )

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step, after the torques that acted over it."""
        self.take(h, (self.drive_torque + self.load) / self.J)


class ShaftAccelerometer(PartialShaftMotion):
    """Passes on a measured acceleration and the rate.

    ==================== ========= ====== ==========================================
    connector            causality unit   meaning
    ==================== ========= ====== ==========================================
    rate                 input     rad/s  measured rate of the motor
    measured             input     rad/s2 measured acceleration of the motor
    angle                output    rad    angle of the joint
    velocity             output    rad/s  rate of the joint
    acceleration         output    rad/s2 acceleration of the joint
    ratio                parameter 1      turns of the motor for one of the joint
    angle0               parameter rad    angle of the joint at the start
    ==================== ========= ====== ==========================================

    References
    ----------
    Motor Substitution Test, conclusions: rotational accelerometers would measure the shaft's
    acceleration directly.
    """

    measured: float = Input(unit="rad/s2", description="Measured acceleration of the motor")
    angle: float = Output(unit="rad", description="Angle of the joint", depends_on=("rate",))
    velocity: float = Output(unit="rad/s", description="Rate of the joint", depends_on=("rate",))
    acceleration: float = Output(
        unit="rad/s2", description="Acceleration of the joint", depends_on=("measured",)
    )

    def initialise(self, t: float) -> None:
        """Begin at the angle of the parameter."""
        self.angle = self.angle0
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Take the samples at the end of the step."""
        self.angle += h * self.rate / self.ratio
        self.velocity = self.rate / self.ratio
        self.acceleration = self.measured / self.ratio
