"""Velocity from positions, for rigs that do not measure it."""

from __future__ import annotations

from math import exp

from orchestrator import Block, Input, Output, Parameter, State


class Differentiator(Block):
    """Difference of the last two positions divided by the time between them, behind a low-pass.

    It belongs to the middle between the two samples, so it is late by half a step and by
    ``smoothing``. Without smoothing it amplifies noise of the position by ``sqrt(2)/h``: 5 um
    sampled at 1 ms become 7 mm/s.

    ========= ========= ==== ==================================================
    connector causality unit meaning
    ========= ========= ==== ==================================================
    position  input     m    position
    velocity  output    m/s  its rate, 0 until there are two samples
    smoothing parameter s    time constant of the low-pass; 0: none
    ========= ========= ==== ==================================================

    References
    ----------
    Yu et al., IEEE Access (2018), Eq 23: the velocity for Eq 24 if a rig measures no
    rate. Backward difference; first-order low-pass, exact for a held input.
    """

    position: float = Input(unit="m", description="Position")
    velocity: float = Output(unit="m/s", description="Velocity")
    smoothing: float = Parameter(
        start=0.0, unit="s", minimum=0.0, description="Time constant of the low-pass"
    )
    last: float = State(start=0.0, description="Sample before")

    def initialise(self, t: float) -> None:
        """Begin at rest."""
        self.last, self.velocity = self.position, 0.0

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        if h > 0.0:
            keep = exp(-h / self.smoothing) if self.smoothing > 0.0 else 0.0
            raw = (self.position - self.last) / h
            self.velocity = keep * self.velocity + (1.0 - keep) * raw
        self.last = self.position
