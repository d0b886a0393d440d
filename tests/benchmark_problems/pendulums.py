"""Two pendulums keyed to one shaft: torque against angular acceleration, an algebraic loop.

One pendulum takes the shaft's torque and gives its acceleration at once; the other takes that
acceleration and gives the torque it needs at once. One pass through the loop multiplies a change
by minus the ratio of the inertias.
"""

from __future__ import annotations

import numpy as np
from benchmark_problems.exact import Exact
from benchmark_problems.problem import Problem
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

INERTIA = (2.0, 1.0)  # kg.m2
MOMENT = (9.0, 4.0)  # m g l of each, N.m
ANGLE = 1.0  # rad, from hanging


class Driven(Exact):
    """A pendulum that is turned by a torque."""

    torque: float = Input(unit="N.m")
    acceleration: float = Output(unit="rad/s2", depends_on=("torque",))
    angle: float = Output(unit="rad", depends_on=())
    rate: float = Output(unit="rad/s", depends_on=())
    inertia: float = Parameter(unit="kg.m2", start=INERTIA[0])

    def begin(self):
        self.angle, self.rate = ANGLE, 0.0

    def bent(self, angle):
        return (self.torque - MOMENT[0] * np.sin(angle)) / self.inertia

    def move(self, h):
        if h > 0.0:
            found = solve_ivp(
                lambda _, x: (x[1], self.bent(x[0])),
                (0.0, h),
                (self.angle, self.rate),
                "DOP853",
                rtol=1e-12,
                atol=1e-13,
            )
            self.angle, self.rate = found.y[:, -1].tolist()
        self.acceleration = float(self.bent(self.angle))


class Carried(Exact):
    """A pendulum whose acceleration is given; the torque that this takes comes out."""

    acceleration: float = Input(unit="rad/s2")
    torque: float = Output(unit="N.m", depends_on=("acceleration",))
    angle: float = Output(unit="rad", depends_on=())
    rate: float = Output(unit="rad/s", depends_on=())
    inertia: float = Parameter(unit="kg.m2", start=INERTIA[1])

    def begin(self):
        self.angle, self.rate = ANGLE, 0.0

    def move(self, h):
        self.angle += self.rate * h + 0.5 * self.acceleration * h * h
        self.rate += self.acceleration * h
        # Minus: what the shaft gives to the other pendulum.
        self.torque = -float(self.inertia * self.acceleration + MOMENT[1] * np.sin(self.angle))


def make(inertia=INERTIA):
    return (
        System("pendulums")
        .add("driven", block(Driven), inertia=inertia[0])
        .add("carried", block(Carried), inertia=inertia[1])
        .connect("driven.acceleration", "carried.acceleration")
        .connect("carried.torque", "driven.torque")
    )


def solution(times):
    """Jacobi's elliptic functions: a pendulum of both moments and both inertias."""
    omega, k = np.sqrt(sum(MOMENT) / sum(INERTIA)), np.sin(ANGLE / 2)
    sn, cn, _, _ = ellipj(ellipk(k * k) - omega * times, k * k)
    angle = 2 * np.arcsin(k * sn)
    rate = -2 * k * omega * cn
    return np.column_stack([angle, rate, angle, rate])


def energy(rows):
    total = 0.0
    for i in range(2):
        angle, rate = rows[:, 2 * i], rows[:, 2 * i + 1]
        total = total + 0.5 * INERTIA[i] * rate**2 + MOMENT[i] * (1 - np.cos(angle))
    return total


NAMES = ("driven.angle", "driven.rate", "carried.angle", "carried.rate")
PROBLEM = Problem(make, NAMES, solution, 1_000_000_000, energy)
