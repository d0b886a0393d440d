"""Rows of the matrix that takes a sampled system from one sample to the next."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def hold_step(matrix: Floats, column: Floats, step: float) -> tuple[Floats, Floats]:
    """Discretise ``x' = matrix x + column u`` for an input that is held.

    Parameters
    ----------
    matrix, column
        Shapes (n, n) and (n,), 1/s.
    step
        Length of the step, s.

    Returns
    -------
    tuple of ndarray
        Shapes (n, n) and (n,): for the state and for the input.
    """
    state, begin, end = ramp_step(matrix, column, step)
    return state, begin + end


def ramp_step(matrix: Floats, column: Floats, step: float) -> tuple[Floats, Floats, Floats]:
    """Discretise ``x' = matrix x + column u`` for an input that goes straight.

    Parameters
    ----------
    matrix, column, step
        As of :func:`hold_step`.

    Returns
    -------
    tuple of ndarray
        Shapes (n, n), (n,) and (n,): for the state, the input where the step begins and where it
        ends.
    """
    from scipy.linalg import expm

    order = len(column)
    whole = np.zeros((order + 2, order + 2))
    whole[:order, :order], whole[:order, order] = matrix * step, column * step
    whole[order, order + 1] = 1.0  # the input's slope, per step
    grown = expm(whole)
    slope = grown[:order, order + 1]
    return grown[:order, :order], grown[:order, order] - slope, slope


class SampleRows:
    """Signals as linear functions of the states at the last sample and of inputs at this one.

    Every signal is a vector with an entry for each state and input, so that signals are added and
    scaled as such.

    Parameters
    ----------
    sizes
        Number of states by name, and of inputs, in their order.
    inputs
        Names among them that are inputs.
    """

    def __init__(self, sizes: Mapping[str, int], inputs: tuple[str, ...] = ()) -> None:
        ends = np.cumsum(list(sizes.values())).tolist()
        self._places = {
            name: slice(end - size, end)
            for (name, size), end in zip(sizes.items(), ends, strict=True)
        }
        self._identity = np.eye(ends[-1])
        self._next = np.zeros((ends[-1], ends[-1]))
        self._inputs = inputs

    def __getitem__(self, name: str) -> Floats:
        """Give the states of that name at the last sample, or the inputs at this one."""
        return self._identity[self._places[name]]

    def __setitem__(self, name: str, rows: ArrayLike) -> None:
        """Say what the states of that name are at this sample."""
        self._next[self._places[name]] = rows

    def late(self, name: str, newest: Floats, steps: float) -> Floats:
        """Give a signal late, from the states ``name`` that hold its past.

        Parameters
        ----------
        name
            States for the past of the signal; at least ``ceil(steps)``.
        newest
            The signal at this sample, one row.
        steps
            Delay in steps; between two samples the signal is a straight line.

        Returns
        -------
        ndarray
            One row.
        """
        past = np.vstack([newest, self[name]])
        self[name] = past[:-1]
        whole = int(steps)
        share = steps - whole
        if share == 0.0:
            return np.asarray(past[whole])
        return np.asarray((1.0 - share) * past[whole] + share * past[whole + 1])

    @property
    def matrices(self) -> tuple[Floats, Floats]:
        """Matrices for the states, shape (n, n), and for the inputs, shape (n, m)."""
        driven = np.zeros(len(self._identity), dtype=bool)
        for name in self._inputs:
            driven[self._places[name]] = True
        return self._next[np.ix_(~driven, ~driven)], self._next[np.ix_(~driven, driven)]
