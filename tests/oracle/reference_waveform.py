"""A signal over a step in Python, bit for bit as engine/src/core/waveform.cpp makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def moved(value: float, change: float) -> float:
    """Return a value that moves; one that does not keeps its sign where it is -0.0."""
    return value if change == 0.0 else value + change


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
            value = self.value if keeps_end else moved(self.value, h * h * h * cube / 20.0)
            return Waveform(value, (first, second + 3.0 * h * cube, 0.0))
        first += h * square + (1.0 if keeps_end else 0.9) * h * h * cube
        part = -(h * h * (square / 6.0 + h * cube / 5.0))
        value = self.value if keeps_end else moved(self.value, part)
        return Waveform(value, (first, 0.0, 0.0))


#: x^4 and x^5 on [0, 1] as cubics: with all moments, and with both ends and two moments.
FOURTH = (
    (-1.0 / 70.0, 2.0 / 7.0, -9.0 / 7.0, 2.0),
    (0.0, 1.0 / 5.0, -6.0 / 5.0, 2.0),
)
FIFTH = (
    (-2.0 / 63.0, 25.0 / 42.0, -50.0 / 21.0, 25.0 / 9.0),
    (0.0, 3.0 / 7.0, -16.0 / 7.0, 20.0 / 7.0),
)


def _lagrange(x: Sequence[float], i: int) -> list[float]:
    """Powers of x of the polynomial that is 1 at one point and 0 at the others."""
    powers, scale = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0
    for j, other in enumerate(x):
        if j == i:
            continue
        for k in range(5, 0, -1):
            powers[k] = powers[k - 1] - other * powers[k]
        powers[0] = -other * powers[0]
        scale *= x[i] - other
    return [power / scale for power in powers]


def through(
    points: Sequence[tuple[int, float]], begin_ns: int, span_ns: int, *, keeps_end: bool
) -> Waveform:
    """Return the polynomial through one to six points (time in ns, value) as a cubic."""
    span = float(span_ns)
    x = [float(time - begin_ns) / span for time, _ in points]
    common = points[len(points) // 2][1]
    sums = [0.0, 0.0, 0.0, 0.0]
    for i, (_, value) in enumerate(points):
        powers = _lagrange(x, i)
        scale = 1.0
        for k in range(4):
            if k:
                scale *= float(k) * (1e9 / span)
            higher = powers[4] * FOURTH[keeps_end][k] + powers[5] * FIFTH[keeps_end][k]
            sums[k] += (scale * (powers[k] + higher)) * (value - common)
    return Waveform(moved(common, sums[0]), (sums[1], sums[2], sums[3]))


def value_through(points: Sequence[tuple[int, float]], time_ns: int) -> float:
    """Return the value of the polynomial through one to six points at a time."""
    t = [float(time - time_ns) / 1e9 for time, _ in points]
    c = [value for _, value in points]
    if 0.0 in t:
        return c[t.index(0.0)]
    for k in range(1, len(c)):
        for i in range(len(c) - 1, k - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (t[i] - t[i - k])
    value = c[-1]
    for i in range(len(c) - 1, 0, -1):
        value = moved(c[i - 1], -(t[i - 1] * value))
    return value
