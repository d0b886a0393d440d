"""Step responses of what follows a command: lags of first and second order, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: Two poles nearer than this are treated as one: the difference of the exponentials has no digits.
_DOUBLE = 1e-8


@dataclass(frozen=True, slots=True)
class Lag:
    """``1 / (s / w + 1)`` or ``w**2 / (s**2 + 2 damping w s + w**2)``, ``w = 2 pi frequency``.

    frequency: Hz, > 0: corner frequency of the first order, natural frequency of the second.
    damping: Ratio of the second order, > 0; ``None``: first order.
    """

    frequency: float
    damping: float | None = None

    def response(self, times: Floats) -> tuple[Floats, Floats]:
        """Return the step response and its derivative (1/s) at times in s; both 0 before 0."""
        w = 2.0 * math.pi * self.frequency
        turns = np.where(times > 0.0, w * times, 0.0)
        step, slope = _first(turns) if self.damping is None else _second(turns, self.damping)
        after = times > 0.0
        return np.where(after, step, 0.0), np.where(after, w * slope, 0.0)

    @property
    def settled(self) -> float:
        """Seconds after which a response of double precision has nothing left to do."""
        damping = 1.0 if self.damping is None else self.damping
        slowest = damping if damping <= 1.0 else 1.0 / (damping + math.sqrt(damping**2 - 1.0))
        return 45.0 / (2.0 * math.pi * self.frequency * slowest)

    def transfer(self, frequencies: Floats) -> npt.NDArray[np.complex128]:
        """Return the frequency response at frequencies in Hz."""
        s = np.asarray(1j * frequencies / self.frequency, dtype=np.complex128)
        if self.damping is None:
            return 1.0 / (1.0 + s)
        return 1.0 / (1.0 + 2.0 * self.damping * s + s * s)


def _first(turns: Floats) -> tuple[Floats, Floats]:
    decay = np.exp(-turns)
    return 1.0 - decay, decay


def _second(turns: Floats, damping: float) -> tuple[Floats, Floats]:
    """Step response and slope over ``w t``: under-damped, over-damped, or with one double pole."""
    split = damping * damping - 1.0
    if abs(split) < _DOUBLE:
        decay = np.exp(-turns)
        return 1.0 - decay * (1.0 + turns), decay * turns
    if split < 0.0:
        ring = math.sqrt(-split)
        decay = np.exp(-damping * turns)
        sine, cosine = np.sin(ring * turns), np.cos(ring * turns)
        return 1.0 - decay * (cosine + damping / ring * sine), decay * sine / ring
    root = math.sqrt(split)
    slow, fast = damping - root, damping + root
    slow_decay, fast_decay = np.exp(-slow * turns), np.exp(-fast * turns)
    step = 1.0 - (fast * slow_decay - slow * fast_decay) / (2.0 * root)
    return step, (slow_decay - fast_decay) / (2.0 * root)
