"""The step of values that an instrument rounds to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
