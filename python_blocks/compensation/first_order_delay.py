"""Compensation of a known delay to first order: a baseline."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter


class FirstOrderDelayCompensation(Block):
    """Sends a robot its position one delay ahead: ``position + delay * velocity``.

    ========= ========= ==== ============================================
    connector causality unit meaning
    ========= ========= ==== ============================================
    position  input     m    requested position
    velocity  input     m/s  requested velocity
    command   output    m    command of the robot
    delay     parameter s    known delay or lag of the robot
    ========= ========= ==== ============================================

    A second-order robot of natural frequency f and damping ratio zeta lags by ``zeta/(pi f)``
    at low frequencies: 14.9 ms for 15 Hz and 0.7.

    References
    ----------
    Shimoji et al. (1991), as Yu et al., IEEE Access (2018), cite it
    in section I: first-order compensation of a pure or a first-order delay that is known.
    """

    position: float = Input(unit="m", description="Commanded position")
    velocity: float = Input(unit="m/s", description="Commanded velocity")
    command: float = Output(unit="m", description="Compensated command for the robot")
    delay: float = Parameter(
        start=14.9e-3, unit="s", minimum=0.0, description="Known delay of the robot"
    )

    def step(self, t: float, h: float) -> None:
        """Evaluate the prediction; the block has no state."""
        self.command = self.position + self.delay * self.velocity
