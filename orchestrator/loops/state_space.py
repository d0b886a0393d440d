"""State space: a linear model x' = A x + B u, y = C x + D u of a component at one point.

SciPy has functions of matrices as well, and importing it takes longer than the whole account of a
run's loops: what every run computes is computed here.
"""

from __future__ import annotations

import math
import warnings
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import counted
from orchestrator.core.structs import Struct

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
    term = total = np.eye(matrix.shape[0])
    for order in range(1, _TERMS + 1):
        term = term @ share / order
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


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

        with warnings.catch_warnings():  # how exact it is, :func:`of_transition` looks at itself
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.asarray(np.real(logm(matrix)), dtype=np.float64)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    total = np.zeros_like(away)
    for node, weight in zip(0.5 + 0.5 * nodes, 0.5 * weights, strict=True):
        total += weight * np.linalg.solve(identity + node * away, away)
    return total


def balanced(matrix: Floats) -> Floats:
    """Return a matrix with its numbers scaled by powers of two until rows and columns weigh alike.

    Its eigenvalues stay (Parlett, Reinsch, Numer. Math. 13 (1969), 293-304; sums of squares, as in
    LAPACK's gebal).
    """
    diagonal = np.diag(np.diag(matrix))
    others = matrix - diagonal
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
    return np.asarray(others + diagonal, dtype=np.float64)


#: How well a step must come out of the rates that were found for it, as a share of its numbers.
_RATES = 1e-6


class StateSpace(Struct):
    """A linear system in continuous time, of deviations from the point it was made at.

    Parameters
    ----------
    a, b, c, d
        float64 of shapes (n, n), (n, m), (p, n) and (p, m). SciPy's ``signal.StateSpace(a, b, c,
        d)`` and python-control's ``ss(a, b, c, d)`` take them as they are.
    states, inputs, outputs
        Names, ``component.connector``, with the index behind for elements of arrays.
    """

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __repr__(self) -> str:
        n, m = self.b.shape
        counts = (counted(n, "state"), counted(m, "input"), counted(len(self.outputs), "output"))
        return f"StateSpace: {', '.join(counts)}"

    def transition(self, step: float, *, order: int) -> Floats:
        """Return what takes (x, u) to (x, y) after a step over which the inputs are polynomials.

        Parameters
        ----------
        step
            Length in seconds.
        order
            Of the highest derivative of the inputs; derivatives stand behind them, order after
            order: with 2 it takes (x, u, u', u'').

        Returns
        -------
        float64 of shape (n + p, n + (1 + order) m)
            Exact: the exponential of the model with its inputs as states.
        """
        n, m = self.b.shape
        columns = (1 + order) * m
        matrix = np.zeros((n + columns, n + columns))
        matrix[:n, :n], matrix[:n, n : n + m] = self.a, self.b
        matrix[n : n + columns - m, n + m :] = np.eye(columns - m)
        after = exponential(matrix * step)
        return np.vstack([after[:n], self.c @ after[:n] + self.d @ after[n : n + m]])


def of_transition(
    matrix: Floats,
    step: float,
    states: tuple[str, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> StateSpace | None:
    """Find the continuous model that has these steps while its inputs are held.

    whole: Takes (x, u) to (x, y) after a step, float64 of shape (n + p, n + m).
    step: Length of the step in seconds.
    states, inputs, outputs: Names of x, u and y.
    Returns: None where no rates give these steps: a state that jumps to zero or changes its sign.
    """
    n, m = len(states), len(inputs)
    if n == 0:
        empty = np.zeros((0, 0))
        return StateSpace(
            empty, np.zeros((0, m)), np.zeros((len(outputs), 0)), matrix, states, inputs, outputs
        )
    roots = np.linalg.eigvals(matrix[:n, :n])
    if np.any((roots.imag == 0.0) & (roots.real <= 0.0)):
        return None
    moves = np.eye(n + m)
    moves[:n] = matrix[:n]
    rates = logarithm(moves) / step
    if np.abs(exponential(rates * step) - moves).max(initial=0.0) > _RATES * np.abs(moves).max():
        return None
    # Outputs are those of the end of a step, of which its begin and its inputs are known.
    c = np.asarray(np.linalg.solve(moves[:n, :n].T, matrix[n:, :n].T).T, dtype=np.float64)
    d = matrix[n:, n:] - c @ moves[:n, n:]
    return StateSpace(rates[:n, :n], rates[:n, n:], c, d, states, inputs, outputs)


class StepTransition(Protocol):
    """What one step of a component does."""

    def __call__(self, step_ns: int, /, *, order: int) -> Floats:
        """Return what takes (states, inputs, their derivatives) to (states, outputs)."""


class UnitModel(Struct):
    """What a component does to small changes, at the point where it was linearised.

    Parameters
    ----------
    name, method
        The component, and how the model was found: ``model exchange``, ``differences``,
        ``responses``.
    states
        Names of the states of the transitions.
    transition
        Its steps, by their length in nanoseconds and by the order of the derivatives of its inputs;
        float64 of shape (states + outputs, states + (1 + order) * inputs).
    continuous
        The same in continuous time; ``None`` where there is none.
    remarks
        What was left out, and what is doubtful, in sentences.
    kinks
        States and inputs that stand where a slope jumps: a contact that is just open.
    cycle
        Of a unit that samples: its transitions, one for each step of its period, counted from the
        start of the run; empty where all steps have the same. ``transition`` is the first of them.
    """

    name: str
    method: str
    states: tuple[str, ...]
    transition: StepTransition
    continuous: StateSpace | None
    remarks: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    cycle: tuple[StepTransition, ...] = ()

    def __repr__(self) -> str:
        states = counted(len(self.states), "state")
        return f"UnitModel '{self.name}': {states}, by {self.method}"

    @property
    def phases(self) -> int:
        """Steps after which the transitions repeat."""
        return max(1, len(self.cycle))

    def transitions(self, step_ns: int, *, order: int) -> tuple[Floats, ...]:
        """Return the transitions of all steps of its period, as :attr:`transition` does of one."""
        return tuple(
            transition(step_ns, order=order) for transition in self.cycle or (self.transition,)
        )
