"""Where the search for a model begins: the one that fits the frequency response best, on a grid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orchestrator.rig.identification.frequency_response import FrequencyResponse
from orchestrator.rig.identification.record import Floats
from orchestrator.rig.identification.step_response import Lag

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

    Parameters
    ----------
    measured
        The frequency response, whose lines count by their coherence.
    order
        1 or 2.
    period
        s, between two samples: delays are tried in halves of it.
    longest
        s, of the delay.
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
    found: Floats = explained * np.abs(explained) / np.sum(weight * np.abs(model) ** 2)
    return found
