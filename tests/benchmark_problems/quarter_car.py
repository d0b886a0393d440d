"""A quarter of a car that has just met a kerb: body, suspension, wheel, tyre."""

from __future__ import annotations

import numpy as np
from benchmark_problems.exact import Exact, free, moved
from benchmark_problems.problem import Problem

from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

BODY, SPRING, DAMPER = 300.0, 15e3, 1000.0  # kg, N/m, N.s/m
WHEEL, TYRE = 40.0, 150e3  # kg, N/m
KERB = 0.05  # m


class Body(Exact):
    """The body, carried by a force; positions are from rest on the kerb."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    m: float = Parameter(unit="kg", start=BODY)

    def begin(self):
        self.position, self.velocity = -KERB, 0.0

    def move(self, h):
        gain = self.force / self.m
        self.position += self.velocity * h + 0.5 * gain * h * h
        self.velocity += gain * h


class Corner(Exact):
    """Wheel and tyre, spring and damper; takes the body's motion and gives the force on it."""

    body_position: float = Input(unit="m")
    body_velocity: float = Input(unit="m/s")
    force: float = Output(unit="N", depends_on=("body_position", "body_velocity"))
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())
    m: float = Parameter(unit="kg", start=WHEEL)

    def begin(self):
        self.position, self.velocity = -KERB, 0.0

    def move(self, h):
        a = ((0.0, 1.0), (-(SPRING + TYRE) / self.m, -DAMPER / self.m))
        b = ((0.0, 0.0), (SPRING / self.m, DAMPER / self.m))
        x, u = (self.position, self.velocity), (self.body_position, self.body_velocity)
        self.position, self.velocity = moved(a, b, x, u, h)
        drop, rate = self.position - self.body_position, self.velocity - self.body_velocity
        self.force = SPRING * drop + DAMPER * rate


def make():
    return (
        System("quarter car")
        .add("body", block(Body))
        .add("corner", block(Corner))
        .connect("body.position", "corner.body_position")
        .connect("body.velocity", "corner.body_velocity")
        .connect("corner.force", "body.force")
    )


MATRIX = np.array(
    [
        [0, 1, 0, 0],
        [-SPRING / BODY, -DAMPER / BODY, SPRING / BODY, DAMPER / BODY],
        [0, 0, 0, 1],
        [SPRING / WHEEL, DAMPER / WHEEL, -(SPRING + TYRE) / WHEEL, -DAMPER / WHEEL],
    ]
)


def solution(times):
    return free(MATRIX, (-KERB, 0.0, -KERB, 0.0), times)


def energy(rows):
    x, v, y, w = rows.T
    return 0.5 * (BODY * v**2 + WHEEL * w**2 + SPRING * (x - y) ** 2 + TYRE * y**2)


NAMES = ("body.position", "body.velocity", "corner.position", "corner.velocity")
PROBLEM = Problem(make, NAMES, solution, 500_000_000, energy)
