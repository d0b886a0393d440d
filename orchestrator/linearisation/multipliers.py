"""Multipliers: eigenvalues of the map of one period, and how well they are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig, matrix_balance

from orchestrator.linearisation.state_space import Floats


@dataclass(frozen=True)
class Multipliers:
    """Eigenvalues of one period.

    Parameters
    ----------
    values
        complex128, the largest modulus first.
    uncertainty
        How far rounding may have moved each of them: large for a multiple one, as bodies have that
        float together.
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
    balanced = matrix_balance(matrix, permute=False)[0]
    values, left, right = eig(balanced, left=True, right=True)
    cosines = np.abs(np.sum(left.conj() * right, axis=0))
    error = np.finfo(np.float64).eps * np.linalg.norm(balanced)
    bounds = error / np.maximum(cosines, np.finfo(np.float64).tiny)
    order = np.argsort(-np.abs(values), kind="stable")
    return Multipliers(values[order].astype(np.complex128), bounds[order])
