"""Fits of a delay, with a lag behind it or alone, and the frequency response without a model.

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
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import optimize, signal

from orchestrator.core.structs import Struct
from orchestrator.rig.hardware.twin_file import Lag
from orchestrator.rig.identification.record import Floats, Record

#: Of a damping's logarithm, where its derivative is taken by a difference.
_SMALL = 1e-5
#: The fastest lag, in parts of the samples' rate. A first-order one has done 90 % of its step after
#: a sample: a faster one is in the samples what a delay alone is, of which some commands are late.
_FASTEST = 0.367
#: Samples at a time; changes that all of them have settled after are one sum.
_ROWS = 64
#: Damping ratios that are looked for, and how near to an end an estimate is at it.
_DAMPINGS, _NEAR = (0.01, 20.0), 0.02
#: Candidates of a delay alone, for each period of the samples.
_FINE = 64


class DelayFit(Struct, eq=False):
    """A delay, with a lag behind it or alone.

    delay: s; the latest of equally good fits.
    lag: What follows it; ``None``: nothing.
    gain, offset: Of the response.
    covariance: Of delay and logarithm of the frequency if there is a lag, logarithm of the damping
        if there is one, gain, offset, in this order, for residuals of variance 1.
    residuals: Response less model, where samples count.
    earliest: Of a delay alone: the earliest of equally good fits, s.
    is_fastest: The samples can tell no faster lag, so they do not tell this one either.
    at_end: Which estimate is at the end of the interval that was searched, in words; empty: none. A
        lag that is slower than the record shows is none: what integrates looks so.
    """

    delay: float
    lag: Lag | None
    gain: float
    offset: float
    covariance: Floats
    residuals: Floats
    earliest: float = math.nan
    is_fastest: bool = False
    at_end: str = ""

    @property
    def parameters(self) -> int:
        """How many numbers were fitted."""
        return 3 if self.lag is None else len(self.covariance)

    def predict(self, record: Record) -> Floats:
        """Return the model's response where samples of a record count."""
        if self.lag is None:
            shape = _delayed(record, self.delay, record.period / _FINE)
        else:
            shape = _shape(record, self.delay, self.lag)[0]
        return self.offset + self.gain * shape


def fit_static(record: Record, longest: float) -> DelayFit:
    """Fit a delay up to ``longest`` (s), a gain and an offset to a record."""
    period = record.period
    fine = period / _FINE
    delays = np.arange(0.0, longest + fine, fine)
    sums = np.array([_fit(record, delay, fine)[0] for delay in delays[:: _FINE // 4]])
    best = delays[:: _FINE // 4][int(np.argmin(sums))]
    near = delays[np.abs(delays - best) <= 1.5 * period]
    sums = np.array([_fit(record, delay, fine)[0] for delay in near])
    equal = np.flatnonzero(sums <= sums.min() * (1.0 + 1e-9) + 1e-300)
    run = equal[: 1 + int(np.argmax(np.append(np.diff(equal) > 1, True)))]
    delay, earliest = float(near[run[-1]]), float(near[run[0]]) - fine
    _, gain, offset = _fit(record, delay, fine)
    shape = _delayed(record, delay, fine)
    design = np.column_stack([shape, np.ones_like(shape)])
    covariance: Floats = np.linalg.pinv(design.T @ design).astype(np.float64)
    residuals = record.values - offset - gain * shape
    at_end = ""
    if not delay < delays[-1] - 1.5 * fine:
        at_end = f"delay of {delay * 1e3:.4g} ms, up to {longest * 1e3:.4g} ms"
    return DelayFit(
        *(delay, None, gain, offset, covariance, residuals),
        earliest=max(0.0, earliest),
        at_end=at_end,
    )


def _delayed(record: Record, delay: float, fine: float) -> Floats:
    # half a candidate's distance of room, so that rounding moves no stair by a sample
    return record.held(record.times[record.used] - delay + 0.5 * fine)


def _fit(record: Record, delay: float, fine: float) -> tuple[float, float, float]:
    """Return the sum of squares that is left, gain and offset."""
    shape, values = _delayed(record, delay, fine), record.values
    centred = shape - shape.mean()
    power = float(centred @ centred)
    gain = float(centred @ values) / power if power > 0.0 else 0.0
    offset = float(values.mean() - gain * shape.mean())
    residuals = values - offset - gain * shape
    return float(residuals @ residuals), gain, offset


def fit_lag(record: Record, delay: float, lag: Lag, longest: float) -> DelayFit:
    """Fit delay, lag, gain and offset to a record."""
    second = lag.damping is not None

    def lag_of(values: Floats) -> Lag:
        return Lag(math.exp(values[1]), math.exp(values[2]) if second else None)

    @lru_cache(maxsize=1)  # residuals and their derivatives share what costs most
    def shapes(at: bytes) -> tuple[Floats, Floats, Floats]:
        values = np.frombuffer(at)
        return _shape(record, values[0], lag_of(values))

    def residuals(values: Floats) -> Floats:
        """Model less response."""
        differences: Floats = values[-1] + values[-2] * shapes(values.tobytes())[0] - record.values
        return differences

    def jacobian(values: Floats) -> Floats:
        shape, slope, spin = shapes(values.tobytes())
        columns = [-values[-2] * slope, values[-2] * spin]
        if second:
            lag = Lag(math.exp(values[1]), math.exp(values[2] + _SMALL))
            moved = _shape(record, values[0], lag)[0]
            columns.append(values[-2] * (moved - shape) / _SMALL)
        return np.column_stack([*columns, shape, np.ones_like(shape)])

    gain, offset, _ = scaled_lag(record, delay, lag)
    begin = [min(delay, longest), math.log(lag.frequency)]
    begin += [] if lag.damping is None else [math.log(lag.damping)]
    damping_low, damping_high = ([math.log(bound)] if second else [] for bound in _DAMPINGS)
    fastest = _FASTEST / record.period
    low = [0.0, math.log(1e-5 * fastest), *damping_low, -np.inf, -np.inf]
    high = [longest, math.log(fastest), *damping_high, np.inf, np.inf]
    start = np.clip(np.array([*begin, gain, offset]), low, high)
    size = max(abs(gain), 1e-300)
    spread = max(float(np.std(record.values)), 1e-300)
    scale = [record.period, 1.0, *([1.0] if second else []), size, spread]
    solution = optimize.least_squares(
        residuals,
        start,
        jacobian,
        bounds=(low, high),
        x_scale=scale,
        xtol=1e-10,
        ftol=1e-10,
        gtol=1e-12,
        max_nfev=40,
    )
    scaled = solution.jac * scale
    covariance = np.linalg.pinv(scaled.T @ scaled) * np.outer(scale, scale)
    delay, gain, offset = (float(solution.x[i]) for i in (0, -2, -1))
    lag = lag_of(solution.x)
    is_fastest = lag.frequency > 0.98 * fastest
    return DelayFit(
        *(delay, lag, gain, offset, covariance, -np.array(solution.fun)),
        is_fastest=is_fastest,
        at_end=_at_end(delay, longest, lag, is_fastest=is_fastest),
    )


def _at_end(delay: float, longest: float, lag: Lag, *, is_fastest: bool) -> str:
    if delay > (1.0 - _NEAR) * longest:
        return f"delay of {delay * 1e3:.4g} ms, up to {longest * 1e3:.4g} ms"
    if is_fastest:
        return f"lag of {lag.frequency:.4g} Hz, up to what the samples can tell"
    low, high = _DAMPINGS
    if lag.damping is not None and not (1.0 + _NEAR) * low < lag.damping < (1.0 - _NEAR) * high:
        return f"damping of {lag.damping:.4g}, from {low:g} to {high:g}"
    return ""


def scaled_lag(record: Record, delay: float, lag: Lag) -> tuple[float, float, float]:
    """Return the best gain and offset behind a delay and a lag, and the squares that they leave."""
    shape, _, _ = _shape(record, delay, lag)
    design = np.column_stack([shape, np.ones_like(shape)])
    (gain, offset), *_ = np.linalg.lstsq(design, record.values)
    residuals = record.values - gain * shape - offset
    return float(gain), float(offset), float(residuals @ residuals)


def _shape(record: Record, delay: float, lag: Lag) -> tuple[Floats, Floats, Floats]:
    """Response of gain 1, its derivative by time, and that by the logarithm of the frequency."""
    changes, moved = record.steps()
    times = record.times[record.used] - delay
    before, shapes = np.append(0.0, np.cumsum(moved)), np.empty((3, times.size))
    for begin in range(0, times.size, _ROWS):
        rows = slice(begin, begin + _ROWS)
        at = times[rows]
        first = np.searchsorted(changes, at.min() - lag.settled)
        last = np.searchsorted(changes, at.max(), side="right")
        elapsed = at[:, None] - changes[first:last]
        step, slope = lag.response(elapsed)
        near = moved[first:last]
        shapes[:, rows] = before[first] + step @ near, slope @ near, (slope * elapsed) @ near
    return shapes[0], shapes[1], shapes[2]


#: Coherences above are taken for this much: what is left is rounding.
_SURE = 1.0 - 1e-6


class FrequencyResponse(Struct, eq=False):
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
        return np.sqrt((1.0 - coherence) / (2.0 * self.averages * coherence))


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
