"""Phase lead that replaces a first-order lag by a shorter one."""

from __future__ import annotations

from functools import lru_cache
from math import exp

from orchestrator import DescriptionError


@lru_cache(maxsize=64)  # a block asks for them in every step
def lead_coefficients(lag: float, rest: float, h: float) -> tuple[float, float, float]:
    """Return the difference equation of ``(lag s + 1)/(rest s + 1)`` at a sampling time.

    It is exact for a signal that is linear between samples. Assuming a held signal would be wrong:
    the output of the sensor is smooth, and a hold would add half a sample of delay to a block that
    has to remove delay.

    Parameters
    ----------
    lag
        Time constant of the sensor, s.
    rest
        Remaining time constant, s, > 0.
    h
        Sampling time, s, > 0.

    Returns
    -------
    tuple of float
        ``(b0, b1, a)`` of ``y[n] = b0 u[n] + b1 u[n-1] + a y[n-1]``.

    Raises
    ------
    DescriptionError
        If a time is not in its range.
    """
    problems = [
        f"phase lead: {name}: expected {expected} s, found {value}"
        for name, value, expected, right in (
            ("lag", lag, ">= 0", lag >= 0.0),
            ("rest", rest, "> 0", rest > 0.0),
            ("sampling time", h, "> 0", h > 0.0),
        )
        if not right
    ]
    if problems:
        raise DescriptionError(*problems)
    # (lag s + 1)/(rest s + 1) = g - (g - 1)/(rest s + 1) with g = lag/rest
    gain, fade = lag / rest, exp(-h / rest)
    mean = (1.0 - fade) * rest / h
    return gain - (gain - 1.0) * (1.0 - mean), -gain * fade - (gain - 1.0) * (mean - fade), fade
