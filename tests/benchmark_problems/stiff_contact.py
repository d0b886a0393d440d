"""A mass meets a stiff one-sided spring: contact lasts pi sqrt(m/k), then it flies back as fast."""

from __future__ import annotations

import numpy as np
from benchmark_problems.exact import Exact
from benchmark_problems.problem import Problem

from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

MASS, SPEED, GAP = 750.0, 0.03, 0.0003  # kg, m/s, m
STIFFNESS = 7.5e6  # N/m
OMEGA = np.sqrt(STIFFNESS / MASS)  # 100 rad/s


class Flyer(Exact):
    """A free mass, exact for a force that is constant over the step."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())

    def begin(self):
        self.position, self.velocity = -GAP, SPEED

    def move(self, h):
        gain = self.force / MASS
        self.position += self.velocity * h + 0.5 * gain * h * h
        self.velocity += gain * h


class Wall(Exact):
    """A spring without mass that only pushes."""

    position: float = Input(unit="m")
    force: float = Output(unit="N")
    k: float = Parameter(unit="N/m", start=STIFFNESS)

    def move(self, h):
        self.force = -self.k * max(self.position, 0.0)


def make():
    return (
        System("stiff contact")
        .add("flyer", block(Flyer))
        .add("wall", block(Wall))
        .connect("flyer.position", "wall.position")
        .connect("wall.force", "flyer.force")
    )


def solution(times):
    met = GAP / SPEED
    left = met + np.pi / OMEGA
    inside = np.clip(times - met, 0.0, left - met)
    position = SPEED / OMEGA * np.sin(OMEGA * inside)
    position += SPEED * (np.minimum(times, met) - met) - SPEED * np.maximum(times - left, 0.0)
    return np.column_stack([position, SPEED * np.cos(OMEGA * inside)])


def energy(rows):
    position, velocity = rows.T
    return 0.5 * (MASS * velocity**2 + STIFFNESS * np.maximum(position, 0.0) ** 2)


PROBLEM = Problem(make, ("flyer.position", "flyer.velocity"), solution, 60_000_000, energy)
