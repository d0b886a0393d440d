"""Functions of small matrices with numpy alone.

SciPy has them as well, and importing it takes longer than the whole account of a run's loops: what
every run computes is computed here.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TERMS = 18  # of the series, which at a norm of 1/2 ends below rounding
_NODES = 14  # of the quadrature, likewise for eigenvalues no further from 1 than below
_SMALL = 0.5
_LARGE = 16.0
_SWEEPS = 12


def exponential(matrix: Floats) -> Floats:
    """Return the exponential of a matrix, float64 of shape (n, n).

    By its series for a share of the matrix, squared again (Moler, Van Loan: Nineteen dubious ways
    to compute the exponential of a matrix, SIAM Review 45 (2003), method 3); by SciPy where it
    would be squared so often that digits are lost.
    """
    size = float(np.abs(matrix).sum(axis=0).max(initial=0.0))
    if size > _LARGE:
        from scipy.linalg import expm

        return np.asarray(expm(matrix), dtype=np.float64)
    halvings = max(0, math.frexp(size)[1] + 1)
    share = matrix / 2.0**halvings
    term = whole = np.eye(matrix.shape[0])
    for order in range(1, _TERMS + 1):
        term = term @ share / order
        whole = whole + term
    for _ in range(halvings):
        whole = whole @ whole
    return whole


def logarithm(matrix: Floats) -> Floats:
    """Return the principal logarithm of a matrix, float64 of shape (n, n).

    Where its eigenvalues are near 1 by quadrature of its integral, which is its diagonal Pade
    approximation (Dieci, Morini, Papini, SIAM J. Matrix Anal. Appl. 17 (1996), theorem 4.3), else
    by SciPy.
    """
    identity = np.eye(matrix.shape[0])
    away = matrix - identity
    if np.abs(np.linalg.eigvals(away)).max(initial=0.0) > _SMALL:
        from scipy.linalg import logm

        return np.asarray(np.real(logm(matrix)), dtype=np.float64)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    found = np.zeros_like(away)
    for node, weight in zip(0.5 + 0.5 * nodes, 0.5 * weights, strict=True):
        found += weight * np.linalg.solve(identity + node * away, away)
    return found


def balanced(matrix: Floats) -> Floats:
    """Return a matrix with its numbers scaled by powers of two until rows and columns weigh alike.

    Its eigenvalues stay (Parlett, Reinsch, Numer. Math. 13 (1969), 293-304; sums of squares, as in
    LAPACK's gebal).
    """
    own = np.diag(np.diag(matrix))
    others = matrix - own
    for _ in range(_SWEEPS):
        changed = False
        for i in range(matrix.shape[0]):
            column = float(others[:, i] @ others[:, i])
            row = float(others[i] @ others[i])
            if column <= 0.0 or row <= 0.0:
                continue
            factor = 2.0 ** round(0.25 * math.log2(row / column))
            if column * factor * factor + row / (factor * factor) < 0.9 * (column + row):
                others[:, i] *= factor
                others[i] /= factor
                changed = True
        if not changed:
            break
    return np.asarray(others + own, dtype=np.float64)
