"""The model of a signal pair: chosen among a delay alone and lags of first and second order.

References
----------
Schwarz: Estimating the dimension of a model, Annals of Statistics 6, 1978: the criterion by which
the order is chosen, ``n ln(sum of squares / n) + p ln n``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.identification.frequency_response import FrequencyResponse, frequency_response
from orchestrator.rig.identification.intervals import (
    deviation_interval,
    normal_interval,
    positive_interval,
)
from orchestrator.rig.identification.lag_fit import LagFit, fit_lag, remainder
from orchestrator.rig.identification.quantisation import quantisation_step
from orchestrator.rig.identification.record import Floats, Record
from orchestrator.rig.identification.starting_values import starting_values
from orchestrator.rig.identification.static_fit import StaticFit, fit_static
from orchestrator.rig.identification.step_response import Lag
from orchestrator.rig.identification.twin_file import Dynamics, Estimate, Validation

#: Residuals farther out than so many times the usual deviation are not noise: a command that came
#: a sample late, a datagram that was lost.
_FAR = 8.0
#: If more of a record than this share is far out, it is the model that is wrong.
_MOST_FAR = 0.15
_ROUNDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class PairModel:
    """What was found of one command and one response.

    Parameters
    ----------
    fit
        Delay, lag and gain as they were fitted.
    delay, gain, dynamics
        With their intervals.
    noise
        Standard deviation of the measurement noise without that of rounding.
    quantisation
        Step of the response's values, 0: none.
    criteria
        Of Schwarz, by order, without those whose lag is too fast for the samples to tell; the least
        was chosen.
    left_out
        Samples that were far out.
    response
        The frequency response of the record, without a model.
    """

    fit: LagFit | StaticFit
    delay: Estimate
    gain: Estimate
    dynamics: Dynamics
    noise: Estimate
    quantisation: float
    criteria: dict[int, float]
    left_out: int
    response: FrequencyResponse

    @property
    def lag(self) -> Lag | None:
        """What follows the delay; ``None``: nothing."""
        return self.fit.lag if isinstance(self.fit, LagFit) else None

    def validate(self, record: Record, excitation: str) -> Validation:
        """Compare the model with a second record; nothing is fitted anew."""
        left = record.values - self.fit.predict(record)
        residual = float(np.sqrt(np.mean(left**2)))
        spread = float(np.std(record.values))
        if spread == 0.0:
            raise DescriptionError(
                "the second record has a response that never changes; it cannot be compared with"
            )
        return Validation(
            excitation=excitation,
            samples=record.count,
            residual=residual,
            fit=1.0 - residual / spread,
        )


def pair_model(
    record: Record,
    confidence: float = 0.95,
    longest: float = 0.25,
    orders: Sequence[int] = (0, 1, 2),
) -> PairModel:
    """Identify delay, dynamics, gain and noise from a record.

    Parameters
    ----------
    record
        Of a command that moved.
    confidence
        Level of all intervals.
    longest
        s; longer delays are not looked for.
    orders
        Of the dynamics, among which is chosen.

    Raises
    ------
    DescriptionError
        If the command never changes in the record.
    """
    if not len(record.steps()[0]):
        raise DescriptionError("the command of this record never changes; nothing can be said")
    measured = frequency_response(record)
    step = quantisation_step(record.response)
    rounding = max(step, 1e-9 * float(np.ptp(record.values))) / math.sqrt(12.0)
    fits = {
        order: _without_far(record, fit, longest, rounding)
        for order, fit in _fits(record, measured, longest, orders).items()
    }
    told_apart = {o: each for o, each in fits.items() if not _is_too_fast(each[0])} or fits
    criteria = {order: _criterion(fit, record, rounding) for order, (fit, _) in told_apart.items()}
    fit, kept = fits[min(criteria, key=lambda each: criteria[each])]
    noise = deviation_interval(fit.residuals, fit.parameters, confidence).without(step**2 / 12.0)
    freedom = max(1, kept.count - fit.parameters)
    variance = float(fit.residuals @ fit.residuals) / freedom
    error = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0) * variance)
    return PairModel(
        fit,
        _delay(fit, error, freedom, confidence),
        normal_interval(fit.gain, float(error[-2]), freedom, confidence),
        _dynamics(fit, error, freedom, confidence),
        noise,
        step,
        criteria,
        record.count - kept.count,
        measured,
    )


def _fits(
    record: Record, measured: FrequencyResponse, longest: float, orders: Sequence[int]
) -> dict[int, LagFit | StaticFit]:
    """Return the best fit of each order."""
    found: dict[int, LagFit | StaticFit] = {}
    for order in orders:
        if order == 0:
            found[0] = fit_static(record, longest)
            continue
        starts = starting_values(measured, order, record.period, longest)
        delay, lag = min(starts, key=lambda start: remainder(record, *start))
        found[order] = fit_lag(record, delay, lag, longest)
    return found


def _is_too_fast(fit: LagFit | StaticFit) -> bool:
    return isinstance(fit, LagFit) and fit.is_fastest


def _criterion(fit: LagFit | StaticFit, record: Record, rounding: float) -> float:
    """Return Schwarz's criterion; what was left out counts as noise as wide as the response."""
    n, kept = record.count, len(fit.residuals)
    left = max(float(fit.residuals @ fit.residuals) / kept, 1e-3 * rounding**2)
    apart = (n - kept) * math.log(max(float(np.var(record.values)), left))
    return kept * math.log(left) + apart + fit.parameters * math.log(n)


def _without_far(
    record: Record, fit: LagFit | StaticFit, longest: float, least: float
) -> tuple[LagFit | StaticFit, Record]:
    """Fit again without residuals that are no noise, if there are few."""
    found, kept = fit, record
    for _ in range(_ROUNDS):
        left = record.values - found.predict(record)
        usual = max(1.4826 * float(np.median(np.abs(left))), least)
        far = np.abs(left) > _FAR * usual
        if far.mean() > _MOST_FAR:
            return fit, record
        last, kept = kept.count, record.without(far)
        if kept.count == last:
            break
        if isinstance(found, StaticFit):
            found = fit_static(kept, longest)
        else:
            found = fit_lag(kept, found.delay, found.lag, longest)
    return found, kept


def _delay(fit: LagFit | StaticFit, error: Floats, freedom: int, confidence: float) -> Estimate:
    if isinstance(fit, StaticFit):
        return Estimate(value=fit.delay, low=fit.earliest, high=fit.delay)
    found = normal_interval(fit.delay, float(error[0]), freedom, confidence)
    return Estimate(value=found.value, low=max(0.0, found.low), high=found.high)


def _dynamics(fit: LagFit | StaticFit, error: Floats, freedom: int, confidence: float) -> Dynamics:
    if isinstance(fit, StaticFit):
        return Dynamics(order=0)
    frequency = positive_interval(fit.lag.frequency, float(error[1]), freedom, confidence)
    if fit.lag.damping is None:
        return Dynamics(order=1, frequency=frequency)
    damping = positive_interval(fit.lag.damping, float(error[2]), freedom, confidence)
    return Dynamics(order=2, frequency=frequency, damping=damping)
