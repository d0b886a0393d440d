"""Delay and gain by recursive least squares: a bank of delays, forgetting, and an offset."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: Fewer effective samples say nothing of what is left over.
_FEWEST = 16.0


@dataclass(frozen=True, slots=True, eq=False)
class BankEstimate:
    """What a bank knows.

    tap: The first of the two taps between which the delay lies.
    factors, centre: Shape (2,): of both taps, and the means of both.
    mean: Of the response.
    covariance: Shape (2, 2), of the factors.
    unsure: Variance of the mean.
    count: Effective number of samples: the sum of what is left of their weights.
    """

    tap: int
    factors: Floats
    centre: Floats
    mean: float
    covariance: Floats
    unsure: float
    count: float

    @property
    def gain(self) -> float:
        """Response per command."""
        return float(self.factors.sum())

    @property
    def delay(self) -> float:
        """In samples."""
        return self.tap + float(self.factors[1]) / self.gain

    @property
    def gain_deviation(self) -> float:
        """Standard deviation of the gain."""
        return math.sqrt(float(self.covariance.sum()))

    @property
    def delay_deviation(self) -> float:
        """Standard deviation of the delay, in samples."""
        a, b = self.factors
        slope = np.array([-b, a]) / self.gain**2
        return math.sqrt(float(slope @ self.covariance @ slope))

    def predict(self, taps: Floats) -> tuple[float, float]:
        """Return the response that is expected, and the variance of what is known of it."""
        away = taps[self.tap : self.tap + 2] - self.centre
        variance = self.unsure + float(away @ self.covariance @ away)
        return self.mean + float(self.factors @ away), variance


class DelayBank:
    """Least squares of ``y = a u[n - j] + b u[n - j - 1] + c`` for every j, with forgetting.

    Between two samples the command is linear, so ``gain = a + b`` and ``delay = j + b / gain``.
    The pair with the least sum of squares among those whose delay lies between its two samples is
    the estimate.

    longest: Delay that is looked for, in samples.
    forgetting: Factor by which what is known fades with each sample that is taken, < 1.
    alike: Number of samples, one after the other, that are off together: deviations are those of so
        many times fewer samples.

    References
    ----------
    Ljung: System Identification, 2nd ed., 1999, section 11.2: recursive least squares with
    exponential forgetting; here in the form of sums, for all delays at once. The deviation is the
    asymptotic one, with ``sum w**2 / sum w = 1 / (1 + forgetting)``.
    """

    def __init__(self, longest: int, forgetting: float, alike: float = 1.0) -> None:
        self._forgetting, self._alike = forgetting, alike
        taps = longest + 2
        # rows: w u, w u y, w u u, w u u(next); one column for each tap
        self._sums: Floats = np.zeros((4, taps))
        self._scalars: Floats = np.zeros(4)  # w, w y, w y y, w w
        self._new: Floats = np.zeros((4, taps))

    def reset(self) -> None:
        """Forget everything."""
        self._sums[:] = 0.0
        self._scalars[:] = 0.0

    def take(self, taps: Floats, response: float, weight: float) -> None:
        """Take a sample."""
        new, scaled = self._new, weight * taps
        new[0] = scaled
        np.multiply(scaled, response, out=new[1])
        np.multiply(scaled, taps, out=new[2])
        np.multiply(scaled[:-1], taps[1:], out=new[3, :-1])
        self._sums *= self._forgetting
        self._sums += new
        self._scalars *= self._forgetting
        self._scalars += (weight, weight * response, weight * response * response, 1.0)

    @property
    def count(self) -> float:
        """Effective number of samples."""
        return float(self._scalars[3])

    def estimate(self) -> BankEstimate | None:
        """Return what is known; ``None``: too little."""
        weight, first, second, count = self._scalars
        if count < _FEWEST:
            return None
        mean = first / weight
        power = second - first * mean
        u, uy, uu, next_ = self._sums
        centre = u / weight
        y = uy - u * mean
        own = uu - u * centre
        cross = next_[:-1] - u[:-1] * centre[1:]
        fits = _fits(own[:-1], own[1:], cross, y[:-1], y[1:])
        left = np.where(fits.valid, power - fits.explained, np.inf)
        j = int(np.argmin(left))
        if not math.isfinite(left[j]):
            return None
        factors = np.array([fits.a[j], fits.b[j]])
        # what is left, against what the weights say of it: 1 if they are right
        excess = max(1.0, float(left[j]) / max(count - 3.0, 1.0))
        excess *= self._alike / (1.0 + self._forgetting)
        inverse = np.array([[own[j + 1], -cross[j]], [-cross[j], own[j]]]) / fits.determinant[j]
        return BankEstimate(
            j,
            factors,
            centre[j : j + 2].copy(),
            float(mean),
            excess * inverse,
            excess / float(weight),
            float(count),
        )


@dataclass(frozen=True, slots=True)
class _Fits:
    a: Floats
    b: Floats
    explained: Floats
    determinant: Floats
    valid: npt.NDArray[np.bool_]


#: Two taps whose determinant is a smaller share of the product of their powers are one signal.
_ALIKE = 1e-12
#: A delay may lie so much outside its two taps: noise puts one between two others there.
_OUTSIDE = 0.25


def _fits(left: Floats, right: Floats, cross: Floats, y_left: Floats, y_right: Floats) -> _Fits:
    """Solve the two normal equations of every pair of taps."""
    determinant = left * right - cross * cross
    apart = determinant > _ALIKE * left * right
    safe = np.where(apart, determinant, 1.0)
    a = (right * y_left - cross * y_right) / safe
    b = (left * y_right - cross * y_left) / safe
    gain = a + b
    share = np.divide(b, gain, out=np.full_like(b, np.nan), where=gain != 0.0)
    inside = (share >= -_OUTSIDE) & (share <= 1.0 + _OUTSIDE)
    return _Fits(a, b, a * y_left + b * y_right, safe, apart & inside)
