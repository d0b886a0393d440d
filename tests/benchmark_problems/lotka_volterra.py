"""Predator and prey in a unit each: nonlinear, without feed-through, with an invariant."""

from __future__ import annotations

import numpy as np
from benchmark_problems.exact import Exact
from benchmark_problems.problem import Problem
from scipy.integrate import solve_ivp

from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

#: Growth of the one alone and its loss by the other, 1/s.
PREY, PREDATOR = (1.1, 0.4), (-0.4, 0.1)
START = (10.0, 5.0)


class Species(Exact):
    """x' = x (a + b y): an exponential while y is held."""

    other: float = Input()
    count: float = Output(depends_on=())
    a: float = Parameter(start=0.0)
    b: float = Parameter(start=0.0)
    x0: float = Parameter(start=1.0)

    def begin(self):
        self.count = self.x0

    def move(self, h):
        self.count *= float(np.exp((self.a + self.b * self.other) * h))


def make():
    return (
        System("lotka volterra")
        .add("prey", block(Species), a=PREY[0], b=-PREY[1], x0=START[0])
        .add("predator", block(Species), a=PREDATOR[0], b=PREDATOR[1], x0=START[1])
        .connect("prey.count", "predator.other")
        .connect("predator.count", "prey.other")
    )


def solution(times):
    def right(_, x):
        return x[0] * (PREY[0] - PREY[1] * x[1]), x[1] * (PREDATOR[0] + PREDATOR[1] * x[0])

    found = solve_ivp(right, (0.0, times[-1]), START, "DOP853", times, rtol=1e-12, atol=1e-13)
    return found.y.T


def invariant(rows):
    """Constant along every solution; it stands for the energy."""
    x, y = rows.T
    return PREDATOR[1] * x + PREDATOR[0] * np.log(x) + PREY[1] * y - PREY[0] * np.log(y)


PROBLEM = Problem(make, ("prey.count", "predator.count"), solution, 4_000_000_000, invariant)
