"""Multipliers: eigenvalues of the map of one period, and how well they are known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.loops.matrix_functions import balanced
from orchestrator.loops.state_space import Floats

if TYPE_CHECKING:
    from scipy.sparse import csc_array


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


Complex = NDArray[np.complex128]

#: Powers that are tried, one after the other.
_POWERS = (64, 256)
#: Multipliers that are looked for beside those that are wanted: free motions, conjugates.
_SPARE = 10
_RESTARTS = 15
_TOLERANCE = 1e-8
#: Refinements, and what is left of a residual then, as a share of the matrix.
_REFINED = 3
_RESIDUAL = 1e-9
_SEED = 7


def large_multipliers(matrix: csc_array, count: int) -> Multipliers:
    """Return the multipliers of largest modulus, at least ``count`` of them if there are as many.

    Parameters
    ----------
    matrix
        Of one period, float64 of shape (n, n), n well above ``count``.
    count
        How many are wanted, each of a conjugate pair counted.

    Raises
    ------
    CapabilityError
        If they do not converge.
    """
    from scipy.sparse.linalg import norm

    space = _space(matrix, count + _SPARE)
    guesses, small = np.linalg.eig(space.conj().T @ (matrix @ space))
    size = float(norm(matrix))
    found: list[tuple[complex, float, bool]] = []
    for guess, vector in zip(guesses, small.T, strict=True):
        if guess.imag < -1e-14 * abs(guess):
            continue  # its conjugate is found
        one = _refined(matrix, size, complex(guess), space @ vector)
        found.append(one)
        if guess.imag > 1e-14 * abs(guess):
            found.append((one[0].conjugate(), *one[1:]))
    found.sort(key=lambda one: -abs(one[0]))
    wanted = found[:count]
    if unknown := sum(not known for *_, known in wanted):
        raise CapabilityError(
            f"the modes of {matrix.shape[0]} numbers did not converge: {unknown} of {len(wanted)}"
            " are not known"
        )
    return Multipliers(
        np.array([value for value, *_ in wanted], dtype=np.complex128),
        np.array([bound for _, bound, _ in wanted]),
    )


def _refined(
    matrix: csc_array, size: float, value: complex, right: Complex
) -> tuple[complex, float, bool]:
    """Return a multiplier to its last digits, its uncertainty, and whether it is one."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    n = matrix.shape[0]
    off = value + 2.0 * _EPS * max(size, abs(value))  # singular to the bit it is no longer
    shifted = splu(matrix.astype(np.complex128) - off * identity(n, format="csc"))
    for _ in range(_REFINED):
        right = shifted.solve(right)
        right /= np.linalg.norm(right)
    value = complex(np.vdot(right, matrix @ right))
    known = bool(np.linalg.norm(matrix @ right - value * right) <= _RESIDUAL * size)
    if abs(value - 1.0) > NEAR:
        return value, math.nan, known
    left = right
    for _ in range(2):
        left = shifted.solve(left, trans="H")
        left /= np.linalg.norm(left)
    return value, _EPS * size / max(float(abs(np.vdot(left, right))), _TINY), known


def _space(matrix: csc_array, count: int) -> Complex:
    """Return an orthonormal basis of the space of the largest multipliers, (n, count)."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

    rows = matrix.tocsr()
    n = rows.shape[0]
    begin = np.random.default_rng(_SEED).uniform(-1.0, 1.0, n)
    for power in _POWERS:

        def apply(vector: Any, power: int = power) -> Any:
            for _ in range(power):
                vector = rows @ vector
            return vector

        operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
        try:
            _, vectors = eigs(
                operator,
                k=count,
                ncv=min(n - 1, 3 * count),
                v0=begin,
                maxiter=_RESTARTS,
                tol=_TOLERANCE,
            )
        except ArpackNoConvergence:
            continue
        basis, _ = np.linalg.qr(vectors)
        return np.asarray(basis, dtype=np.complex128)
    raise CapabilityError(f"the modes of {n} numbers did not converge: too many are equally damped")
