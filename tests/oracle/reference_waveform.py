"""A signal over a step in Python, bit for bit as engine/src/core/waveform.cpp makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waveform:
    """Value at the begin of a step, and derivatives per s, s2 and s3 there."""

    value: float
    derivatives: tuple[float, float, float]

    def reduced(self, h: float, order: int, *, keeps_end: bool) -> Waveform:
        """Return the nearest of a lower order; see Waveform::reduced of the engine."""
        if order >= 3:
            return self
        first, second, third = self.derivatives
        square, cube = second / 2.0, third / 6.0
        if order == 2:
            first -= (0.5 if keeps_end else 0.6) * h * h * cube
            value = self.value if keeps_end else self.value + h * h * h * cube / 20.0
            return Waveform(value, (first, second + 3.0 * h * cube, 0.0))
        first += h * square + (1.0 if keeps_end else 0.9) * h * h * cube
        value = self.value if keeps_end else self.value - h * h * (square / 6.0 + h * cube / 5.0)
        return Waveform(value, (first, 0.0, 0.0))


def through(points: Sequence[tuple[int, float]], begin_ns: int) -> Waveform:
    """Return the polynomial through one to four points (time in ns, value)."""
    count = len(points)
    t = [float(time - begin_ns) / 1e9 for time, _ in points] + [0.0] * (4 - count)
    c = [value for _, value in points] + [0.0] * (4 - count)
    for k in range(1, count):
        for i in range(count - 1, k - 1, -1):
            c[i] = (c[i] - c[i - 1]) * (1.0 / (t[i] - t[i - k]))
    first = c[1] - c[2] * (t[0] + t[1]) + c[3] * (t[0] * t[1] + t[0] * t[2] + t[1] * t[2])
    second = 2.0 * (c[2] - c[3] * (t[0] + t[1] + t[2]))
    value = c[0] - t[0] * (c[1] - t[1] * (c[2] - t[2] * c[3]))
    return Waveform(value, (first, second, 6.0 * c[3]))
