"""Nonlinear components of a loop: dead zone, backlash and saturation."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State, where


class DeadZone(Block):
    """Subtracts a width from a force; forces within the width give 0.

    ========= ========= ==== =========================================
    connector causality unit meaning
    ========= ========= ==== =========================================
    measured  input     N    measured force
    force     output    N    the same minus the width; 0 within it
    width     parameter N    largest force that gives 0
    ========= ========= ==== =========================================

    On a docking rig it keeps free bodies from drifting with the noise of the sensor. A loop whose
    delay removes more damping than it has grows above some amplitude and decays below it. A loop
    that needs its stiffness to be stable does the reverse.

    References
    ----------
    Gelb, Vander Velde: Multiple-input describing functions and nonlinear system design, McGraw-Hill
    (1968), appendix B: ``1 - (2/pi)(asin r + r sqrt(1 - r^2))``, r = width/amplitude.
    """

    measured: float = Input(unit="N", description="Measured force")
    force: float = Output(unit="N", description="Measured force less the width; 0 within it")
    width: float = Parameter(start=1.0, unit="N", minimum=0.0, description="Width of the dead zone")

    def step(self, t: float, h: float) -> None:
        """Evaluate the law; the block has no state."""
        x, w = self.measured, self.width
        self.force = where(x > w, x - w, where(x < -w, x + w, 0.0))


class Saturation(Block):
    """Limits a force to that of an actuator.

    ========= ========= ==== ==============================
    connector causality unit meaning
    ========= ========= ==== ==============================
    wanted    input     N    requested force
    force     output    N    the same within the limit
    limit     parameter N    largest force in either direction
    ========= ========= ==== ==============================

    References
    ----------
    Gelb, Vander Velde (1968), appendix B: ``(2/pi)(asin r + r sqrt(1 - r^2))``, r =
    limit/amplitude, and 1 below it.
    """

    wanted: float = Input(unit="N", description="Force that is asked for")
    force: float = Output(unit="N", description="Force cut at the limit")
    limit: float = Parameter(start=1000.0, unit="N", minimum=0.0, description="Largest force")

    def step(self, t: float, h: float) -> None:
        """Evaluate the law; the block has no state."""
        x, limit = self.wanted, self.limit
        self.force = where(x > limit, limit, where(x < -limit, -limit, x))


class Backlash(Block):
    """Play between a driving and a driven part; the driven part has friction and no inertia.

    ========= ========= ==== ======================================
    connector causality unit meaning
    ========= ========= ==== ======================================
    driving   input     m    position of the driving part
    driven    output    m    position of the driven part
    gap       parameter m    width of the play
    ========= ========= ==== ======================================

    Its describing function lags by up to a quarter turn at an amplitude of half the gap: the
    smaller the motion, the longer the delay.

    References
    ----------
    Gelb, Vander Velde (1968), appendix B, friction-controlled backlash.
    """

    driving: float = Input(unit="m", description="Position of what drives")
    driven: float = Output(unit="m", description="Position of what is driven")
    gap: float = Parameter(start=1e-3, unit="m", minimum=0.0, description="Width of the play")
    left: float = State(start=0.0, description="Position of the driven part, m")

    def step(self, t: float, h: float) -> None:
        """Move the driven part at the end of the play."""
        half = 0.5 * self.gap
        low, high = self.driving - half, self.driving + half
        self.left = where(self.left < low, low, where(self.left > high, high, self.left))
        self.driven = self.left
