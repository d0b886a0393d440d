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
from math import exp, isfinite, sqrt
from typing import Any


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
        if not (isfinite(position) and isfinite(velocity) and isfinite(force)):
            self.lost, self.seen = True, False  # a difference to nothing teaches nothing
            return
        known = self.seen
        dl, dv, df = position - self.position, velocity - self.velocity, force - self.force
        self._watch(settings, h, position, moved=known and (dl != 0.0), changed=df != 0.0)
        self.position, self.velocity, self.force, self.seen = position, velocity, force, True
        if known and not self.lost and (self.excited(settings) or not self.learned):
            self._update(settings, dl, dv, df)
            self.learned = self.learned or self.known(settings)

    def excited(self, settings: KalmanSettings) -> bool:
        """Whether the contact has lately moved enough to learn from."""
        return 0.5 * (self.high - self.low) >= settings.amplitude

    def known(self, settings: KalmanSettings) -> bool:
        """Whether the stiffness is known to the precision that was asked for."""
        return self.deviation <= settings.precision * abs(self.stiffness)

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
        self, settings: KalmanSettings, h: float, position: float, *, moved: bool, changed: bool
    ) -> None:
        """See how far the contact moves, and whether the force still changes with it."""
        if not self.seen and self.low == self.high:
            self.low = self.high = position
        middle, keep = 0.5 * (self.high + self.low), exp(-h / settings.window)
        self.high = max(position, middle + keep * (self.high - middle))
        self.low = min(position, middle + keep * (self.low - middle))
        if changed or not self.seen:
            self.equal = 0
        elif moved:
            self.equal += 1
        self.lost = self.equal >= settings.still

    def _update(self, settings: KalmanSettings, dl: float, dv: float, df: float) -> None:
        """Eq 26 with the gate and the new beginning."""
        p_kk = self.p_kk + settings.stiffness_walk**2
        p_cc = self.p_cc + settings.damping_walk**2
        p_kc = self.p_kc
        a, b = p_kk * dl + p_kc * dv, p_kc * dl + p_cc * dv  # P H'
        spread = dl * a + dv * b + 2.0 * settings.noise**2
        innovation = df - self.stiffness * dl - self.damping * dv
        if innovation**2 > settings.gate**2 * spread:
            self.outliers += 1
            self.rejected += 1
            if self.outliers >= settings.patience:
                self._open(settings)
                self.outliers, self.resets, self.learned = 0, self.resets + 1, False
            return
        self.outliers = 0
        gain_k, gain_c = a / spread, b / spread
        self.stiffness += gain_k * innovation
        self.damping += gain_c * innovation
        self.p_kk = max(p_kk - gain_k * a, 0.0)
        self.p_kc = p_kc - gain_k * b
        self.p_cc = max(p_cc - gain_c * b, 0.0)
