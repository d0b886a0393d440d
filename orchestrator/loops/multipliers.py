"""Multipliers of one period: eigenvalues of its map, and what a run remembers between two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.rows import CompensationMethod
from orchestrator.core.structs import Struct
from orchestrator.engine import EngineState
from orchestrator.loops.state_space import Floats, UnitModel, balanced

if TYPE_CHECKING:
    from scipy.sparse import csc_array


#: Multipliers that are no further from 1 may be those of free motions.
NEAR = 1e-3
_TINY = float(np.finfo(np.float64).tiny)
_EPS = float(np.finfo(np.float64).eps)


class Multipliers(Struct):
    """Eigenvalues of one period.

    values: complex128, the largest modulus first.
    uncertainty: How far rounding may have moved those near 1: large for a multiple one, as bodies
        have that float together. NaN for those further from 1 than ``NEAR``.
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


def lasting_numbers(matrix: Floats, into: Floats, out_of: Floats) -> NDArray[np.intp]:
    """Return the numbers that something is put into, and that something comes out of again.

    All others are overwritten before they are read, or stay what they are: what is remembered from
    period to period does not have them.

    rest: Map of a period, float64 of shape (n, n).
    into, out_of: What is put in from outside, shape (n, p), and comes out of it, shape (p, n).
    """
    moves, put, read = matrix != 0.0, (into != 0.0).any(axis=1), (out_of != 0.0).any(axis=0)
    indices = np.arange(len(matrix))
    while True:
        inner = moves[np.ix_(indices, indices)]
        matters = (inner.any(axis=0) | read[indices]) & (inner.any(axis=1) | put[indices])
        if matters.all():
            return indices
        indices = indices[matters]


def _cosine(matrix: Floats, value: complex, right: NDArray[np.complex128]) -> float:
    """Return the cosine between both eigenvectors of an eigenvalue, by inverse iteration."""
    size = float(np.linalg.norm(matrix))
    off = 2.0 * _EPS * max(size, abs(value))  # what is singular to the bit is so no longer
    while True:
        shifted = matrix.T - (value + off) * np.eye(matrix.shape[0])
        left_vector = np.asarray(right.conj(), dtype=np.complex128)
        try:
            for _ in range(2):
                left_vector = np.asarray(np.linalg.solve(shifted, left_vector), dtype=np.complex128)
                left_vector /= np.linalg.norm(left_vector)
        except np.linalg.LinAlgError:
            off *= 3.0  # another one is there
            continue
        return float(np.abs(left_vector @ right) / np.linalg.norm(right))


Complex = NDArray[np.complex128]

#: Powers that are tried, one after the other.
_POWERS = (64, 256)
#: Additional multipliers in each search: free motions, conjugates.
_SPARE = 10
_RESTARTS = 15
_TOLERANCE = 1e-8
#: Refinements, and what is left of a residual then, as a share of the matrix.
_REFINED = 3
_RESIDUAL = 1e-9
_SEED = 7


def large_multipliers(matrix: csc_array, count: int) -> Multipliers:
    """Return the multipliers of largest modulus, at least ``count`` of them if there are as many.

    matrix: Of one period, float64 of shape (n, n), n well above ``count``.
    count: How many are wanted, each of a conjugate pair counted.
    Raises CapabilityError: if they do not converge.
    """
    from scipy.sparse.linalg import norm

    space = _space(matrix, count + _SPARE)
    guesses, small = np.linalg.eig(space.conj().T @ (matrix @ space))
    size = float(norm(matrix))
    candidates: list[tuple[complex, float, bool]] = []
    for guess, vector in zip(guesses, small.T, strict=True):
        if guess.imag < -1e-14 * abs(guess):
            continue  # its conjugate is found
        refined = _refined(matrix, size, complex(guess), space @ vector)
        candidates.append(refined)
        if guess.imag > 1e-14 * abs(guess):
            candidates.append((refined[0].conjugate(), *refined[1:]))
    candidates.sort(key=lambda refined: -abs(refined[0]))
    largest = candidates[:count]
    if unknown := sum(not converged for *_, converged in largest):
        raise CapabilityError(
            f"the modes of {matrix.shape[0]} numbers did not converge: {unknown} of {len(largest)}"
            " are not known"
        )
    return Multipliers(
        np.array([value for value, *_ in largest], dtype=np.complex128),
        np.array([bound for _, bound, _ in largest]),
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
    converged = bool(np.linalg.norm(matrix @ right - value * right) <= _RESIDUAL * size)
    if abs(value - 1.0) > NEAR:
        return value, math.nan, converged
    left_vector = right
    for _ in range(2):
        left_vector = shifted.solve(left_vector, trans="H")
        left_vector /= np.linalg.norm(left_vector)
    return value, _EPS * size / max(float(abs(np.vdot(left_vector, right))), _TINY), converged


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


class MemoryKind(Enum):
    """Where a number is remembered."""

    STATE = auto()
    OUTPUT = auto()
    SIGNAL = auto()
    SAMPLE = auto()
    SMOOTHED = auto()
    AT_BEGIN = auto()
    STEP_BEFORE = auto()


class Number(Struct):
    """One number of the state of a run, and the components that it belongs to.

    owners: The component; of samples, also their readers.
    kind, label: Where it is remembered, and its name.
    age, depth: Of a sample: how many were taken after it, and how many are kept.
    """

    owners: frozenset[str]
    kind: MemoryKind
    label: str
    age: int = 0
    depth: int = 0


def numbers_of(
    schedule: Schedule, models: Mapping[str, UnitModel], sizes: Sequence[int]
) -> Iterator[Number | None]:
    """Give the numbers in the order in which :class:`PeriodMap` reads them; ``None``: of no use."""
    for member, size in zip(schedule.members, sizes, strict=True):
        owner = frozenset({member.name})
        states = models[member.name].states
        yield from (Number(owner, MemoryKind.STATE, label) for label in states)
        for i in range(size - len(states)):
            yield Number(owner, MemoryKind.OUTPUT, f"{member.name}: output {i + 1}")
    owners = _owners_of_signals(schedule)
    for kind, numbers in (
        (MemoryKind.SIGNAL, "signal"),
        (MemoryKind.AT_BEGIN, "signal at the begin"),
        (MemoryKind.STEP_BEFORE, "signal a step before"),
    ):
        for i, name in enumerate(owners):
            label = f"{name}: {numbers} {i}"
            yield None if name is None else Number(frozenset({name}), kind, label)
        if kind is MemoryKind.SIGNAL:
            yield from _samples(schedule, owners)


def _samples(schedule: Schedule, owners: Sequence[str | None]) -> Iterator[Number | None]:
    readers: dict[int, set[str]] = {}
    for row in schedule.reads:
        if (reader := owners[row.target]) is not None:
            readers.setdefault(row.history, set()).add(reader)
    for history, past in enumerate(schedule.histories):
        owner = owners[past.slot]
        names = frozenset() if owner is None else frozenset({owner, *readers.get(history, ())})
        count = max(past.depth, 2)
        for age in range(count):
            label = f"{owner}: sample {age} back of line {history}"
            yield Number(names, MemoryKind.SAMPLE, label, age, count)
        # What the receiver holds (of varying delays only), its draw, and where a smoothed
        # reading began and ended.
        yield None
        yield None
        smoothed = Number(names, MemoryKind.SMOOTHED, f"{owner}: smoothed line {history}")
        yield from (smoothed, smoothed)


def _owners_of_signals(schedule: Schedule) -> list[str | None]:
    owners: list[str | None] = [None] * schedule.signals
    for member in schedule.members:
        for first, size in (
            (member.input_offset, member.input_size),
            (member.output_offset, member.output_size),
        ):
            owners[first : first + size] = [member.name] * size
    for row in schedule.compensations:
        if row.method is CompensationMethod.DIRECT_RESPONSE:
            continue  # it keeps nothing
        owners[row.memory : row.memory + row.numbers] = [owners[row.target]] * row.numbers
    return owners


def newest_samples(schedule: Schedule, state: EngineState) -> list[int]:
    """Return the number of the newest sample of each history."""
    numbers, at = [], 0
    for row in schedule.histories:
        numbers.append(int(state.marks[at]))
        at += 10 + max(row.depth, 2) * (1 if row.channel < 0 else 2)
    return numbers


def places_by_age(schedule: Schedule, newest: Sequence[int], size: int) -> NDArray[np.intp]:
    """Return where the samples of all histories are, from the newest to the oldest of each."""
    indices: list[int] = []
    at = 0
    for row, last in zip(schedule.histories, newest, strict=True):
        count = max(row.depth, 2)
        indices += [at + (last - age) % count for age in range(count)]
        indices += range(at + count, at + count + 4)
        at += count + 4
    if at != size:
        raise AssertionError(f"histories of {at} numbers, of which the engine keeps {size}")
    return np.array(indices, dtype=np.intp)
