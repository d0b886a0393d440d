"""A ball and the floor that it bounces from, in two units: an event across a connection.

The floor sees where the ball is and tells it by how much its velocity jumps.
"""

from __future__ import annotations

import numpy as np
from benchmark_problems.exact import Exact
from benchmark_problems.problem import Problem

from orchestrator.core.simunits import Input, Output, block
from orchestrator.core.system import System

GRAVITY, HEIGHT, RESTITUTION = 9.81, 1.0, 0.8  # m/s2, m


class Ball(Exact):
    """Free flight; a jump of the velocity comes first."""

    jump: float = Input(unit="m/s")
    position: float = Output(unit="m", depends_on=())
    velocity: float = Output(unit="m/s", depends_on=())

    def begin(self):
        self.position, self.velocity = HEIGHT, 0.0

    def move(self, h):
        self.velocity += self.jump
        self.position += self.velocity * h - 0.5 * GRAVITY * h * h
        self.velocity -= GRAVITY * h


class Floor(Exact):
    """Newton's law of impact for a ball that is below and still falls."""

    position: float = Input(unit="m")
    velocity: float = Input(unit="m/s")
    jump: float = Output(unit="m/s")

    def move(self, h):
        met = self.position <= 0.0 and self.velocity < 0.0
        self.jump = -(1.0 + RESTITUTION) * self.velocity if met else 0.0


def make():
    return (
        System("bouncing ball")
        .add("ball", block(Ball))
        .add("floor", block(Floor))
        .connect("ball.position", "floor.position")
        .connect("ball.velocity", "floor.velocity")
        .connect("floor.jump", "ball.jump")
    )


def solution(times):
    """Height (len(times), 1): parabolas between impacts that are known in closed form."""
    fall = np.sqrt(2 * HEIGHT / GRAVITY)
    begin, speed = fall, RESTITUTION * GRAVITY * fall
    height = np.where(times < begin, HEIGHT - 0.5 * GRAVITY * times**2, 0.0)
    while begin < times[-1]:
        last = 2 * speed / GRAVITY
        flight = times - begin
        inside = (flight >= 0.0) & (flight < last)
        height = np.where(inside, speed * flight - 0.5 * GRAVITY * flight**2, height)
        begin, speed = begin + last, RESTITUTION * speed
    return height[:, np.newaxis]


#: Ends in the second flight, at 1.1 s.
PROBLEM = Problem(make, ("ball.position",), solution, 1_100_000_000)
