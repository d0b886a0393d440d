"""Two masses, each on its own spring, joined by a third: the usual test model of coupling errors.

Two ways to cut it: force/displacement (one side owns the joining spring and gives its force) and
displacement/displacement (both own it, each gives its motion).
"""

from __future__ import annotations

import numpy as np
from benchmark_problems.exact import Exact, free, moved
from benchmark_problems.problem import Problem

from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

#: kg, N/m, N.s/m of each mass; of the joint; displacements in m and velocities in m/s at the start.
ONE, TWO = (1.0, 10.0, 0.1), (2.0, 15.0, 0.2)
JOINT = (20.0, 0.5)
START = (1.0, 0.0, -0.5, 0.0)


class Mass(Exact):
    """A mass on its own spring and damper, pushed by a force."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    m: float = Parameter(unit="kg", start=ONE[0])
    k: float = Parameter(unit="N/m", start=ONE[1])
    c: float = Parameter(unit="N.s/m", start=ONE[2])
    x0: float = Parameter(unit="m", start=START[0])
    v0: float = Parameter(unit="m/s", start=START[1])

    def begin(self):
        self.position, self.velocity = self.x0, self.v0

    def move(self, h):
        a = ((0.0, 1.0), (-self.k / self.m, -self.c / self.m))
        b = ((0.0,), (1.0 / self.m,))
        x = (self.position, self.velocity)
        self.position, self.velocity = moved(a, b, x, (self.force,), h)


class JoinedMass(Exact):
    """The other mass and the joint; it takes the motion of the joint's far end."""

    position_a: float = Input(unit="m")
    velocity_a: float = Input(unit="m/s")
    force: float = Output(unit="N", depends_on=("position_a", "velocity_a"))
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    m: float = Parameter(unit="kg", start=TWO[0])
    k: float = Parameter(unit="N/m", start=TWO[1])
    c: float = Parameter(unit="N.s/m", start=TWO[2])
    kj: float = Parameter(unit="N/m", start=JOINT[0])
    cj: float = Parameter(unit="N.s/m", start=JOINT[1])
    x0: float = Parameter(unit="m", start=START[2])
    v0: float = Parameter(unit="m/s", start=START[3])

    def begin(self):
        self.position, self.velocity = self.x0, self.v0

    def move(self, h):
        a = ((0.0, 1.0), (-(self.k + self.kj) / self.m, -(self.c + self.cj) / self.m))
        b = ((0.0, 0.0), (self.kj / self.m, self.cj / self.m))
        x, u = (self.position, self.velocity), (self.position_a, self.velocity_a)
        self.position, self.velocity = moved(a, b, x, u, h)
        apart, drifting = self.position - self.position_a, self.velocity - self.velocity_a
        self.force = self.kj * apart + self.cj * drifting


def by_force(joint=JOINT):
    return (
        System("by force")
        .add("one", block(Mass))
        .add("two", block(JoinedMass), kj=joint[0], cj=joint[1])
        .connect("one.position", "two.position_a")
        .connect("one.velocity", "two.velocity_a")
        .connect("two.force", "one.force")
    )


def by_motion():
    values = dict(zip(("m", "k", "c", "x0", "v0"), (*ONE, *START[:2]), strict=True))
    system = System("by motion").add("one", block(JoinedMass), **values)
    system = system.add("two", block(JoinedMass))
    for a, b in (("one", "two"), ("two", "one")):
        system = system.connect(f"{a}.position", f"{b}.position_a")
        system = system.connect(f"{a}.velocity", f"{b}.velocity_a")
    return system


def matrix(joint=JOINT):
    """State matrix of (x1, v1, x2, v2)."""
    (m1, k1, c1), (m2, k2, c2), (kj, cj) = ONE, TWO, joint
    return np.array(
        [
            [0, 1, 0, 0],
            [-(k1 + kj) / m1, -(c1 + cj) / m1, kj / m1, cj / m1],
            [0, 0, 0, 1],
            [kj / m2, cj / m2, -(k2 + kj) / m2, -(c2 + cj) / m2],
        ]
    )


def energy(rows):
    x1, v1, x2, v2 = rows.T
    kinetic = ONE[0] * v1**2 + TWO[0] * v2**2
    return 0.5 * (kinetic + ONE[1] * x1**2 + TWO[1] * x2**2 + JOINT[0] * (x1 - x2) ** 2)


def solution(times):
    return free(matrix(), START, times)


NAMES = ("one.position", "one.velocity", "two.position", "two.velocity")
BY_FORCE = Problem(by_force, NAMES, solution, 2_000_000_000, energy)
BY_MOTION = Problem(by_motion, NAMES, solution, 2_000_000_000, energy)
