"""Settings, state and outputs of a Kalman filter of stiffness and damping; see :mod:`.learning`.

References
----------
Yu et al.: Force and moment compensation method based on three degree-of-freedom stiffness-damping
identification, IEEE Access (2018), Eq 24 to 26. Changed: ``Y(k)`` is on the right of Eq 24, the
covariance is predicted from ``P(k-1|k-1)``, and ``Q`` is that of the parameters, ``R`` that of the
measurement (the paper exchanges the two noises). Added: everything but Eq 26.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class KalmanSettings:
    """Settings of a filter.

    Parameters
    ----------
    stiffness0, damping0
        First estimates, N/m and N s/m.
    stiffness_spread, damping_spread
        Standard deviations of the first estimates, N/m and N s/m: the roots of ``P0``.
    stiffness_walk, damping_walk
        Standard deviations of the changes of the true values per sample: the roots of ``Q``.
    noise
        Standard deviation of a sample of the force, N. ``R`` is twice its square, because
        the measurement is a difference of two samples.
    stiffness_minimum, damping_minimum
        Lower bounds of the outputs, N/m and N s/m.
    amplitude
        Motion, from its middle, below which the filter stops learning, m.
    window
        Time after which a motion is forgotten, s.
    gate
        Number of standard deviations from the expected change of the force beyond which a sample
        is an outlier. Behind a phase lead the noise is four times the ``noise`` of the sensor, so
        20 of its deviations are five there.
    outliers_to_reset
        Number of consecutive outliers that mean a new contact: the filter restarts.
    stuck_samples
        Number of samples of the force, equal to the last bit while the contact moves, that mean a
        lost sensor.
    precision
        Deviation of the stiffness by the samples alone, relative to it, below which it counts as
        converged.
    nis_limit
        Normalised innovation squared (NIS: mean square of the innovations over its expected value)
        above which the estimates do not count as converged. A phase lead alone makes it 15.
    trend_limit
        Standard deviations of the trend of the innovations above which the same holds.
    integrated
        Whether changes of position are the integral of the velocity, not differences of positions.
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
    outliers_to_reset: int = 20
    stuck_samples: int = 5
    precision: float = 0.05
    nis_limit: float = 25.0
    trend_limit: float = 3.0
    integrated: bool = False

    def row(self) -> Rows:
        """Return the settings as an array of one record, for compiled functions."""
        return np.array([astuple(self)], dtype=_records(field.name for field in fields(self)))


def _records(names: Iterable[str]) -> np.dtype[np.void]:
    """Return a type whose records have their values as attributes, in plain Python as well."""
    return np.dtype((np.record, [(name, np.float64) for name in names]))


#: State of a filter of one direction.
MEMORY = _records([
    "stiffness", "damping",  # estimates, N/m and N s/m, before any bound
    "p_kk", "p_kc", "p_cc",  # their covariance, (N/m)^2 and so on
    "i_kk", "i_kc", "i_cc",  # information of the samples alone, without P0, (m/N)^2 and so on
    "i_k", "i_c",  # the same times the estimates that they alone would give, m/N and m/(N s)
    "position", "velocity", "force",  # the sample before, m, m/s and N
    "has_sample",  # 1: there is one
    "low", "high",  # between what the position has lately been, m
    "outliers", "equal",  # outliers, and equal samples of the force, in a row
    "rejected", "resets",  # outliers and new beginnings so far
    "lost",  # 1: the force cannot be believed at present
    "learned",  # 1: the stiffness was known once; until then it learns from any motion
    "nis",  # mean square of innovations over the window, relative to what was expected
    "pushed",  # mean over the window of innovations times changes of position, N m
    "scatter",  # mean over the window of their squares
    "trend",  # of the innovations with the position, in standard deviations
    "moved",  # mean square over the window of the changes of position, m^2
    "disagreement",  # mean square of what these differ by from the integral of the velocity, m^2
])  # fmt: skip
