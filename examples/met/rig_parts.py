"""What the motor bench of the example has beside its models."""

from __future__ import annotations

from orchestrator import Block, Input, Output


class Quiet(Block):
    """A tachometer without noise: a line that a fault of kind ``noise`` makes noisy."""

    rate: float = Output(unit="rad/s", description="Nothing", depends_on=())

    def step(self, t: float, h: float) -> None:
        """Stay at zero."""
        self.rate = 0.0


class Difference(Block):
    """What the joint of an emulated arm is ahead of another."""

    a: float = Input(unit="rad/s", description="Rate of one joint")
    b: float = Input(unit="rad/s", description="Rate of the other")
    y: float = Output(unit="rad/s", depends_on=("a", "b"), description="a - b")

    def step(self, t: float, h: float) -> None:
        """Subtract."""
        self.y = self.a - self.b
