"""Models of the hardware of a rig: a robot that follows commands, and a sheet.

Their connectors are those of the devices that replace them: ``kuka_rsi`` and ``ati_net_ft``. The
path between them, from a command of the robot to a measured force, is the line
from one to the other, with its delay.
"""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, where


class Robot(Block):
    """A robot that is always at its commanded position."""

    dx: float = Input(unit="m", description="Correction along X, from the start")
    x: float = Output(unit="m", depends_on=("dx",), description="Displacement along X")

    def step(self, t: float, h: float) -> None:
        """Follow at once."""
        self.x = self.dx


class Sheet(Block):
    """A metal sheet with a sensor behind it; it never pulls unless it is latched."""

    x: float = Input(unit="m", description="How deep the tip has pressed")
    fx: float = Output(unit="N", depends_on=("x",), description="Force on the tip")
    k: float = Parameter(start=1000.0, unit="N/m", minimum=0.0, description="Stiffness")
    latched: bool = Parameter(start=False, description="The tip is fastened to the sheet")

    def step(self, t: float, h: float) -> None:
        """Answer as a spring."""
        pressed = where(self.latched | (self.x > 0.0), self.x, 0.0)
        self.fx = -self.k * pressed


class Difference(Block):
    """What one body is ahead of another."""

    a: float = Input(unit="m", description="Position of one")
    b: float = Input(unit="m", description="Position of the other")
    y: float = Output(unit="m", depends_on=("a", "b"), description="a - b")

    def step(self, t: float, h: float) -> None:
        """Subtract."""
        self.y = self.a - self.b
