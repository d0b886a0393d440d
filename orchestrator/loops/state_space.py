"""State space: a linear model x' = A x + B u, y = C x + D u of a component at one point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orchestrator.loops.matrix_functions import exponential, logarithm

Floats = NDArray[np.float64]

#: How well a step must come out of the rates that were found for it, as a share of its numbers.
_RATES = 1e-6


@dataclass(frozen=True)
class StateSpace:
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
        whole = np.zeros((n + columns, n + columns))
        whole[:n, :n], whole[:n, n : n + m] = self.a, self.b
        whole[n : n + columns - m, n + m :] = np.eye(columns - m)
        after = exponential(whole * step)
        return np.vstack([after[:n], self.c @ after[:n] + self.d @ after[n : n + m]])


def of_transition(
    whole: Floats,
    step: float,
    states: tuple[str, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> StateSpace | None:
    """Find the continuous model that has these steps while its inputs are held.

    Parameters
    ----------
    whole
        Takes (x, u) to (x, y) after a step, float64 of shape (n + p, n + m).
    step
        Length of the step in seconds.
    states, inputs, outputs
        Names of x, u and y.

    Returns
    -------
    StateSpace or None
        None where no rates give these steps: a state that jumps to zero or changes its sign.
    """
    n, m = len(states), len(inputs)
    if n == 0:
        empty = np.zeros((0, 0))
        return StateSpace(
            empty, np.zeros((0, m)), np.zeros((len(outputs), 0)), whole, states, inputs, outputs
        )
    roots = np.linalg.eigvals(whole[:n, :n])
    if np.any((roots.imag == 0.0) & (roots.real <= 0.0)):
        return None
    moves = np.eye(n + m)
    moves[:n] = whole[:n]
    rates = logarithm(moves) / step
    if np.abs(exponential(rates * step) - moves).max(initial=0.0) > _RATES * np.abs(moves).max():
        return None
    # Outputs are those of the end of a step, of which its begin and its inputs are known.
    c = np.asarray(np.linalg.solve(moves[:n, :n].T, whole[n:, :n].T).T, dtype=np.float64)
    d = whole[n:, n:] - c @ moves[:n, n:]
    return StateSpace(rates[:n, :n], rates[:n, n:], c, d, states, inputs, outputs)
