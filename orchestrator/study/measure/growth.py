"""Growth: rate and frequency of the oscillation in a recorded run.

x(t) = c + exp(sigma t) (A cos w t + B sin w t) is fitted by separable least squares: c, A and B
follow linearly from sigma and w, which Gauss-Newton steps refine.

References
----------
Golub, Pereyra: The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate, SIAM J. Numer. Anal. 10 (1973), 413-432. Changed: the step is Kaufman's (the
full linearised problem, of which only the part of sigma and w is used).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError, counted
from orchestrator.core.structs import Struct

_PERIODS = 1.8  # "about two", with room for a damped or drifting frequency
_FEWEST = 16
_RISEN = 1e-6  # of the swing, below which the start of what grows says nothing of the rest
_FLAT = 1e-12  # swing relative to the size of the data below which it is called constant

Floats = NDArray[np.float64]


class GrowthFit(Struct):
    """The fitted oscillation.

    Parameters
    ----------
    sigma, omega
        Growth rate, 1/s, and angular frequency, rad/s.
    sigma_error, omega_error
        Their standard errors (white residuals assumed), 1/s and rad/s.
    offset
        Constant c, in the unit of the data.
    amplitude, phase
        Amplitude at the first sample used, in the unit of the data, and phase, rad:
        x = c + amplitude exp(sigma (t - t0)) cos(w (t - t0) + phase).
    start
        t0, the time of the first sample used, s.
    residual_rms
        Root mean square of what the fit leaves, in the unit of the data.
    """

    sigma: float
    omega: float
    sigma_error: float
    omega_error: float
    offset: float
    amplitude: float
    phase: float
    start: float
    residual_rms: float

    def __repr__(self) -> str:
        return (
            f"GrowthFit: growth {self.sigma:+.7g} 1/s (standard error {self.sigma_error:.2g}),"
            f" frequency {self.frequency:.7g} Hz, amplitude {self.amplitude:.5g} about"
            f" {self.offset:.5g} from {self.start:g} s on, residual {self.residual_rms:.2g} RMS"
        )

    @property
    def frequency(self) -> float:
        """Frequency, Hz."""
        return self.omega / (2.0 * np.pi)


def fit_growth(t: ArrayLike, x: ArrayLike, *, start: float = -np.inf) -> GrowthFit:
    """Fit one growing or decaying oscillation about a constant.

    Parameters
    ----------
    t
        Times, shape (n,), s, increasing; need not be equidistant.
    x
        Samples, shape (n,), any unit.
    start
        Samples before this time, s, are left out (a transient), and what comes before a growth of
        the last six decades.

    Returns
    -------
    GrowthFit
        Rate, frequency, their standard errors, offset, amplitude and residual.

    Raises
    ------
    DescriptionError
        The data is not usable: shapes, times, values, constant, less than about two periods, or
        not an oscillation at all.
    """
    time, data = _risen(*_checked(t, x, start))
    span = time[-1] - time[0]
    clock = (time - time[0]) / span
    mean, swing = float(np.mean(data)), float(np.ptp(data))
    if swing <= _FLAT * float(np.max(np.abs(data))):
        raise DescriptionError(
            f"growth fit: the data is constant ({mean:g}) over {span:g} s; "
            "record a signal that oscillates, or begin before it has died out"
        )
    scaled = (data - mean) / swing
    guesses = _first_guesses(clock, scaled)
    best = min(
        (_refined(clock, scaled, guess) for guess in guesses),
        key=lambda fit: fit[1],
        default=None,
    )
    periods = 0.0 if best is None else float(best[0][1]) / (2.0 * np.pi)
    if best is None or periods < _PERIODS:
        raise DescriptionError(
            f"growth fit: the data holds {periods:.2g} periods of an oscillation in {span:g} s "
            f"({counted(data.size, 'sample')}), about 2 are needed; record longer, or check"
            " that it oscillates"
        )
    rates = best[0]
    columns, parts = _linear_part(clock, scaled, rates)
    residual = scaled - columns @ parts
    jacobian = np.column_stack([columns, *_rate_columns(clock, columns, parts)])
    variance = float(residual @ residual) / max(data.size - 5, 1)
    covariance = np.linalg.inv(jacobian.T @ jacobian) * variance
    shrink = np.exp(-max(rates[0], 0.0))  # the columns are at most 1 at their larger end
    return GrowthFit(
        sigma=float(rates[0] / span),
        omega=float(rates[1] / span),
        sigma_error=float(np.sqrt(covariance[3, 3]) / span),
        omega_error=float(np.sqrt(covariance[4, 4]) / span),
        offset=float(mean + swing * parts[0]),
        amplitude=float(swing * shrink * np.hypot(parts[1], parts[2])),
        phase=float(np.arctan2(-parts[2], parts[1])),
        start=float(time[0]),
        residual_rms=float(swing * np.sqrt(np.mean(residual**2))),
    )


def _checked(t: ArrayLike, x: ArrayLike, start: float) -> tuple[Floats, Floats]:
    time, data = np.asarray(t, dtype=float), np.asarray(x, dtype=float)
    if time.ndim != 1 or time.shape != data.shape:
        raise DescriptionError(
            f"growth fit: t and x must be vectors of one length, got shapes {time.shape} and "
            f"{data.shape}"
        )
    in_window = time >= start
    time, data = time[in_window], data[in_window]
    if time.size < _FEWEST:
        raise DescriptionError(
            f"growth fit: {counted(time.size, 'sample')} from t = {start:g} s on, at least"
            f" {_FEWEST} needed"
        )
    if not (np.isfinite(time).all() and np.isfinite(data).all()):
        raise DescriptionError("growth fit: t or x holds values that are not finite")
    if not np.all(np.diff(time) > 0.0):
        raise DescriptionError("growth fit: the times must increase from sample to sample")
    return time, data


def _risen(time: Floats, data: Floats) -> tuple[Floats, Floats]:
    """Leave out where a signal that grows by many decades is still at its start."""
    far = np.flatnonzero(np.abs(data - data[0]) >= _RISEN * np.ptp(data))
    first = int(far[0]) if far.size else 0
    if 20 * first < data.size or data.size - first < _FEWEST:
        return time, data
    return time[first:], data[first:]


def _first_guesses(clock: Floats, data: Floats) -> list[Floats]:
    """Guess (sigma, omega) per span, by linear prediction over strides from the spectrum's peak.

    x(t+d) + exp(2 sigma d) x(t-d) = 2 exp(sigma d) cos(w d) x(t) + const holds exactly; it is
    best conditioned for a stride d of a quarter period.
    """
    count = min(max(data.size, 256), 4096)
    grid = np.linspace(0.0, 1.0, count)
    # Average over each grid interval: noise goes down, an oscillation keeps rate and frequency.
    total = np.concatenate([[0.0], np.cumsum(0.5 * (data[1:] + data[:-1]) * np.diff(clock))])
    even = np.diff(np.interp(grid, clock, total)) * (count - 1)
    size = even.size
    spectrum = np.abs(np.fft.rfft((even - even.mean()) * np.hanning(size)))
    peak = max(int(np.argmax(spectrum[1:])) + 1, 1)
    guesses: list[Floats] = [np.array([0.0, 2.0 * np.pi * peak])]
    for part in (4.0, 8.0, 2.5):
        stride = max(int(size / peak / part), 1)
        if size < 2 * stride + 8:
            continue
        ahead, here, behind = even[2 * stride :], even[stride:-stride], even[: -2 * stride]
        table = np.column_stack([here, -behind, np.ones(here.size)])
        turn, square, _ = np.linalg.lstsq(table, ahead, rcond=None)[0]
        if square > 0.0 and abs(turn) < 2.0 * np.sqrt(square):
            step = stride / (count - 1)
            angle = np.arccos(turn / (2.0 * np.sqrt(square)))
            guesses.append(np.array([0.5 * np.log(square) / step, angle / step]))
    return guesses


def _refined(clock: Floats, data: Floats, rates: Floats) -> tuple[Floats, float]:
    """Gauss-Newton on (sigma, omega) with step halving; gives the rates and the residual."""
    columns, parts = _linear_part(clock, data, rates)
    error = float(np.linalg.norm(data - columns @ parts))
    for _ in range(30):
        jacobian = np.column_stack([columns, *_rate_columns(clock, columns, parts)])
        step = np.linalg.lstsq(
            jacobian.T @ jacobian, jacobian.T @ (data - columns @ parts), rcond=None
        )[0][3:]
        step /= max(1.0, float(np.max(np.abs(step))) / 5.0)
        for _halving in range(12):
            trial = rates + step
            trial_columns, trial_parts = _linear_part(clock, data, trial)
            trial_error = float(np.linalg.norm(data - trial_columns @ trial_parts))
            if trial_error <= error:
                break
            step *= 0.5
        else:
            break
        rates, columns, parts, error = trial, trial_columns, trial_parts, trial_error
        if np.max(np.abs(step)) <= 1e-13 * max(1.0, float(np.max(np.abs(rates)))):
            break
    return np.array([rates[0], abs(rates[1])]), error


def _linear_part(clock: Floats, data: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Columns 1, e cos, e sin, shape (n, 3), and their least-squares coefficients, shape (3,)."""
    sigma, omega = rates
    envelope = np.exp(np.clip(sigma * clock - max(sigma, 0.0), -700.0, 0.0))
    columns = np.column_stack(
        [np.ones_like(clock), envelope * np.cos(omega * clock), envelope * np.sin(omega * clock)]
    )
    parts = np.linalg.lstsq(columns.T @ columns, columns.T @ data, rcond=None)[0]
    # One step of iterative refinement gives back the digits that the normal equations cost.
    correction = columns.T @ (data - columns @ parts)
    parts = parts + np.linalg.lstsq(columns.T @ columns, correction, rcond=None)[0]
    return columns, parts


def _rate_columns(clock: Floats, columns: Floats, parts: Floats) -> tuple[Floats, Floats]:
    """Give the derivatives of the model with respect to sigma and omega."""
    cosine, sine = columns[:, 1], columns[:, 2]
    by_sigma = clock * (parts[1] * cosine + parts[2] * sine)
    by_omega = clock * (parts[2] * cosine - parts[1] * sine)
    return by_sigma, by_omega
