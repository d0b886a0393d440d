"""Models of robot and sheet of the rig, with the connectors of the devices that replace them.

They behave like the emulators of ``kuka_rsi`` and ``ati_net_ft`` in steps of 4 ms.
"""

from __future__ import annotations

import math

from orchestrator import Block, Input, Output, Parameter, State

#: Parts of a step in which the robot's motion is integrated.
_PARTS = 20


class Robot(Block):
    """A position-controlled axis that takes a command one cycle after the frame that it answers.

    ``x`` and ``v`` are of the end of a step, in which the command of two steps before acts: one
    until it answers a frame, and the cycle of the controller.
    """

    dx: float = Input(unit="m", description="Correction along X, from the start")
    x: float = Output(unit="m", depends_on=(), description="Displacement along X")
    v: float = Output(unit="m/s", depends_on=(), description="Its rate")
    bandwidth: float = Parameter(start=15.0, unit="Hz", above=0.0, description="Undamped")
    zeta: float = Parameter(start=0.7, unit="1", above=0.0, description="Damping ratio")
    place: float = State(start=0.0, description="Displacement, m")
    speed: float = State(start=0.0, description="Its rate, m/s")
    newest: float = State(start=0.0, description="Command of the step before, m")
    acting: float = State(start=0.0, description="Command of two steps before, m")

    def step(self, t: float, h: float) -> None:
        """Integrate the axis under a command that is held (semi-implicit Euler)."""
        omega, part = 2.0 * math.pi * self.bandwidth, h / _PARTS
        for _ in range(_PARTS):
            pull = omega * omega * (self.acting - self.place) - 2.0 * self.zeta * omega * self.speed
            self.speed += part * pull
            self.place += part * self.speed
        self.acting, self.newest = self.newest, self.dx
        self.x, self.v = self.place, self.speed


class Sheet(Block):
    """A sheet that the robot holds, pressed in by ``preload`` where the robot begins."""

    x: float = Input(unit="m", description="Displacement of the robot")
    v: float = Input(unit="m/s", description="Its rate")
    fx: float = Output(unit="N", depends_on=("x", "v"), description="Force on the robot")
    k: float = Parameter(start=5e4, unit="N/m", minimum=0.0, description="Stiffness")
    d: float = Parameter(start=100.0, unit="N.s/m", minimum=0.0, description="Damping")
    preload: float = Parameter(start=0.01, unit="m", description="Depth where the robot begins")

    def step(self, t: float, h: float) -> None:
        """Answer as a spring with a damper."""
        self.fx = -(self.k * (self.x + self.preload) + self.d * self.v)
