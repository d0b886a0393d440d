"""The model of a signal pair: chosen among a delay alone and lags of first and second order.

References
----------
Schwarz: Estimating the dimension of a model, Annals of Statistics 6, 1978: the criterion by which
the order is chosen, ``n ln(sum of squares / n) + p ln n``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.rig.hardware.twin_file import Dynamics, Estimate, Lag, Validation
from orchestrator.rig.identification.lag_fit import (
    DelayFit,
    FrequencyResponse,
    fit_lag,
    fit_static,
    frequency_response,
    scaled_lag,
)
from orchestrator.rig.identification.record import (
    Floats,
    Record,
    deviation_interval,
    normal_interval,
    positive_interval,
)

#: Fewer distinct values show no step: whatever they are, they are few.
_LEVELS = 8
#: A difference that is farther from a multiple of the step is none.
_OFF = 0.05
#: Values with more steps than this between them are as fine as numbers are.
_MOST_STEPS = 1e9


def quantisation_step(values: npt.NDArray[np.float64]) -> float:
    """Return the step of which all differences of values are multiples; 0 if there is none.

    It is the smallest difference between two distinct values, refined by least squares over all
    multiples. Needs at least 8 distinct values.
    """
    levels = np.unique(values)
    if len(levels) < _LEVELS:
        return 0.0
    gaps = np.diff(levels)
    tiny = 64.0 * np.finfo(np.float64).eps * float(np.abs(levels).max())
    gaps = gaps[gaps > tiny]
    if not len(gaps):
        return 0.0
    step = float(gaps.min())
    if float(levels[-1] - levels[0]) / step > _MOST_STEPS:
        return 0.0
    for _ in range(2):
        multiples = np.rint(gaps / step)
        step = float(np.dot(multiples, gaps) / np.dot(multiples, multiples))
    away = np.abs(gaps / step - np.rint(gaps / step))
    return step if bool((away <= _OFF).all()) else 0.0


#: Coherences below say nothing of the device.
_COHERENT = 0.2
_DAMPINGS = (0.3, 0.6, 1.0)
_FREQUENCIES = 24


def starting_values(
    measured: FrequencyResponse, order: int, period: float, longest: float
) -> Iterator[tuple[float, Lag]]:
    """Yield delays (s) and lags to begin a search with, one for each sign of the gain and damping.

    Both signs are tried: a delay that is half a period longer hides a wrong one where little but
    one frequency was excited.
    """
    lines = measured.coherence > _COHERENT
    if not lines.any():
        lines = measured.coherence >= measured.coherence.max()
    frequencies, response = measured.frequencies[lines], measured.response[lines]
    weight = 1.0 / measured.relative_error[lines] ** 2 / np.abs(response) ** 2
    delays = np.arange(0.0, longest + 0.5 * period, 0.5 * period)
    advanced = np.exp(2j * np.pi * np.outer(delays, frequencies)) * (weight * response)
    tried = np.geomspace(0.5 * measured.frequencies[0], 1.0 / period, _FREQUENCIES)
    for damping in _DAMPINGS if order == 2 else (None,):
        scores = np.array([_score(Lag(f, damping), frequencies, weight, advanced) for f in tried])
        for signed in (scores, -scores):
            row, column = np.unravel_index(int(np.argmax(signed)), scores.shape)
            yield float(delays[column]), Lag(float(tried[row]), damping)


def _score(lag: Lag, frequencies: Floats, weight: Floats, advanced: Floats) -> Floats:
    """By how much the model with its best gain explains it, with the gain's sign, by delay."""
    model = lag.transfer(frequencies)
    explained = np.real(advanced @ np.conj(model))
    scores: Floats = explained * np.abs(explained) / np.sum(weight * np.abs(model) ** 2)
    return scores


#: Residuals beyond this many usual deviations are not noise: a command that came
#: a sample late, a datagram that was lost.
_FAR = 8.0
#: If more of a record than this share is far out, it is the model that is wrong.
_MOST_FAR = 0.15
_ROUNDS = 3


class PairModel(Struct, eq=False):
    """What was found of one command and one response.

    fit: Delay, lag and gain as they were fitted.
    delay, gain, dynamics: With their intervals.
    noise: Standard deviation of the measurement noise without that of rounding.
    quantisation: Step of the response's values, 0: none.
    left_out: Samples that were far out.
    response: The frequency response of the record, without a model.
    """

    fit: DelayFit
    delay: Estimate
    gain: Estimate
    dynamics: Dynamics
    noise: Estimate
    quantisation: float
    left_out: int
    response: FrequencyResponse

    def validate(self, record: Record, excitation: str) -> Validation:
        """Compare the model with a second record; without another fit."""
        residuals = record.values - self.fit.predict(record)
        residual = float(np.sqrt(np.mean(residuals**2)))
        spread = float(np.std(record.values))
        if spread == 0.0:
            raise DescriptionError(
                "the response never changes in the second record; nothing can be compared with it"
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
    """Identify delay, dynamics, gain and noise from a record."""
    if not len(record.steps()[0]):
        raise DescriptionError(
            "the command never changes in this record; nothing can be identified"
        )
    measured = frequency_response(record)
    step = quantisation_step(record.response)
    rounding = max(step, 1e-9 * float(np.ptp(record.values))) / math.sqrt(12.0)
    fits = [
        _without_far(record, _fit(record, measured, longest, order), longest, rounding)
        for order in orders
    ]
    # but lags that are too fast for the samples to tell
    told_apart = [pair for pair in fits if not pair[0].is_fastest] or fits
    fit, fitted_record = min(told_apart, key=lambda pair: _criterion(pair[0], record, rounding))
    noise = deviation_interval(fit.residuals, fit.parameters, confidence).without(step**2 / 12.0)
    freedom = max(1, fitted_record.count - fit.parameters)
    variance = float(fit.residuals @ fit.residuals) / freedom
    error = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0) * variance)
    return PairModel(
        fit,
        _delay(fit, error, freedom, confidence),
        normal_interval(fit.gain, float(error[-2]), freedom, confidence),
        _dynamics(fit, error, freedom, confidence),
        noise,
        step,
        record.count - fitted_record.count,
        measured,
    )


def _fit(record: Record, measured: FrequencyResponse, longest: float, order: int) -> DelayFit:
    """Return the best fit of an order."""
    if order == 0:
        return fit_static(record, longest)
    starts = starting_values(measured, order, record.period, longest)
    delay, lag = min(starts, key=lambda start: scaled_lag(record, *start)[2])
    return fit_lag(record, delay, lag, longest)


def _criterion(fit: DelayFit, record: Record, rounding: float) -> float:
    """Return Schwarz's criterion; what was left out counts as noise as wide as the response."""
    n, fitted_count = record.count, len(fit.residuals)
    variance = max(float(fit.residuals @ fit.residuals) / fitted_count, 1e-3 * rounding**2)
    rejected_term = (n - fitted_count) * math.log(max(float(np.var(record.values)), variance))
    return fitted_count * math.log(variance) + rejected_term + fit.parameters * math.log(n)


def _without_far(
    record: Record, fit: DelayFit, longest: float, smallest: float
) -> tuple[DelayFit, Record]:
    """Fit again without residuals that are no noise, if there are few."""
    refit, near = fit, record
    for _ in range(_ROUNDS):
        residuals = record.values - refit.predict(record)
        usual = max(1.4826 * float(np.median(np.abs(residuals))), smallest)
        far = np.abs(residuals) > _FAR * usual
        if far.mean() > _MOST_FAR:
            return fit, record
        last, near = near.count, record.without(far)
        if near.count == last:
            break
        if refit.lag is None:
            refit = fit_static(near, longest)
        else:
            refit = fit_lag(near, refit.delay, refit.lag, longest)
    return refit, near


def _delay(fit: DelayFit, error: Floats, freedom: int, confidence: float) -> Estimate:
    if fit.lag is None:
        return Estimate(value=fit.delay, low=fit.earliest, high=fit.delay)
    interval = normal_interval(fit.delay, float(error[0]), freedom, confidence)
    return Estimate(value=interval.value, low=max(0.0, interval.low), high=interval.high)


def _dynamics(fit: DelayFit, error: Floats, freedom: int, confidence: float) -> Dynamics:
    if fit.lag is None:
        return Dynamics(order=0)
    frequency = positive_interval(fit.lag.frequency, float(error[1]), freedom, confidence)
    if fit.lag.damping is None:
        return Dynamics(order=1, frequency=frequency)
    damping = positive_interval(fit.lag.damping, float(error[2]), freedom, confidence)
    return Dynamics(order=2, frequency=frequency, damping=damping)
