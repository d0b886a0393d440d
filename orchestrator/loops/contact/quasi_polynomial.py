"""Quasi-polynomial p(s) + q(s) exp(-s tau) of a loop with one delay, and counts of its roots.

It holds for any linear loop of retarded type; :mod:`orchestrator.loops.contact.contact_loop` is the
docking rig's. Stability is read from the rightmost roots, delay margins from the frequencies at
which a root can cross the imaginary axis at all, which are roots of an ordinary polynomial.

Rightmost roots: the infinitesimal generator of the delay equation is discretised on Chebyshev
points, its eigenvalues start Newton's method on the quasi-polynomial itself, and every root is
accepted by its residual. The number of points follows from a bound on the modulus of the wanted
roots, so no root to the right of the last returned one is out of the grid's reach. Roots are
counted by the argument principle, independent of any root finder: it certifies that none was
missed.

References
----------
Breda, Maset, Vermiglio: Pseudospectral differencing methods for characteristic roots of delay
differential equations, SIAM J. Sci. Comput. 27 (2005), 482-495: discretised generator. Changed:
time is counted in delays, and more starting points are added: the roots of the delay-free loop,
and for the chain of roots far left the branches of Lambert's W function.

Cooke, van den Driessche: On zeroes of some transcendental equations, Funkcialaj Ekvacioj 29
(1986), 77-90: crossings of the imaginary axis and their directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.loops.delayed_loop import chebyshev

_EPS = float(np.finfo(float).eps)
_RESIDUAL = 1e-12  # accepted |f| relative to the sum of the moduli of its terms
_MULTIPLE = 256 * _EPS  # the same for f and its derivatives at a multiple root
_ZERO = 1e-14  # modulus, at delay 1, below which a root is 0
_CLUSTER = 1e-3  # relative distance within which roots may be one multiple root
_LEFTMOST = -300.0  # in 1/delay: further left the exponential overflows
_LARGEST = 1600  # matrix size beyond which the eigenvalues take many seconds

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


def _roots_on_grid(p: Floats, q: Floats, points: int) -> Complexes:
    """Roots (delay = 1) reached from the eigenvalues on ``points`` + 1 Chebyshev points."""
    free, chain = np.roots(np.polyadd(p, q)), _chain_starts(q, points)
    starts = np.concatenate([np.linalg.eigvals(_generator(p, q, points)), free, chain])
    roots = starts[(starts.imag >= 0.0) & (starts.real > _LEFTMOST)].astype(complex)
    for _ in range(2):  # the second time for roots that had strayed and came late
        roots = _newton(p, q, roots)
        roots = roots[np.isfinite(roots) & (roots.real > _LEFTMOST)]
        value, terms = _value(p, q, roots)
        roots = roots[np.abs(value) <= _RESIDUAL * terms]
    roots[np.abs(roots) <= _ZERO] = 0.0  # Newton ends at a root of 0 in denormal numbers
    roots = np.where(roots.imag < 0.0, roots.conj(), roots)
    flat = roots.real.astype(complex)
    value, terms = _value(p, q, flat)
    real = (np.abs(roots.imag) <= _CLUSTER * np.abs(roots)) & (np.abs(value) <= _MULTIPLE * terms)
    upper = _merged(p, q, np.where(real, flat, roots))
    return _ordered(np.concatenate([upper, upper[upper.imag > 0.0].conj()]))


def _chain_starts(q: Floats, points: int) -> Complexes:
    """Starts far left, where z^n + q0 z^m exp(-z) = 0 nearly and the eigenvalues lose digits."""
    from scipy.special import lambertw

    first = int(np.flatnonzero(q)[0])
    excess = first + 1  # n - m
    turns = np.exp(2j * np.pi * np.arange(excess) / excess)
    factors = turns * complex(-q[first]) ** (1.0 / excess) / excess
    branches = np.arange(-points // 2, points // 2 + 1)
    chain = excess * lambertw(factors[:, None], branches[None, :]).ravel()
    return np.asarray(chain.real + 1j * np.abs(chain.imag), dtype=complex)


def _generator(p: Floats, q: Floats, points: int) -> Floats:
    """Discretised generator, shape (n (points + 1),) * 2, of the companion form, delay = 1."""
    order = p.size - 1
    _, differentiate = chebyshev(points)
    matrix = np.kron(2.0 * differentiate, np.eye(order))
    matrix[:order] = 0.0
    matrix[:order, :order] = np.eye(order, k=-1)
    matrix[0, :order] = -p[1:]
    matrix[0, -order:] = -q
    return np.asarray(matrix, dtype=float)


def _newton(p: Floats, q: Floats, starts: Complexes) -> Complexes:
    """Polish the starts on p(z) + q(z) exp(-z) together."""
    z = starts.copy()
    dp, dq = _derivative(p, q)
    with np.errstate(all="ignore"):
        for _ in range(60):
            step = _value(p, q, z)[0] / _value(dp, dq, z)[0]
            step = np.where(np.isfinite(step), step, 0.0)
            z = z - step
            if np.all(np.abs(step) <= 2 * _EPS * np.abs(z)):
                break
    return z


def _merged(p: Floats, q: Floats, roots: Complexes) -> Complexes:
    """Each distinct root once, a multiple root as often as its multiplicity."""
    merged: list[complex] = []
    remaining = sorted(roots.tolist(), key=lambda z: (z.real, z.imag))
    while remaining:
        seed = remaining[0]
        cluster = [z for z in remaining if abs(z - seed) <= _CLUSTER * abs(seed) + _ZERO]
        remaining = [z for z in remaining if abs(z - seed) > _CLUSTER * abs(seed) + _ZERO]
        merged += _multiple_root(p, q, cluster) or _distinct(p, q, cluster)
    return np.array(merged, dtype=complex)


def _multiple_root(p: Floats, q: Floats, cluster: list[complex]) -> list[complex]:
    """Try the cluster as one multiple root: a simple root of the derivative one order lower."""
    chain = [(p, q)]
    while len(chain) < min(len(cluster), p.size + q.size):
        chain.append(_derivative(*chain[-1]))
    centre = complex(np.mean(cluster))
    for multiplicity in range(len(chain), 1, -1):
        root = _newton(*chain[multiplicity - 1], np.array([centre]))
        if abs(root.item() - centre) > _CLUSTER * (abs(centre) + _CLUSTER):
            continue
        pairs = [_value(*chain[k], root) for k in range(multiplicity)]
        if all(abs(value.item()) <= _MULTIPLE * terms.item() for value, terms in pairs):
            return [root.item()] * multiplicity
    return []


def _distinct(p: Floats, q: Floats, cluster: list[complex]) -> list[complex]:
    """Drop the copies of a simple root, told apart by the rounding error of each."""
    distinct: list[complex] = []
    slope = _derivative(p, q)
    for z in cluster:
        point = np.array([z])
        noise = 1e3 * _EPS * _value(p, q, point)[1].item()
        error = noise / max(abs(_value(*slope, point)[0].item()), 1e-300) + 1e-12 * abs(z)
        if all(abs(z - neighbour) > error for neighbour in distinct):
            distinct.append(z)
    return distinct


def _value(p: Floats, q: Floats, z: Complexes) -> tuple[Complexes, Floats]:
    """p(z) + q(z) exp(-z), and the sum of the moduli of its terms."""
    decay, size = np.exp(-z), np.abs(z)
    value = np.polyval(p, z) + np.polyval(q, z) * decay
    terms = np.polyval(np.abs(p), size) + np.polyval(np.abs(q), size) * np.abs(decay)
    return np.asarray(value, dtype=complex), np.asarray(terms, dtype=float)


def _derivative(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Coefficients of the derivative of p(z) + q(z) exp(-z), again in that form."""
    by_s = np.polysub(np.polyder(q), q)
    return np.asarray(np.polyder(p), dtype=float), np.asarray(by_s, dtype=float)


def _modulus_bound(p: Floats, q: Floats, abscissa: float) -> float:
    """Bound on the modulus of all roots to the right of ``abscissa``, after Cauchy."""
    bound = np.abs(p[1:]) + np.abs(q) * np.exp(min(-abscissa, 600.0))
    return min(float(np.max(np.roots(np.concatenate([[1.0], -bound])).real)), 1e6)


def _ordered(roots: Complexes) -> Complexes:
    return roots[np.lexsort((-roots.imag, np.abs(roots.imag), -roots.real))]


_TURN = 0.5  # largest phase step between two samples, rad
_MOST = 2_000_000
_TOUCH = 1e-6  # relative imaginary part of w^2 up to which a crossing counts as (a touching) one
_ON_AXIS = 1e-12  # relative real part up to which a delay-free root counts as on the axis


class Crossing(Struct):
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


class DelayMargin(Struct):
    """The smallest delay at which the loop, stable without delay, reaches the imaginary axis.

    Parameters
    ----------
    delay
        That delay, s; ``inf`` when no delay does it, 0 when the delay-free loop is not stable.
    additional
        Remainder of it beyond the delay the loop already has, s; negative when used up.
    frequency
        Angular frequency of the oscillation at the margin, rad/s; ``nan`` when there is none.
    """

    delay: float
    additional: float
    frequency: float

    def __repr__(self) -> str:
        at = f", oscillation at {self.frequency:.6g} rad/s" if np.isfinite(self.frequency) else ""
        return f"DelayMargin {self.delay * 1e3:.6g} ms, {self.additional * 1e3:.6g} ms left{at}"


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

    p: Floats
    q: Floats
    delay: float

    def __init__(self, p: ArrayLike, q: ArrayLike, delay: float) -> None:
        problems: list[str] = []
        for name, coefficients in (("p", p), ("q", q)):
            array = np.asarray(coefficients, dtype=float)
            if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
                problems.append(
                    f"quasi-polynomial: {name} must be a vector of finite coefficients, "
                    f"got {coefficients!r}"
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

    def __call__(self, s: ArrayLike) -> Complexes:
        """Evaluate at complex s, any shape, 1/s."""
        at = np.asarray(s, dtype=complex)
        value = np.polyval(self.p, at) + np.polyval(self.q, at) * np.exp(-at * self.delay)
        return np.asarray(value)

    def rightmost_roots(self, count: int = 2) -> Complexes:
        """Find the ``count`` rightmost roots.

        Parameters
        ----------
        count
            Number of roots; each of a conjugate pair counts, a root of multiplicity k counts k
            times.

        Returns
        -------
        numpy.ndarray
            Shape (count,), 1/s, by falling real part, of a pair the one with positive imaginary
            part first. Fewer when the loop has only finitely many roots (no delay or no feedback).

        Raises
        ------
        DescriptionError
            The delay is so long against the loop's time scale that the grid would be too large.
        """
        p, q, delay = self.p, self.q, self.delay
        if delay == 0.0 or not np.any(q):
            # A finite spectrum: polynomial roots, multiple ones included.
            return _ordered(np.roots(np.polyadd(p, q)).astype(complex))[:count]
        order = p.size - 1
        powers = delay ** np.arange(order + 1)
        pz = p / p[0] * powers
        qz = np.concatenate([np.zeros(order - q.size), q]) / p[0] * powers[1:]
        points = 16 + count
        while order * (points + 1) <= _LARGEST:
            roots = _roots_on_grid(pz, qz, points)
            needed = 2 * points
            if roots.size >= count:
                needed = 16 + int(0.7 * _modulus_bound(pz, qz, roots[count - 1].real))
                if points >= needed:
                    return roots[:count] / delay
            points = max(needed, points + 1)
        raise DescriptionError(
            f"the {count} rightmost roots at a delay of {delay:g} s would need more than {_LARGEST}"
            " unknowns: the delay is very long against the loop's time scale; ask for fewer roots"
            " or use crossings(), which has no such limit"
        )

    def roots_right_of(self, abscissa: float) -> int:
        """Count the roots with real part above ``abscissa``, 1/s, by the argument principle.

        Raises
        ------
        DescriptionError
            A root lies on the line, or so close that the phase cannot be followed past it.
        """
        p, q = self.p, self.q
        order = p.size - 1
        sizes = np.abs(p) / abs(p[0])
        sizes[order + 1 - q.size :] += np.abs(q) / abs(p[0]) * np.exp(-abscissa * self.delay)
        # Beyond `reach` the terms below s^n are at most a quarter of it.
        reach = float(np.max(np.roots(np.concatenate([[0.25], -sizes[1:]])).real)) + abs(abscissa)
        reach = max(reach, 1e-9)
        shift = 0.05 * reach / order
        reach *= 2.0

        def ratio(omega: Floats) -> Complexes:
            s = abscissa + 1j * omega
            return np.asarray(self(s) / (p[0] * (shift + 1j * omega) ** order))

        omega = np.linspace(0.0, reach, 256 + int(8 * reach * self.delay))
        values = ratio(omega)
        while True:
            if np.any(values == 0.0) or omega.size > _MOST:
                raise DescriptionError(
                    f"a root lies on or next to the line of real part {abscissa:g} 1/s, so the"
                    " roots to its right cannot be counted; move the line a little"
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
        crossings: list[Crossing] = []
        for square in np.roots(gap):
            if square.real <= 0.0 or abs(square.imag) > _TOUCH * abs(square):
                continue
            omega = float(np.sqrt(square.real))
            if any(abs(omega - neighbour.frequency) <= _TOUCH * omega for neighbour in crossings):
                continue
            size = float(np.polyval(np.abs(slope), square.real))
            tilt = float(np.polyval(slope, square.real)) / size
            direction = 0 if abs(tilt) <= _TOUCH else int(np.sign(tilt))
            ratio = -np.polyval(self.p, 1j * omega) / np.polyval(self.q, 1j * omega)
            phase = float(-np.angle(ratio) % (2.0 * np.pi))
            if phase > 2.0 * np.pi - _ON_AXIS:
                phase = 0.0
            crossings.append(Crossing(omega, phase / omega, direction))
        return tuple(sorted(crossings, key=lambda crossing: crossing.first_delay))

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


def _trimmed(coefficients: Floats) -> Floats:
    """Drop leading zeros, keep at least one coefficient, and make the array read-only."""
    start = min(int(np.argmax(coefficients != 0.0)), coefficients.size - 1)
    trimmed = coefficients[start:].copy() if np.any(coefficients) else np.zeros(1)
    trimmed.setflags(write=False)
    return trimmed


def _squared_modulus(coefficients: Floats) -> Floats:
    """Coefficients, highest power first, of |p(jw)|^2 as a polynomial in w^2."""
    degree = coefficients.size - 1
    signs = (-1.0) ** np.arange(degree, -1, -1)
    in_s = np.convolve(coefficients, coefficients * signs)[::2]  # even powers of s only
    return np.asarray(in_s * (-1.0) ** np.arange(degree, -1, -1))
