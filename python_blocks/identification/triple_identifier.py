"""Stiffness and damping of a contact in three perpendicular directions, while it acts."""

from __future__ import annotations

from orchestrator import Input, Output
from python_blocks.identification.learning import learn
from python_blocks.identification.partial_identifier import PartialIdentifier
from python_blocks.kinematics.rotation import Floats


class TripleIdentifier(PartialIdentifier):
    """Three Kalman filters of stiffness and damping, one for each direction.

    Each is an :class:`~python_blocks.identification.identifier.Identifier` with the same settings.
    Health outputs are 1 for yes and 0 for no in each direction.

    ================= ========= ===== =========================================================
    connector         causality unit  meaning
    ================= ========= ===== =========================================================
    position          input     m     deformation of the contact, (3,)
    velocity          input     m/s   its rate, (3,)
    force             input     N     force of the contact, free of the sensor's lag, (3,)
    stiffness         output    N/m   estimates, at least the minimum, (3,)
    damping           output    N.s/m estimates, at least the minimum, (3,)
    deviation         output    N/m   standard deviations of the stiffness, (3,)
    data_deviation    output    N/m   the same from the samples alone, without P0, (3,)
    excited           output    1     1: recent motion suffices to learn from
    converged         output    1     1: the stiffness has converged to the precision
    wrong_sign        output    1     1: the stiffness is significantly negative: a wrong sign
    sensor_lost       output    1     1: the force is not finite, or constant in motion
    force_late        output    1     1: the damping is significantly negative: the force is late
    nis               output    1     normalised innovation squared, mean of the window, (3,)
    trend             output    1     correlation of innovations and position, in deviations, (3,)
    attenuation_bias  output    1     share of the stiffness lost to noise of the position, (3,)
    rejected          output    1     outliers so far, (3,)
    resets            output    1     restarts of each filter, (3,)
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

    References
    ----------
    Yu et al.: Force and moment compensation method based on three degree-of-freedom
    stiffness-damping identification, IEEE Access (2018), Eq 24 to 26. Changed: see
    :mod:`python_blocks.identification.learning`.
    """

    position: Floats = Input(unit="m", shape=(3,), description="Deformation of the contact")
    velocity: Floats = Input(unit="m/s", shape=(3,), description="Rate of the deformation")
    force: Floats = Input(unit="N", shape=(3,), description="Force of the contact, without lag")
    stiffness: Floats = Output(
        unit="N/m", shape=(3,), description="Estimated stiffness", depends_on=()
    )
    damping: Floats = Output(
        unit="N.s/m", shape=(3,), description="Estimated damping", depends_on=()
    )
    deviation: Floats = Output(
        unit="N/m", shape=(3,), description="Deviation of the stiffness", depends_on=()
    )
    data_deviation: Floats = Output(
        unit="N/m",
        shape=(3,),
        description="Standard deviation of the stiffness by the samples alone",
        depends_on=(),
    )
    excited: Floats = Output(
        unit="1",
        shape=(3,),
        description="1: the contact moves enough for identification",
        depends_on=(),
    )
    converged: Floats = Output(
        unit="1",
        shape=(3,),
        description="1: the stiffness has converged",
        depends_on=(),
    )
    wrong_sign: Floats = Output(
        unit="1",
        shape=(3,),
        description="1: the stiffness is significantly negative",
        depends_on=(),
    )
    sensor_lost: Floats = Output(
        unit="1", shape=(3,), description="1: the force is not valid", depends_on=()
    )
    force_late: Floats = Output(
        unit="1", shape=(3,), description="1: the damping is significantly negative", depends_on=()
    )
    nis: Floats = Output(
        unit="1",
        shape=(3,),
        description="Normalised innovation squared",
        depends_on=(),
    )
    trend: Floats = Output(
        unit="1", shape=(3,), description="Innovations that go with the position", depends_on=()
    )
    attenuation_bias: Floats = Output(
        unit="1",
        shape=(3,),
        description="Share of stiffness lost to noise",
        depends_on=(),
    )
    rejected: Floats = Output(unit="1", shape=(3,), description="Outliers so far", depends_on=())
    resets: Floats = Output(
        unit="1", shape=(3,), description="Number of restarts of each filter", depends_on=()
    )

    def initialise(self, t: float) -> None:
        """Begin with the first estimates and the first sample."""
        self.begin(3)
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        measured = (
            *(self.stiffness, self.damping, self.deviation, self.data_deviation),
            *(self.excited, self.converged, self.wrong_sign, self.sensor_lost, self.force_late),
            *(self.nis, self.trend, self.attenuation_bias, self.rejected, self.resets),
        )
        learn(self.memory, self.settings, h, self.position, self.velocity, self.force, measured)
