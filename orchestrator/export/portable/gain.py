"""A gain as a block, for tools that ignore what a connection makes of a value."""

from __future__ import annotations

from orchestrator.core.simunits import Block, Input, Output, Parameter


class Gain(Block):
    """Linear function of a signal.

    ========= ========= ======================
    connector causality meaning
    ========= ========= ======================
    u         input     what comes in
    y         output    ``gain u + offset``
    gain      parameter factor
    offset    parameter added after it
    ========= ========= ======================
    """

    u: float = Input(description="What comes in")
    y: float = Output(description="gain u + offset")
    gain: float = Parameter(start=1.0, description="Factor")
    offset: float = Parameter(start=0.0, description="Added after it")

    def step(self, t: float, h: float) -> None:
        """Evaluate; the block has no state."""
        self.y = self.gain * self.u + self.offset
