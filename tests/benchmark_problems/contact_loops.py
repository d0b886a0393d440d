"""A body that meets a wall: a contact that stays closed, and an impact that ends.

The body integrates exactly while its force is held; the contact has no state, and what it gives
belongs to the motion that it was given (direct feed-through).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from benchmark_problems.exact import Exact, free, moved
from benchmark_problems.problem import Problem
from scipy.integrate import solve_ivp

from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

#: kg; N/m and N.s/m; depth in m and velocity in m/s at the start: some 3.6 Hz.
MASS, CONTACT, START = 100.0, (5.0e4, 100.0), (0.0, 0.05)
#: N/m^1.5 and s/m of Hunt and Crossley's law with the exponent of Hertz.
HERTZ = (2.0e6, 0.5)


class Body(Exact):
    """A free body on one axis."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    m: float = Parameter(unit="kg", start=MASS)
    x0: float = Parameter(unit="m", start=START[0])
    v0: float = Parameter(unit="m/s", start=START[1])

    def begin(self):
        self.position, self.velocity = self.x0, self.v0

    def move(self, h):
        a, b = ((0.0, 1.0), (0.0, 0.0)), ((0.0,), (1.0 / self.m,))
        x = (self.position, self.velocity)
        self.position, self.velocity = moved(a, b, x, (self.force,), h)


class Bonded(Exact):
    """A spring and a damper that are always in touch."""

    position: float = Input(unit="m")
    velocity: float = Input(unit="m/s")
    force: float = Output(unit="N", depends_on=("position", "velocity"))

    def move(self, h):
        self.force = -(CONTACT[0] * self.position + CONTACT[1] * self.velocity)


class Impact(Exact):
    """Hunt and Crossley's law: force = -k depth^1.5 (1 + a velocity), and it never pulls."""

    position: float = Input(unit="m")
    velocity: float = Input(unit="m/s")
    force: float = Output(unit="N", depends_on=("position", "velocity"))

    def move(self, h):
        self.force = float(impact_force(self.position, self.velocity))


def impact_force(x, v):
    k, a = HERTZ
    return -np.maximum(0.0, k * np.maximum(x, 0.0) ** 1.5 * (1.0 + a * v))


def _loop(name, contact):
    return (
        System(name)
        .add("body", block(Body))
        .add("wall", block(contact))
        .connect("body.position", "wall.position")
        .connect("body.velocity", "wall.velocity")
        .connect("wall.force", "body.force")
    )


def bonded():
    return _loop("bonded contact", Bonded)


def impact():
    return _loop("impact", Impact)


def bonded_matrix():
    return np.array([[0.0, 1.0], [-CONTACT[0] / MASS, -CONTACT[1] / MASS]])


def bonded_solution(times):
    return free(bonded_matrix(), START, times)


@cache
def _impact_path():
    def rate(t, z):
        return z[1], impact_force(*z) / MASS

    return solve_ivp(
        rate, (0.0, 0.5), START, method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True
    ).sol


def impact_solution(times):
    return _impact_path()(times).T


def bonded_energy(rows):
    x, v = rows.T
    return 0.5 * (MASS * v**2 + CONTACT[0] * x**2)


def impact_energy(rows):
    x, v = rows.T
    return 0.5 * MASS * v**2 + HERTZ[0] * np.maximum(x, 0.0) ** 2.5 / 2.5


NAMES = ("body.position", "body.velocity")
BONDED = Problem(bonded, NAMES, bonded_solution, 1_000_000_000, bonded_energy)
IMPACT = Problem(impact, NAMES, impact_solution, 400_000_000, impact_energy)
