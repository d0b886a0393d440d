"""Stiffness and damping of a contact in one direction, while it acts."""

from __future__ import annotations

from orchestrator import Input, Output
from python_blocks.identification.learning import learn_one
from python_blocks.identification.partial_identifier import PartialIdentifier


class Identifier(PartialIdentifier):
    """Kalman filter of stiffness and damping from changes of force, position and velocity.

    It learns from ``dF = k dl + c dv`` between two samples. Its outputs are states: a sample of the
    force changes them and does not pass through. Estimates inside may have any sign; the outputs
    are at least the minima, because a compensation with too small a stiffness makes a rig diverge,
    and one with too large a stiffness does not.

    ================= ========= ===== =========================================================
    connector         causality unit  meaning
    ================= ========= ===== =========================================================
    position          input     m     deformation of the contact
    velocity          input     m/s   its rate
    force             input     N     force of the contact, free of the sensor's lag
    stiffness         output    N/m   estimate, at least its minimum
    damping           output    N.s/m estimate, at least its minimum
    deviation         output    N/m   standard deviation of the stiffness by the filter
    data_deviation    output    N/m   the same from the samples alone, without P0
    excited           output          recent motion suffices to learn from
    converged         output          the stiffness is known to the precision
    wrong_sign        output          the stiffness is significantly negative: a wrong sign
    sensor_lost       output          the force is not finite, or constant in motion
    force_late        output          the damping is significantly negative: the force is late
    nis               output    1     normalised innovation squared, mean of the window
    trend             output    1     correlation of innovations and position, in deviations
    attenuation_bias  output    1     share of the stiffness lost to noise of the position
    rejected          output          outliers so far
    resets            output          restarts of the filter
    stiffness0        parameter N/m   first estimate
    damping0          parameter N.s/m first estimate
    stiffness_spread  parameter N/m   its standard deviation, the root of P0
    damping_spread    parameter N.s/m its standard deviation, the root of P0
    stiffness_walk    parameter N/m   change per sample, the root of Q
    damping_walk      parameter N.s/m change per sample, the root of Q
    noise             parameter N     standard deviation of a sample of the force; R = 2 noise^2
    stiffness_minimum parameter N/m   lower bound of the output
    damping_minimum   parameter N.s/m lower bound of the output
    amplitude         parameter m     motion below which the filter stops learning
    window            parameter s     time after which a motion is forgotten
    gate              parameter 1     standard deviations beyond which a sample is an outlier
    outliers_to_reset parameter       consecutive outliers that mean a new contact
    stuck_samples     parameter       equal forces in motion that mean a lost sensor
    precision         parameter 1     relative data_deviation below which the stiffness converged
    nis_limit         parameter 1     nis above which nothing counts as converged
    trend_limit       parameter 1     trend above which the same holds
    integrated        parameter       take changes of position from the integral of the velocity
    ================= ========= ===== =========================================================

    ``data_deviation`` is the root of the mean square error of the stiffness by the samples alone.
    It combines how well they determine it and how far the estimate is from theirs, so a confident
    first estimate does not count as converged. A stiffness has converged if its
    ``data_deviation`` is within the precision, and neither nis nor trend exceeds its limit.

    References
    ----------
    Yu et al.: Force and moment compensation method based on three degree-of-freedom
    stiffness-damping identification, IEEE Access (2018), Eq 24 to 26. Changed: see
    :mod:`python_blocks.identification.learning`.
    """

    position: float = Input(unit="m", description="Deformation of the contact")
    velocity: float = Input(unit="m/s", description="Rate of the deformation")
    force: float = Input(unit="N", description="Force of the contact, free of the sensor's lag")
    stiffness: float = Output(unit="N/m", description="Estimated stiffness", depends_on=())
    damping: float = Output(unit="N.s/m", description="Estimated damping", depends_on=())
    deviation: float = Output(
        unit="N/m", description="Standard deviation of the stiffness", depends_on=()
    )
    data_deviation: float = Output(
        unit="N/m",
        description="Standard deviation of the stiffness by the samples alone, without P0",
        depends_on=(),
    )
    excited: bool = Output(description="The contact moves enough for identification", depends_on=())
    converged: bool = Output(
        description="The stiffness has converged to the precision", depends_on=()
    )
    wrong_sign: bool = Output(description="The stiffness is significantly negative", depends_on=())
    sensor_lost: bool = Output(
        description="The force is not a number, or does not change in motion", depends_on=()
    )
    force_late: bool = Output(
        description="The damping is significantly negative: the force is late", depends_on=()
    )
    nis: float = Output(
        unit="1",
        description="Normalised innovation squared, mean of the window",
        depends_on=(),
    )
    trend: float = Output(
        unit="1", description="Innovations that go with the position", depends_on=()
    )
    attenuation_bias: float = Output(
        unit="1",
        description="Share of the stiffness that noise of the position takes",
        depends_on=(),
    )
    rejected: int = Output(description="Outliers so far", depends_on=())
    resets: int = Output(description="Number of restarts of the filter", depends_on=())

    def initialise(self, t: float) -> None:
        """Begin with the first estimates and the first sample."""
        self.begin(1)
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        estimate = learn_one(
            self.memory, self.settings, h, self.position, self.velocity, self.force
        )
        self.stiffness, self.damping, self.deviation, self.data_deviation = estimate[:4]
        watched = map(bool, estimate[4:9])
        self.excited, self.converged, self.wrong_sign, self.sensor_lost, self.force_late = watched
        self.nis, self.trend, self.attenuation_bias, rejected, resets = estimate[9:]
        self.rejected, self.resets = int(rejected), int(resets)
