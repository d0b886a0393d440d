"""A command that moves an axis to and fro, and models of the axes that hardware replaces."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orchestrator import Block, Input, Output, Parameter

Floats = NDArray[np.float64]


class Swing(Block):
    """A command that swings between 0 and the way, and its rate, the command of drives."""

    way: float = Parameter(start=0.01, above=0.0, description="From end to end, m or rad")
    frequency: float = Parameter(start=0.5, unit="Hz", above=0.0, description="Of the motion")
    u: float = Output(depends_on=(), description="Command, m or rad")
    rate: float = Output(depends_on=(), description="Its rate, m/s or rad/s")
    joints: Floats = Output(unit="rad", shape=(6,), depends_on=(), description="It, of joint 1")

    def step(self, t: float, h: float) -> None:
        """Give the command at the end of the step."""
        turns = 2.0 * math.pi * self.frequency
        self.u = 0.5 * self.way * (1.0 - math.cos(turns * (t + h)))
        self.rate = 0.5 * self.way * turns * math.sin(turns * (t + h))
        self.joints[0] = self.u


class Axis(Block):
    """An axis that is where it is commanded to be."""

    x_set: float = Input(unit="m", description="Commanded position")
    x: float = Output(unit="m", depends_on=(), description="Position")

    def step(self, t: float, h: float) -> None:
        """Be there."""
        self.x = self.x_set


class Joints(Block):
    """A robot of six joints that are where they are commanded to be."""

    dq: Floats = Input(unit="rad", shape=(6,), description="Commanded offsets")
    q: Floats = Output(unit="rad", shape=(6,), depends_on=(), description="Angles")

    def step(self, t: float, h: float) -> None:
        """Be there."""
        self.q[:] = self.dq


class Drive(Block):
    """A drive under position commands."""

    motor_position_set: float = Input(unit="rad", description="Commanded angle")
    motor_position: float = Output(unit="rad", depends_on=(), description="Angle")

    def step(self, t: float, h: float) -> None:
        """Be there."""
        self.motor_position = self.motor_position_set
