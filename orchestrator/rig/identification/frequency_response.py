"""The frequency response of a record, as it is measured without a model.

References
----------
Bendat, Piersol: Random Data, 4th ed., 2010, chapters 6 and 9: the estimate H1 = S_uy / S_uu, which
noise on the response does not bias, its coherence, and the variance of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import signal

from orchestrator.rig.identification.record import Floats, Record

#: Coherences above are taken for this much: what is left is rounding.
_SURE = 1.0 - 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyResponse:
    """Response per command by frequency.

    Parameters
    ----------
    frequencies
        Hz, shape (n,), without 0.
    response
        Complex, shape (n,): H1, the hold of the command over each sample taken out.
    coherence
        0 to 1, shape (n,).
    averages
        How many independent pieces of the record were averaged, about.
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
