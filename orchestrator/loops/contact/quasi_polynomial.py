"""Quasi-polynomial p(s) + q(s) exp(-s tau) of a loop with one delay, and counts of its roots.

It holds for any linear loop of retarded type; :mod:`orchestrator.loops.contact.contact_loop` is the
docking rig's. Stability is read from the rightmost roots, delay margins from the frequencies at
which a root can cross the imaginary axis at all, which are roots of an ordinary polynomial.

Roots are counted by the argument principle on p(s) + q(s) exp(-s delay), independent of any root
finder: it certifies that none was missed.

References
----------
Cooke, van den Driessche: On zeroes of some transcendental equations, Funkcialaj Ekvacioj 29
(1986), 77-90: crossings of the imaginary axis and their directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study.measure import spectrum

_TURN = 0.5  # largest phase step between two samples, rad
_MOST = 2_000_000


def roots_right_of(
    p: NDArray[np.float64], q: NDArray[np.float64], delay: float, abscissa: float
) -> int:
    """Count the roots of p(s) + q(s) exp(-s delay) with real part above ``abscissa``.

    p, q: Coefficients, highest power first, shapes (n + 1,) and (m + 1,), m < n.
    delay: Delay, s.
    abscissa: Real part of the line, 1/s.
    Returns: Number of roots, multiplicity included.
    Raises DescriptionError: A root lies on the line, or so close that the phase cannot be followed
        past it.
    """
    order = p.size - 1
    sizes = np.abs(p) / abs(p[0])
    sizes[order + 1 - q.size :] += np.abs(q) / abs(p[0]) * np.exp(-abscissa * delay)
    sizes[1:] = np.maximum(sizes[1:], 0.0)
    # Beyond `reach` the terms below s^n are at most a quarter of it.
    reach = float(np.max(np.roots(np.concatenate([[0.25], -sizes[1:]])).real)) + abs(abscissa)
    reach = max(reach, 1e-9)
    shift = 0.05 * reach / order
    reach *= 2.0

    def ratio(omega: NDArray[np.float64]) -> NDArray[np.complex128]:
        s = abscissa + 1j * omega
        value = np.polyval(p, s) + np.polyval(q, s) * np.exp(-s * delay)
        return np.asarray(value / (p[0] * (shift + 1j * omega) ** order))

    omega = np.linspace(0.0, reach, 256 + int(8 * reach * delay))
    values = ratio(omega)
    while True:
        if np.any(values == 0.0) or omega.size > _MOST:
            raise DescriptionError(
                f"a root lies on or next to the line of real part {abscissa:g} 1/s, so the roots "
                "to its right cannot be counted; move the line a little"
            )
        turns = np.angle(values[1:] / values[:-1])
        coarse = np.flatnonzero(np.abs(turns) > _TURN)
        if coarse.size == 0:
            break
        middle = 0.5 * (omega[coarse] + omega[coarse + 1])
        if np.any(np.diff(omega)[coarse] <= 1e-15 * reach):
            omega = np.zeros(_MOST + 1)
            continue
        omega = np.insert(omega, coarse + 1, middle)
        values = np.insert(values, coarse + 1, ratio(middle))
    turned = float(np.sum(turns)) - float(np.angle(values[-1]))
    return round(-turned / np.pi)


_TOUCH = 1e-6  # relative imaginary part of w^2 up to which a crossing counts as (a touching) one
_ON_AXIS = 1e-12  # relative real part up to which a delay-free root counts as on the axis


@dataclass(frozen=True)
class Crossing:
    """A frequency at which roots reach the imaginary axis, and the delays at which they do.

    Parameters
    ----------
    frequency
        Angular frequency w of the pair +-jw, rad/s.
    first_delay
        Smallest delay >= 0 with a root at jw, s; the others follow at multiples of the period.
    direction
        +1: the pair moves to the right with growing delay, -1: to the left, 0: it touches.
    """

    frequency: float
    first_delay: float
    direction: int

    def delay(self, turn: int) -> float:
        """Give the delay, s, of the ``turn``-th time (0 is the first) a root is at jw."""
        return self.first_delay + turn * 2.0 * np.pi / self.frequency


@dataclass(frozen=True)
class DelayMargin:
    """The smallest delay at which the loop, stable without delay, reaches the imaginary axis.

    Parameters
    ----------
    delay
        That delay, s; ``inf`` when no delay does it, 0 when the delay-free loop is not stable.
    additional
        What is left of it beyond the delay the loop already has, s; negative when used up.
    frequency
        Angular frequency of the oscillation at the margin, rad/s; ``nan`` when there is none.
    """

    delay: float
    additional: float
    frequency: float


@dataclass(frozen=True, eq=False)
class QuasiPolynomial:
    """The function p(s) + q(s) exp(-s delay) with real coefficients, of retarded type.

    Parameters
    ----------
    p, q
        Coefficients, highest power first, shapes (n + 1,) and (m + 1,) with m < n.
    delay
        Delay tau >= 0, s.

    Raises
    ------
    DescriptionError
        Coefficients are not finite vectors, p is constant, m >= n, or the delay is negative.
    """

    p: NDArray[np.float64]
    q: NDArray[np.float64]
    delay: float

    def __init__(self, p: ArrayLike, q: ArrayLike, delay: float) -> None:
        problems: list[str] = []
        for name, given in (("p", p), ("q", q)):
            array = np.asarray(given, dtype=float)
            if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
                problems.append(
                    f"quasi-polynomial: {name} must be a vector of finite coefficients, "
                    f"got {given!r}"
                )
                continue
            object.__setattr__(self, name, _trimmed(array))
        if not (np.isfinite(delay) and delay >= 0.0):
            problems.append(f"quasi-polynomial: the delay must be finite and >= 0 s, got {delay}")
        object.__setattr__(self, "delay", float(delay))
        if not problems and (self.p.size < 2 or self.p.size <= self.q.size):
            problems.append(
                f"quasi-polynomial: p has degree {self.p.size - 1} and q {self.q.size - 1}; the "
                "degree of p must be at least 1 and above that of q (retarded type): a delayed "
                "highest derivative makes the loop neutral, so give the delayed path a low-pass"
            )
        if problems:
            raise DescriptionError(*problems)

    def __call__(self, s: ArrayLike) -> NDArray[np.complex128]:
        """Evaluate at complex s, any shape, 1/s."""
        at = np.asarray(s, dtype=complex)
        value = np.polyval(self.p, at) + np.polyval(self.q, at) * np.exp(-at * self.delay)
        return np.asarray(value)

    def rightmost_roots(self, count: int = 2) -> NDArray[np.complex128]:
        """Find the ``count`` rightmost roots, 1/s; see :func:`spectrum.rightmost_roots`."""
        return spectrum.rightmost_roots(self.p, self.q, self.delay, count)

    def roots_right_of(self, abscissa: float) -> int:
        """Count the roots with real part above ``abscissa``, 1/s, by the argument principle."""
        return roots_right_of(self.p, self.q, self.delay, abscissa)

    @property
    def is_stable(self) -> bool:
        """Whether all roots have negative real parts at the given delay."""
        return bool(self.rightmost_roots(1)[0].real < 0.0)

    def crossings(self) -> tuple[Crossing, ...]:
        """Find all frequencies w > 0 with |p(jw)| = |q(jw)| and the delays that go with them.

        Returns
        -------
        tuple of Crossing
            By first delay. They do not depend on the delay of this object.
        """
        gap = np.polysub(_squared_modulus(self.p), _squared_modulus(self.q))
        slope = np.polyder(gap)
        found: list[Crossing] = []
        for square in np.roots(gap):
            if square.real <= 0.0 or abs(square.imag) > _TOUCH * abs(square):
                continue
            omega = float(np.sqrt(square.real))
            if any(abs(omega - other.frequency) <= _TOUCH * omega for other in found):
                continue
            size = float(np.polyval(np.abs(slope), square.real))
            tilt = float(np.polyval(slope, square.real)) / size
            direction = 0 if abs(tilt) <= _TOUCH else int(np.sign(tilt))
            ratio = -np.polyval(self.p, 1j * omega) / np.polyval(self.q, 1j * omega)
            phase = float(-np.angle(ratio) % (2.0 * np.pi))
            if phase > 2.0 * np.pi - _ON_AXIS:
                phase = 0.0
            found.append(Crossing(omega, phase / omega, direction))
        return tuple(sorted(found, key=lambda crossing: crossing.first_delay))

    def delay_margin(self) -> DelayMargin:
        """Find the smallest delay at which a root reaches the axis, from the delay-free loop on.

        A loop may become stable again at a longer delay; :attr:`is_stable` tells for the given one.
        """
        free = np.roots(np.polyadd(self.p, self.q))
        if np.max(free.real) >= -_ON_AXIS * np.max(np.abs(free)):
            return DelayMargin(0.0, -self.delay, float("nan"))
        crossings = self.crossings()
        if not crossings:
            return DelayMargin(float("inf"), float("inf"), float("nan"))
        first = crossings[0]
        return DelayMargin(first.first_delay, first.first_delay - self.delay, first.frequency)


def _trimmed(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop leading zeros, keep at least one coefficient, and make the array read-only."""
    start = min(int(np.argmax(coefficients != 0.0)), coefficients.size - 1)
    kept = coefficients[start:].copy() if np.any(coefficients) else np.zeros(1)
    kept.setflags(write=False)
    return kept


def _squared_modulus(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients, highest power first, of |p(jw)|^2 as a polynomial in w^2."""
    degree = coefficients.size - 1
    signs = (-1.0) ** np.arange(degree, -1, -1)
    in_s = np.convolve(coefficients, coefficients * signs)[::2]  # even powers of s only
    return np.asarray(in_s * (-1.0) ** np.arange(degree, -1, -1))
