"""When a device took its samples, and confidence intervals of estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.identification.twin_file import Estimate

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


#: Arrivals farther out than so many times the usual deviation say nothing of the device's clock.
_FAR = 6.0


@dataclass(frozen=True, slots=True, eq=False)
class SampleTimes:
    """The clock of a device, as its samples show it.

    times: s, shape (n,): arrivals, moved to the even spacing that they scatter about.
    numbers: Shape (n,), whole: of each sample, from 0.
    period: s, mean.
    begin: s, of sample 0.
    rate: Hz.
    jitter: s, standard deviation of arrivals about the even spacing.
    """

    times: Floats
    numbers: npt.NDArray[np.int64]
    period: float
    begin: float
    rate: Estimate
    jitter: Estimate


def sample_times(
    arrivals: Floats, numbers: npt.NDArray[np.int64], confidence: float
) -> SampleTimes:
    """Find the even spacing of samples.

    arrivals: s, shape (n,), increasing.
    numbers: Shape (n,), increasing: the device's count of each.
    confidence: Level of the intervals.
    Raises DescriptionError: if there are fewer than 16, or their numbers do not increase.
    """
    if len(arrivals) < 16 or (np.diff(numbers) <= 0).any():
        raise DescriptionError(
            f"expected at least 16 samples whose count increases, found {len(arrivals)}"
        )
    numbers = numbers - numbers[0]
    spacing, begin = _line(numbers.astype(np.float64), arrivals)
    even: Floats = begin + spacing * numbers.astype(np.float64)
    spread = numbers - numbers.mean()
    jitter = deviation_interval(arrivals - even, 2, confidence)
    error = jitter.value / float(np.sqrt(np.sum(spread**2)))
    spaced = normal_interval(spacing, error, len(arrivals) - 2, confidence)
    rate = Estimate(value=1.0 / spaced.value, low=1.0 / spaced.high, high=1.0 / spaced.low)
    return SampleTimes(even, numbers, spacing, begin, rate, jitter)


def _line(numbers: Floats, arrivals: Floats) -> tuple[float, float]:
    """Fit a line, once more without what lies far off it."""
    kept = np.ones(len(numbers), dtype=np.bool_)
    slope, offset = np.polyfit(numbers, arrivals, 1)
    for _ in range(2):
        off = np.abs(arrivals - offset - slope * numbers)
        kept = off <= _FAR * 1.4826 * float(np.median(off[kept])) + 1e-12
        slope, offset = np.polyfit(numbers[kept], arrivals[kept], 1)
    return float(slope), float(offset)
