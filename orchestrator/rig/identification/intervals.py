"""Confidence intervals from estimates and their standard deviations."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import stats

from orchestrator.rig.identification.estimate import Estimate

Floats = npt.NDArray[np.float64]


def normal_interval(value: float, deviation: float, freedom: int, confidence: float) -> Estimate:
    """Return ``value`` with the interval of Student's t distribution."""
    half = float(stats.t.ppf(0.5 + confidence / 2.0, freedom)) * deviation
    return Estimate(value=value, low=value - half, high=value + half)


def positive_interval(value: float, relative: float, freedom: int, confidence: float) -> Estimate:
    """Return ``value`` > 0 whose logarithm has the standard deviation ``relative``."""
    half = float(stats.t.ppf(0.5 + confidence / 2.0, freedom)) * relative
    half = min(half, 100.0)  # beyond that nothing is known, and exp() has no number
    return Estimate(value=value, low=value * math.exp(-half), high=value * math.exp(half))


def deviation_interval(residuals: Floats, lost: int, confidence: float) -> Estimate:
    """Return the standard deviation of residuals of any distribution.

    ``var(s**2) = (m4 - s**4 (n - 3) / (n - 1)) / n`` (Cramer 1946, 27.4), taken to the logarithm
    of s: of normal residuals it is the interval of chi squared, of others it is honest still.
    """
    n = len(residuals)
    freedom = max(1, n - lost)
    square = float(np.sum(residuals**2)) / freedom
    if square == 0.0:
        return Estimate(value=0.0, low=0.0, high=0.0)
    fourth = float(np.mean(residuals**4)) / square**2
    relative = 0.5 * math.sqrt(max(fourth - (n - 3.0) / (n - 1.0), 1.0 / n) / n)
    return positive_interval(math.sqrt(square), relative, freedom, confidence)
