"""Kalman filter of the stiffness and damping of one direction of a contact, with its watch.

References
----------
Yu et al.: Force and moment compensation method based on three degree-of-freedom stiffness-damping
identification, IEEE Access (2018), Eq 24 to 26. Changed: ``Y(k)`` stands on the right of Eq 24, the
covariance is predicted from ``P(k-1|k-1)``, and ``Q`` is that of the parameters, ``R`` that of the
measurement (the paper exchanges the two noises). Added: everything but Eq 26.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import exp, sqrt
from typing import Any

#: m, m/s, N: samples beyond are no measurements, and squares of them may be no numbers.
LARGEST = 1e9


@dataclass(frozen=True, slots=True)
class KalmanSettings:
    """What a filter knows beforehand.

    Parameters
    ----------
    stiffness0, damping0
        First estimates, N/m and N s/m.
    stiffness_spread, damping_spread
        Standard deviations of the first estimates, N/m and N s/m: the roots of ``P0``.
    stiffness_walk, damping_walk
        Standard deviations of what the true values change by in a sample: the roots of ``Q``.
    noise
        Standard deviation of a sample of the force, N. ``R`` is twice its square: what is measured
        is a difference of two samples.
    stiffness_minimum, damping_minimum
        Least values that are given out, N/m and N s/m.
    amplitude
        Motion, from its middle, below which nothing is learned any more, m.
    window
        Time in which a motion is forgotten, s.
    gate
        A change of the force further than so many standard deviations from the expected one is
        taken for an outlier. Behind a phase lead the noise is four times what ``noise`` says of the
        sensor, so that 20 are five.
    patience
        So many outliers in a row are a new contact: the filter begins anew.
    still
        So many samples of the force that are equal to the last bit, while the contact moves, are a
        sensor that is lost.
    precision
        Standard deviation of the stiffness, relative to it, below which it counts as known.
    surprise_limit
        Mean square of the innovations, relative to what the filter expects, above which its
        estimates do not count as known. A phase lead alone makes it 15.
    trend_limit
        Standard deviations of the trend of the innovations above which the same holds.
    integrated
        Whether changes of place are the integral of the velocity, not differences of positions.
    """

    stiffness0: float = 10.0
    damping0: float = 10.0
    stiffness_spread: float = 1e5
    damping_spread: float = 1e3
    stiffness_walk: float = 10.0
    damping_walk: float = 0.1
    noise: float = 1.0
    stiffness_minimum: float = 0.0
    damping_minimum: float = 0.0
    amplitude: float = 3e-4
    window: float = 0.5
    gate: float = 20.0
    patience: int = 20
    still: int = 5
    precision: float = 0.05
    surprise_limit: float = 25.0
    trend_limit: float = 3.0
    integrated: bool = False


@dataclass(slots=True)
class Direction:
    """Estimate and watch of one direction; :meth:`sample` takes it one sample further.

    Parameters
    ----------
    stiffness, damping
        Estimates, N/m and N s/m, before any bound.
    p_kk, p_kc, p_cc
        Their covariance, (N/m)^2 and so on.
    position, velocity, force
        The sample before, m, m/s and N; ``seen`` says whether there is one.
    low, high
        Between what the position has lately been, m.
    outliers, equal
        Outliers, and equal samples of the force, in a row.
    rejected, resets
        Outliers and new beginnings so far.
    lost
        Whether the force cannot be believed at present.
    learned
        Whether the stiffness was known once; until then it learns from any motion.
    surprise
        Mean square of the innovations over the window, relative to what was expected.
    pushed, scatter
        Means over the window of innovations times changes of position, N m, and of their squares.
    trend
        Of the innovations with the position, in standard deviations.
    moved, blurred
        Mean squares over the window of the changes of position, and of what these differ by from
        the integral of the velocity, m^2.
    """

    stiffness: float = 0.0
    damping: float = 0.0
    p_kk: float = 0.0
    p_kc: float = 0.0
    p_cc: float = 0.0
    position: float = 0.0
    velocity: float = 0.0
    force: float = 0.0
    seen: bool = False
    low: float = 0.0
    high: float = 0.0
    outliers: int = 0
    equal: int = 0
    rejected: int = 0
    resets: int = 0
    lost: bool = False
    learned: bool = False
    surprise: float = 0.0
    pushed: float = 0.0
    scatter: float = 0.0
    trend: float = 0.0
    moved: float = 0.0
    blurred: float = 0.0

    @classmethod
    def begin(cls, settings: KalmanSettings) -> Direction:
        """Give a filter that has seen nothing."""
        made = cls(stiffness=settings.stiffness0, damping=settings.damping0)
        made._open(settings)
        return made

    def values(self) -> dict[str, Any]:
        """Give everything that it remembers, as plain values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def sample(
        self, settings: KalmanSettings, h: float, position: float, velocity: float, force: float
    ) -> None:
        """Learn from the change since the sample before.

        Parameters
        ----------
        settings
            What the filter knows beforehand.
        h
            Time since the sample before, s.
        position, velocity
            Deformation of the contact, m, and its rate, m/s.
        force
            Force of the contact, N, free of the sensor's lag.
        """
        if not (abs(position) < LARGEST and abs(velocity) < LARGEST and abs(force) < LARGEST):
            self.lost, self.seen = True, False  # a difference to nothing teaches nothing
            return
        known = self.seen
        dl, dv, df = position - self.position, velocity - self.velocity, force - self.force
        run = 0.5 * h * (velocity + self.velocity)
        keep = exp(-h / settings.window)
        self._watch(settings, keep, position, moved=known and (dl != 0.0), changed=df != 0.0)
        self.position, self.velocity, self.force, self.seen = position, velocity, force, True
        if known:
            self.moved += (1.0 - keep) * (dl * dl - self.moved)
            self.blurred += (1.0 - keep) * ((dl - run) ** 2 - self.blurred)
        if known and not self.lost and (self.excited(settings) or not self.learned):
            self._update(settings, keep, run if settings.integrated else dl, dv, df)
            self.learned = self.learned or self.known(settings)

    def excited(self, settings: KalmanSettings) -> bool:
        """Whether the contact has lately moved enough to learn from."""
        return 0.5 * (self.high - self.low) >= settings.amplitude

    def known(self, settings: KalmanSettings) -> bool:
        """Whether the stiffness is known to the precision that was asked for, and to be believed.

        The deviation is only what the filter thinks of itself. So the forces must be about as the
        filter expects them, show no trend, and positions not be too blurred for differences.
        """
        return (
            self.deviation <= settings.precision * abs(self.stiffness)
            and self.surprise <= settings.surprise_limit
            and abs(self.trend) <= settings.trend_limit
            and (settings.integrated or self.blur <= settings.precision)
        )

    @property
    def blur(self) -> float:
        """Share by which noise of the position makes the stiffness too small, 0 to 1.

        The noise of a difference is seen where positions and velocities disagree; regression on a
        noisy difference loses the noise's share of its mean square.
        """
        return min(self.blurred / self.moved, 1.0) if self.moved > 0.0 else 0.0

    def force_late(self) -> bool:
        """Whether the damping is surely negative: the force is later than the motion.

        A force that comes later by T looks like a damping that is smaller by ``stiffness T``.
        """
        return self.damping + 3.0 * sqrt(self.p_cc) < 0.0

    def wrong_sign(self) -> bool:
        """Whether the force surely pushes with the motion instead of against it.

        Then a sign or an axis is wrong on the way from the sensor, and compensation would drive
        the rig apart.
        """
        return self.stiffness + 3.0 * self.deviation < 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation of the stiffness, N/m."""
        return sqrt(self.p_kk)

    def _open(self, settings: KalmanSettings) -> None:
        self.p_kk, self.p_kc, self.p_cc = (
            settings.stiffness_spread**2,
            0.0,
            settings.damping_spread**2,
        )

    def _watch(
        self, settings: KalmanSettings, keep: float, position: float, *, moved: bool, changed: bool
    ) -> None:
        """See how far the contact moves, and whether the force still changes with it."""
        if not self.seen and self.low == self.high:
            self.low = self.high = position
        middle = 0.5 * (self.high + self.low)
        self.high = max(position, middle + keep * (self.high - middle))
        self.low = min(position, middle + keep * (self.low - middle))
        if changed or not self.seen:
            self.equal = 0
        elif moved:
            self.equal += 1
        self.lost = self.equal >= settings.still

    def _update(
        self, settings: KalmanSettings, keep: float, dl: float, dv: float, df: float
    ) -> None:
        """Eq 26 with the gate and the new beginning."""
        p_kk = self.p_kk + settings.stiffness_walk**2
        p_cc = self.p_cc + settings.damping_walk**2
        p_kc = self.p_kc
        a, b = p_kk * dl + p_kc * dv, p_kc * dl + p_cc * dv  # P H'
        spread = dl * a + dv * b + 2.0 * settings.noise**2
        innovation = df - self.stiffness * dl - self.damping * dv
        outlying = settings.gate**2
        surprise = min(innovation**2 / spread, outlying)  # one outlier is soon forgotten
        self.surprise += (1.0 - keep) * (surprise - self.surprise)
        if innovation**2 > outlying * spread:
            self.outliers += 1
            self.rejected += 1
            if self.outliers >= settings.patience:
                self._open(settings)
                self.outliers, self.resets, self.learned = 0, self.resets + 1, False
            return
        self.outliers = 0
        self._compare(keep, dl, innovation, spread)
        gain_k, gain_c = a / spread, b / spread
        self.stiffness += gain_k * innovation
        self.damping += gain_c * innovation
        self.p_kk = max(p_kk - gain_k * a, 0.0)
        self.p_kc = p_kc - gain_k * b
        self.p_cc = max(p_cc - gain_c * b, 0.0)

    def _compare(self, keep: float, dl: float, innovation: float, spread: float) -> None:
        """See whether innovations go with the position: then the stiffness is wrong and stays so.

        It happens where the filter is too sure of itself to learn: a first deviation that is too
        small, or a contact that changes faster than it was told.
        """
        self.pushed += (1.0 - keep) * (innovation * dl - self.pushed)
        self.scatter += (1.0 - keep) * (max(innovation**2, spread) * dl * dl - self.scatter)
        deviation = sqrt(0.5 * (1.0 - keep) * self.scatter)  # of a mean over the window
        self.trend = self.pushed / deviation if deviation > 0.0 else 0.0
