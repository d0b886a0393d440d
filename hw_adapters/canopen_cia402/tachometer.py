"""The emulated tachometer: noise, and behind it a Butterworth filter of second order."""

from __future__ import annotations

import math
from random import Random


class Tachometer:
    """Shows a rate: ``y'' + sqrt(2) w_c y' + w_c^2 y = w_c^2 (rate + noise)``.

    Parameters
    ----------
    corner
        w_c / (2 pi), Hz.
    noise
        Standard deviation of what is drawn for each cycle and held for it, rad/s.
    seed
        Of the noise.

    Attributes
    ----------
    shown
        The rate that it shows, rad/s.
    """

    def __init__(self, corner: float, noise: float, seed: int) -> None:
        self._corner, self._sigma = 2.0 * math.pi * corner, noise
        self._draw = Random(seed)  # noqa: S311 # for noise that repeats, not for secrets
        self._noise = self._slope = 0.0
        self.shown = 0.0

    def begin_cycle(self) -> None:
        """Draw the noise of the next cycle."""
        self._noise = self._draw.gauss(0.0, self._sigma) if self._sigma else 0.0

    def step(self, rate: float, h: float) -> None:
        """Go on by ``h`` s with a rate that stays; exact for that."""
        a = self._corner / math.sqrt(2.0)
        decay, c, s = math.exp(-a * h), math.cos(a * h), math.sin(a * h)
        goal = rate + self._noise
        off, slope = self.shown - goal, self._slope
        self.shown = goal + decay * (off * (c + s) + slope / a * s)
        self._slope = decay * (slope * (c - s) - 2.0 * a * off * s)


class CutTachometer(Tachometer):
    """Shows nothing any more."""

    def __init__(self) -> None:
        super().__init__(1.0, 0.0, 0)

    def step(self, rate: float, h: float) -> None:
        """Stay at zero."""
