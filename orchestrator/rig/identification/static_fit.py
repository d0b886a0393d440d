"""Fits of a delay alone: what follows a command without any lag.

Such a response repeats the command's staircase, and samples show only between which two of them a
stair lies. So the delay is known to an interval that noise does not narrow; its end is taken, as
the effect of a command then falls on a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orchestrator.rig.identification.record import Floats, Record

#: Candidates for each period of the samples.
_FINE = 64


@dataclass(frozen=True, slots=True, eq=False)
class StaticFit:
    """A delay alone.

    Parameters
    ----------
    delay, earliest
        s: the latest and the earliest delay that fit equally well.
    gain, offset
        Of the response.
    covariance
        Of gain and offset, for residuals of variance 1.
    residuals
        Response less model, where samples count.
    at_end
        Which estimate is at the end of the interval that was searched, in words; empty: none.
    """

    delay: float
    earliest: float
    gain: float
    offset: float
    covariance: Floats
    residuals: Floats
    at_end: str = ""

    @property
    def parameters(self) -> int:
        """How many numbers were fitted."""
        return 3

    def predict(self, record: Record) -> Floats:
        """Return the model's response where samples of a record count."""
        return self.offset + self.gain * _delayed(record, self.delay, record.period / _FINE)


def fit_static(record: Record, longest: float) -> StaticFit:
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
    at_end = f"delay of {delay * 1e3:.4g} ms, up to {longest * 1e3:.4g} ms"
    is_in = delay < delays[-1] - 1.5 * fine
    earliest = max(0.0, earliest)
    return StaticFit(delay, earliest, gain, offset, covariance, residuals, "" if is_in else at_end)


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
    left = values - offset - gain * shape
    return float(left @ left), gain, offset
