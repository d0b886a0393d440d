"""Blocks that integrate exactly while their inputs are held: what is left is the coupling error."""

from __future__ import annotations

import math
from functools import cache
from typing import ClassVar

import numpy as np

from orchestrator.core.simunits import Block


class Exact(Block):
    """A block whose ``begin`` sets the start values and whose ``move`` is exact for held inputs."""

    #: Steps of all blocks of this kind since somebody set it to zero.
    steps: ClassVar[int] = 0

    def initialise(self, t):
        self.begin()
        self.move(0.0)

    def step(self, t, h):
        Exact.steps += 1
        self.move(h)

    def begin(self):
        """Nothing to set: a block without states."""

    def move(self, h):
        raise NotImplementedError


def exponential(matrix):
    """exp(matrix) to rounding, by scaling and squaring; scipy's takes ten times as long for 3 x 3.

    Of a norm below 1/2 the 17th term of the series is 2e-20.
    """
    norm = np.abs(matrix).sum(axis=0).max()
    halvings = max(0, math.frexp(norm)[1] + 1)
    scaled, values = matrix / 2.0**halvings, np.eye(len(matrix))
    result = values
    for k in range(16, 0, -1):
        result = values + scaled @ result / k
    for _ in range(halvings):
        result = result @ result
    return result


@cache
def _propagator(a, b, h):
    states, inputs = len(a), len(b[0])
    whole = np.zeros((states + inputs, states + inputs))
    whole[:states, :states], whole[:states, states:] = a, b
    moved = exponential(whole * h)
    return moved[:states, :states], moved[:states, states:]


def propagator(a, b, h):
    """Matrices Phi (n, n) and Gamma (n, m) with x(h) = Phi x(0) + Gamma u of x' = a x + b u."""
    return _propagator(tuple(map(tuple, a)), tuple(map(tuple, b)), h)


def moved(a, b, x, u, h):
    """State after ``h`` seconds of x' = a x + b u with u held."""
    phi, gamma = propagator(a, b, h)
    return (phi @ x + gamma @ u).tolist()


def free(a, x, times):
    """States (len(times), n) of x' = a x at the times, by the eigenvectors of a."""
    values, vectors = np.linalg.eig(np.asarray(a, dtype=float))
    parts = np.linalg.solve(vectors, np.asarray(x, dtype=complex))
    return (np.exp(np.outer(times, values)) * parts @ vectors.T).real
