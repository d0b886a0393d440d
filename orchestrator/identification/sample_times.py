"""When a device took its samples: even spacing, and how arrivals scatter about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.diagnostics import DescriptionError
from orchestrator.identification.intervals import deviation_interval, normal_interval
from orchestrator.identification.twin_file import Estimate

Floats = npt.NDArray[np.float64]
#: Arrivals farther out than so many times the usual deviation say nothing of the device's clock.
_FAR = 6.0


@dataclass(frozen=True, slots=True, eq=False)
class SampleTimes:
    """The clock of a device, as its samples show it.

    Parameters
    ----------
    times
        s, shape (n,): arrivals, moved to the even spacing that they scatter about.
    numbers
        Shape (n,), whole: of each sample, from 0; where some were lost, numbers are left out.
    period
        s, mean.
    begin
        s, of sample 0.
    rate
        Hz.
    jitter
        s, standard deviation of arrivals about the even spacing.
    """

    times: Floats
    numbers: npt.NDArray[np.int64]
    period: float
    begin: float
    rate: Estimate
    jitter: Estimate


def sample_times(arrivals: Floats, period: float, confidence: float) -> SampleTimes:
    """Find the even spacing of samples that came one by one.

    Parameters
    ----------
    arrivals
        s, shape (n,), increasing.
    period
        s, as declared; what was lost in between is counted by it.
    confidence
        Level of the intervals.

    Raises
    ------
    DescriptionError
        If there are fewer than 16.
    """
    if len(arrivals) < 16:
        raise DescriptionError(f"{len(arrivals)} samples arrived; expected at least 16")
    numbers = np.zeros(len(arrivals), dtype=np.int64)
    begin, spacing = float(arrivals[0]), period
    for _ in range(3):  # the first spacing is the declared one, and numbers may change with it
        numbers = np.rint((arrivals - begin) / spacing).astype(np.int64)
        spacing, begin = _line(numbers.astype(np.float64), arrivals)
    numbers -= numbers[0]
    spacing, begin = _line(numbers.astype(np.float64), arrivals)
    even: Floats = begin + spacing * numbers.astype(np.float64)
    residuals = arrivals - even
    spread = numbers - numbers.mean()
    freedom = len(arrivals) - 2
    jitter = deviation_interval(residuals, 2, confidence)
    error = jitter.value / float(np.sqrt(np.sum(spread**2)))
    spaced = normal_interval(spacing, error, freedom, confidence)
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
