"""Multipliers: eigenvalues of the map of one period, and how well they are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orchestrator.loops.matrix_functions import balanced
from orchestrator.loops.state_space import Floats

#: Multipliers that are no further from 1 may be those of free motions.
NEAR = 1e-3
_TINY = float(np.finfo(np.float64).tiny)
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Multipliers:
    """Eigenvalues of one period.

    Parameters
    ----------
    values
        complex128, the largest modulus first.
    uncertainty
        How far rounding may have moved those near 1: large for a multiple one, as bodies have that
        float together. NaN for those further from 1 than ``NEAR``.
    """

    values: NDArray[np.complex128]
    uncertainty: Floats


def multipliers(matrix: Floats) -> Multipliers:
    """Return the eigenvalues of a map with their first-order error bounds.

    The bound is the rounding error of the balanced matrix over the cosine between left and right
    eigenvector (Golub, Van Loan: Matrix Computations, 4th ed., 7.2.2).
    """
    if not matrix.size:
        return Multipliers(np.zeros(0, dtype=np.complex128), np.zeros(0))
    even = balanced(matrix)
    values, right = np.linalg.eig(even)
    error = _EPS * float(np.linalg.norm(even))
    bounds = np.full(values.size, np.nan)
    for i in np.flatnonzero(np.abs(values - 1.0) <= NEAR):
        bounds[i] = error / max(_cosine(even, complex(values[i]), right[:, i]), _TINY)
    order = np.argsort(-np.abs(values), kind="stable")
    return Multipliers(values[order].astype(np.complex128), bounds[order])


def _cosine(matrix: Floats, value: complex, right: NDArray[np.complex128]) -> float:
    """Return the cosine between both eigenvectors of an eigenvalue, by inverse iteration."""
    size = float(np.linalg.norm(matrix))
    off = 2.0 * _EPS * max(size, abs(value))  # what is singular to the bit is so no longer
    while True:
        shifted = matrix.T - (value + off) * np.eye(matrix.shape[0])
        left = np.asarray(right.conj(), dtype=np.complex128)
        try:
            for _ in range(2):
                left = np.asarray(np.linalg.solve(shifted, left), dtype=np.complex128)
                left /= np.linalg.norm(left)
        except np.linalg.LinAlgError:
            off *= 3.0  # another one is there
            continue
        return float(np.abs(left @ right) / np.linalg.norm(right))
