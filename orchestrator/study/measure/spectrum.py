"""Spectrum: the rightmost characteristic roots of a linear loop with one delay.

The infinitesimal generator of the delay equation is discretised on Chebyshev points, its
eigenvalues start Newton's method on the quasi-polynomial itself, and every root is accepted by its
residual. The number of points follows from a bound on the modulus of the wanted roots, so no root
to the right of the last returned one is out of the grid's reach.

References
----------
Breda, Maset, Vermiglio: Pseudospectral differencing methods for characteristic roots of delay
differential equations, SIAM J. Sci. Comput. 27 (2005), 482-495: discretised generator. Changed:
time is counted in delays, and more starting points are added: the roots of the delay-free loop,
and for the chain of roots far left the branches of Lambert's W function.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError

_EPS = float(np.finfo(float).eps)
_RESIDUAL = 1e-12  # accepted |f| relative to the sum of the moduli of its terms
_MULTIPLE = 256 * _EPS  # the same for f and its derivatives at a multiple root
_ZERO = 1e-14  # modulus, at delay 1, below which a root is 0
_CLUSTER = 1e-3  # relative distance within which roots may be one multiple root
_LEFTMOST = -300.0  # in 1/delay: further left the exponential overflows
_LARGEST = 1600  # matrix size beyond which the eigenvalues take many seconds

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


def rightmost_roots(p: Floats, q: Floats, delay: float, count: int) -> Complexes:
    """Find the ``count`` rightmost roots of p(s) + q(s) exp(-s delay).

    p, q: Coefficients, highest power first, shapes (n + 1,) and (m + 1,) with m < n, units 1/s^k.
    delay: Delay, s.
    count: Number of roots; each of a conjugate pair counts, a root of multiplicity k counts k
        times.
    Returns: Shape (count,), 1/s, by falling real part, of a pair the one with positive imaginary
        part first. Fewer when the loop has only finitely many roots (no delay or no feedback).
    Raises DescriptionError: the delay is so long against the loop's time scale that the grid would
        be too large.
    """
    if delay == 0.0 or not np.any(q):
        # A finite spectrum: polynomial roots, multiple ones included.
        return _ordered(np.roots(np.polyadd(p, q)).astype(complex))[:count]
    order = p.size - 1
    powers = delay ** np.arange(order + 1)
    pz = p / p[0] * powers
    qz = np.concatenate([np.zeros(order - q.size), q]) / p[0] * powers[1:]
    points = 16 + count
    while order * (points + 1) <= _LARGEST:
        found = _roots_on_grid(pz, qz, points)
        needed = 2 * points
        if found.size >= count:
            needed = 16 + int(0.7 * _modulus_bound(pz, qz, found[count - 1].real))
            if points >= needed:
                return found[:count] / delay
        points = max(needed, points + 1)
    raise DescriptionError(
        f"the {count} rightmost roots at a delay of {delay:g} s would need more than {_LARGEST} "
        "unknowns: the delay is very long against the loop's time scale; ask for fewer roots or "
        "use crossings(), which has no such limit"
    )


def _roots_on_grid(p: Floats, q: Floats, points: int) -> Complexes:
    """Roots (delay = 1) reached from the eigenvalues on ``points`` + 1 Chebyshev points."""
    free, chain = np.roots(np.polyadd(p, q)), _chain_starts(q, points)
    starts = np.concatenate([np.linalg.eigvals(_generator(p, q, points)), free, chain])
    roots = starts[(starts.imag >= 0.0) & (starts.real > _LEFTMOST)].astype(complex)
    for _ in range(2):  # the second time for those that had strayed and came late
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
    angle = np.pi * np.arange(points + 1) / points
    nodes = np.cos(angle)
    weights = np.where((angle == 0.0) | (np.arange(points + 1) == points), 2.0, 1.0)
    weights *= (-1.0) ** np.arange(points + 1)
    gap = nodes[:, None] - nodes[None, :] + np.eye(points + 1)
    differentiate = np.outer(weights, 1.0 / weights) / gap
    differentiate -= np.diag(differentiate.sum(axis=1))
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
    left = sorted(roots.tolist(), key=lambda z: (z.real, z.imag))
    while left:
        seed = left[0]
        cluster = [z for z in left if abs(z - seed) <= _CLUSTER * abs(seed) + _ZERO]
        left = [z for z in left if abs(z - seed) > _CLUSTER * abs(seed) + _ZERO]
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
    kept: list[complex] = []
    slope = _derivative(p, q)
    for z in cluster:
        point = np.array([z])
        noise = 1e3 * _EPS * _value(p, q, point)[1].item()
        error = noise / max(abs(_value(*slope, point)[0].item()), 1e-300) + 1e-12 * abs(z)
        if all(abs(z - other) > error for other in kept):
            kept.append(z)
    return kept


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
