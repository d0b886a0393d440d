"""The noise of the motor bench."""

from __future__ import annotations

from orchestrator import Block, Output


class Quiet(Block):
    """A tachometer without noise: a line that a fault of kind ``noise`` makes noisy."""

    rate: float = Output(unit="rad/s", description="Nothing", depends_on=())

    def step(self, t: float, h: float) -> None:
        """Stay at zero."""
        self.rate = 0.0
