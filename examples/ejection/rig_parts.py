"""The command of the bench while its friction is identified."""

from __future__ import annotations

from orchestrator import Block, Output, Parameter


class SlowTorque(Block):
    """A torque that rises and falls linearly between two limits, from zero, first up."""

    torque: float = Output(unit="N.m", description="Torque", depends_on=())
    amplitude: float = Parameter(start=0.06, unit="N.m", above=0.0, description="Limit either side")
    period: float = Parameter(start=2.0, unit="s", above=0.0, description="From up to up")

    def step(self, t: float, h: float) -> None:
        """Give the torque at the end of the step."""
        turn = ((t + h) / self.period + 0.25) % 1.0
        self.torque = self.amplitude * (1.0 - 4.0 * abs(turn - 0.5))
