"""Inverse compensation: the discrete inverse of an actuator that lags to first order."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State


class InverseDelay(Block):
    """Sends an actuator ahead by its constant delay: ``alpha x[k] - (alpha - 1) x[k-1]``.

    ========= ========= ==== ================================================
    connector causality unit meaning
    ========= ========= ==== ================================================
    position  input     m    requested position
    command   output    m    command of the actuator
    delay     parameter s    known delay of the actuator; alpha is 1 + delay/h
    ========= ========= ==== ================================================

    References
    ----------
    Chen, Ricles: Development of direct integration algorithms for real-time hybrid simulation and
    actuator control, Eng. Struct. 31 (2009): the inverse of ``z/(alpha z - (alpha - 1))``.
    """

    position: float = Input(unit="m", description="Commanded position")
    command: float = Output(unit="m", description="Compensated command for the actuator")
    delay: float = Parameter(
        start=0.02, unit="s", minimum=0.0, description="Known delay of the actuator"
    )
    last: float = State(start=0.0, description="Commanded position a step before")

    def initialise(self, t: float) -> None:
        """Begin at rest."""
        self.last = self.command = self.position

    def step(self, t: float, h: float) -> None:
        """Extrapolate the motion of the last step."""
        ahead = self.delay / h if h > 0.0 else 0.0
        self.command = self.position + ahead * (self.position - self.last)
        self.last = self.position
