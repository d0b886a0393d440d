"""Fits of a delay with a lag behind it, and the frequency response without a model.

The response at ``t`` is ``offset + gain sum(du_k S(t - t_k - delay))`` over the changes ``du_k`` of
the command at ``t_k``, with the step response S in closed form: so the delay is any number, and
neither samples nor changes need an even spacing.

References
----------
Ljung: System Identification, 2nd ed., 1999, chapters 7 and 9: prediction-error estimates of an
output-error model, and their covariance from the Jacobian.

Bendat, Piersol: Random Data, 4th ed., 2010, chapters 6 and 9: the estimate H1 = S_uy / S_uu, which
noise on the response does not bias, its coherence, and the variance of both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, signal

from orchestrator.rig.identification.record import Floats, Record
from orchestrator.rig.twin_file import Lag

#: Of a damping's logarithm, where its derivative is taken by a difference.
_SMALL = 1e-5
#: The fastest lag, in parts of the samples' rate. A first-order one has done 90 % of its step after
#: a sample: a faster one is in the samples what a delay alone is, of which some commands are late.
_FASTEST = 0.367
#: Samples at a time; changes that all of them have settled after are one sum.
_ROWS = 64
#: Damping ratios that are looked for, and how near to an end an estimate is at it.
_DAMPINGS, _NEAR = (0.01, 20.0), 0.02


@dataclass(frozen=True, slots=True, eq=False)
class LagFit:
    """A delay with a lag behind it.

    delay: s.
    lag: What follows it.
    gain, offset: Of the response.
    covariance: Of delay, logarithm of the frequency, logarithm of the damping if there is one,
        gain, offset, in this order, for residuals of variance 1.
    residuals: Response less model, where samples count.
    is_fastest: The samples can tell no faster lag, so they do not tell this one either.
    at_end: Which estimate is at the end of the interval that was searched, in words; empty: none. A
        lag that is slower than the record shows is none: what integrates looks so.
    """

    delay: float
    lag: Lag
    gain: float
    offset: float
    covariance: Floats
    residuals: Floats
    is_fastest: bool
    at_end: str = ""

    @property
    def parameters(self) -> int:
        """How many numbers were fitted."""
        return len(self.covariance)

    def predict(self, record: Record) -> Floats:
        """Return the model's response where samples of a record count."""
        return self.offset + self.gain * _shape(record, self.delay, self.lag)[0]


def fit_lag(record: Record, delay: float, lag: Lag, longest: float) -> LagFit:
    """Fit delay, lag, gain and offset to a record."""
    problem = _Problem(record, second=lag.damping is not None)
    gain, offset, _ = _scaled(record, delay, lag)
    begin = [min(delay, longest), math.log(lag.frequency)]
    begin += [] if lag.damping is None else [math.log(lag.damping)]
    least, most = ([math.log(each)] if problem.second else [] for each in _DAMPINGS)
    low = [0.0, -np.inf, *least, -np.inf, -np.inf]
    high = [longest, np.inf, *most, np.inf, np.inf]
    fastest = _FASTEST / record.period
    low[1], high[1] = math.log(1e-5 * fastest), math.log(fastest)
    start = np.clip(np.array([*begin, gain, offset]), low, high)
    size = max(abs(gain), 1e-300)
    spread = max(float(np.std(record.values)), 1e-300)
    scale = [record.period, 1.0, *([1.0] if problem.second else []), size, spread]
    found = optimize.least_squares(
        problem.residuals,
        start,
        problem.jacobian,
        bounds=(low, high),
        x_scale=scale,
        xtol=1e-10,
        ftol=1e-10,
        gtol=1e-12,
        max_nfev=40,
    )
    scaled = found.jac * scale
    covariance = np.linalg.pinv(scaled.T @ scaled) * np.outer(scale, scale)
    values = [float(each) for each in found.x]
    lag = problem.lag(found.x)
    is_fastest = lag.frequency > 0.98 * fastest
    return LagFit(
        values[0],
        lag,
        values[-2],
        values[-1],
        covariance,
        -np.array(found.fun),
        is_fastest,
        _at_end(values[0], longest, lag, is_fastest=is_fastest),
    )


def remainder(record: Record, delay: float, lag: Lag) -> float:
    """Return the sum of squares that a delay and a lag leave, with the best gain and offset."""
    return _scaled(record, delay, lag)[2]


def _at_end(delay: float, longest: float, lag: Lag, *, is_fastest: bool) -> str:
    if delay > (1.0 - _NEAR) * longest:
        return f"delay of {delay * 1e3:.4g} ms, up to {longest * 1e3:.4g} ms"
    if is_fastest:
        return f"lag of {lag.frequency:.4g} Hz, up to what the samples can tell"
    least, most = _DAMPINGS
    if lag.damping is not None and not (1.0 + _NEAR) * least < lag.damping < (1.0 - _NEAR) * most:
        return f"damping of {lag.damping:.4g}, from {least:g} to {most:g}"
    return ""


def _scaled(record: Record, delay: float, lag: Lag) -> tuple[float, float, float]:
    """Return the best gain and offset, and what they leave."""
    shape, _, _ = _shape(record, delay, lag)
    design = np.column_stack([shape, np.ones_like(shape)])
    (gain, offset), *_ = np.linalg.lstsq(design, record.values)
    left = record.values - gain * shape - offset
    return float(gain), float(offset), float(left @ left)


class _Problem:
    """Residuals and their derivatives, which share what costs most."""

    def __init__(self, record: Record, *, second: bool) -> None:
        self._record, self.second = record, second
        self._at: bytes = b""
        self._found: tuple[Floats, Floats, Floats] = (np.empty(0),) * 3

    def lag(self, values: Floats) -> Lag:
        damping = math.exp(values[2]) if self.second else None
        return Lag(math.exp(values[1]), damping)

    def _shape(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        if self._at != values.tobytes():
            self._found = _shape(self._record, values[0], self.lag(values))
            self._at = values.tobytes()
        return self._found

    def residuals(self, values: Floats) -> Floats:
        """Model less response."""
        found: Floats = values[-1] + values[-2] * self._shape(values)[0] - self._record.values
        return found

    def jacobian(self, values: Floats) -> Floats:
        shape, slope, spin = self._shape(values)
        columns = [-values[-2] * slope, values[-2] * spin]
        if self.second:
            lag = Lag(math.exp(values[1]), math.exp(values[2] + _SMALL))
            moved = _shape(self._record, values[0], lag)[0]
            columns.append(values[-2] * (moved - shape) / _SMALL)
        return np.column_stack([*columns, shape, np.ones_like(shape)])


def _shape(record: Record, delay: float, lag: Lag) -> tuple[Floats, Floats, Floats]:
    """Response of gain 1, its derivative by time, and that by the logarithm of the frequency."""
    changes, moved = record.steps()
    times = record.times[record.used] - delay
    before, found = np.append(0.0, np.cumsum(moved)), np.empty((3, times.size))
    for begin in range(0, times.size, _ROWS):
        rows = slice(begin, begin + _ROWS)
        at = times[rows]
        first = np.searchsorted(changes, at.min() - lag.settled)
        last = np.searchsorted(changes, at.max(), side="right")
        elapsed = at[:, None] - changes[first:last]
        step, slope = lag.response(elapsed)
        near = moved[first:last]
        found[:, rows] = before[first] + step @ near, slope @ near, (slope * elapsed) @ near
    return found[0], found[1], found[2]


#: Coherences above are taken for this much: what is left is rounding.
_SURE = 1.0 - 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyResponse:
    """Response per command by frequency.

    frequencies: Hz, shape (n,), without 0.
    response: Complex, shape (n,): H1, the hold of the command over each sample taken out.
    coherence: 0 to 1, shape (n,).
    averages: How many independent pieces of the record were averaged, about.
    """

    frequencies: Floats
    response: npt.NDArray[np.complex128]
    coherence: Floats
    averages: float

    @property
    def relative_error(self) -> Floats:
        """Standard deviation of the magnitude over it, and of the phase in rad, shape (n,)."""
        coherence = np.clip(self.coherence, 1e-9, _SURE)
        found: Floats = np.sqrt((1.0 - coherence) / (2.0 * self.averages * coherence))
        return found


def frequency_response(record: Record) -> FrequencyResponse:
    """Estimate the frequency response of a record, by Welch's method on the samples' even spacing.

    Pieces are a quarter of what counts, half of each over the next, with Hann's window. The
    command is taken as the device holds it over each sample: ``exp(-s T/2) sinc(f T)`` of that is
    taken out, so that what is left is the device's own.
    """
    period, taken = record.period, record.times[record.used]
    # where samples were lost the spacing is not even: the response is taken to go straight there
    at = taken[0] + period * np.arange(1 + round((taken[-1] - taken[0]) / period))
    command = record.held(at + 1e-6 * period)
    values = np.interp(at, taken, record.values)
    length = max(16, len(at) // 4)
    options = {"fs": 1.0 / period, "nperseg": length, "detrend": "constant"}
    frequencies, cross = signal.csd(command, values, **options)
    _, power = signal.welch(command, **options)
    _, coherence = signal.coherence(command, values, **options)
    inside = (frequencies > 0.0) & (frequencies < 0.5 / period) & (power > 1e-9 * power.max())
    frequencies = frequencies[inside]
    hold = np.sinc(frequencies * period) * np.exp(-1j * np.pi * frequencies * period)
    return FrequencyResponse(
        frequencies,
        cross[inside] / power[inside] / hold,
        np.nan_to_num(coherence[inside]),
        max(1.0, 2.0 * len(at) / length - 1.0),
    )
