"""What no linear model has: a dead zone, backlash and saturation, as components of a loop."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State, where


class DeadZone(Block):
    """Keeps a force back until it is larger than its noise, and that much of it for good.

    ========= ========= ==== =========================================
    connector causality unit meaning
    ========= ========= ==== =========================================
    measured  input     N    what a sensor shows
    force     output    N    the same less the width; 0 within it
    width     parameter N    largest force that is taken for none
    ========= ========= ==== =========================================

    On a docking rig it keeps free bodies from drifting with the noise of the sensor. A loop whose
    delay takes more damping away than there is grows beyond some amplitude, and dies down below it;
    one that needs its stiffness to be stable does the reverse.

    References
    ----------
    Gelb, Vander Velde: Multiple-input describing functions and nonlinear system design, McGraw-Hill
    (1968), appendix B: ``1 - (2/pi)(asin r + r sqrt(1 - r^2))``, r = width/amplitude.
    """

    measured: float = Input(unit="N", description="What a sensor shows")
    force: float = Output(unit="N", description="The same less the width; 0 within it")
    width: float = Parameter(
        start=1.0, unit="N", minimum=0.0, description="Largest force that is taken for none"
    )

    def step(self, t: float, h: float) -> None:
        """Evaluate the law; the block has no state."""
        x, w = self.measured, self.width
        self.force = where(x > w, x - w, where(x < -w, x + w, 0.0))


class Saturation(Block):
    """Gives no more force than an actuator has.

    ========= ========= ==== ==============================
    connector causality unit meaning
    ========= ========= ==== ==============================
    wanted    input     N    force that is asked for
    force     output    N    the same within the limit
    limit     parameter N    largest force, either way
    ========= ========= ==== ==============================

    References
    ----------
    Gelb, Vander Velde (1968), appendix B: ``(2/pi)(asin r + r sqrt(1 - r^2))``, r =
    limit/amplitude, and 1 below it.
    """

    wanted: float = Input(unit="N", description="Force that is asked for")
    force: float = Output(unit="N", description="The same within the limit")
    limit: float = Parameter(start=1000.0, unit="N", minimum=0.0, description="Largest force")

    def step(self, t: float, h: float) -> None:
        """Evaluate the law; the block has no state."""
        x, limit = self.wanted, self.limit
        self.force = where(x > limit, limit, where(x < -limit, -limit, x))


class Backlash(Block):
    """Play between what drives and what is driven, which stays where it is left: no inertia.

    ========= ========= ==== ======================================
    connector causality unit meaning
    ========= ========= ==== ======================================
    driving   input     m    position of what drives
    driven    output    m    position of what is driven
    gap       parameter m    width of the play
    ========= ========= ==== ======================================

    Its describing function lags, by up to a quarter turn at an amplitude of half the gap: a delay
    that is longer, the smaller the motion.

    References
    ----------
    Gelb, Vander Velde (1968), appendix B, friction-controlled backlash.
    """

    driving: float = Input(unit="m", description="Position of what drives")
    driven: float = Output(unit="m", description="Position of what is driven")
    gap: float = Parameter(start=1e-3, unit="m", minimum=0.0, description="Width of the play")
    left: float = State(start=0.0, description="Where it was left")

    def step(self, t: float, h: float) -> None:
        """Push on what is at the end of the play."""
        half = 0.5 * self.gap
        low, high = self.driving - half, self.driving + half
        self.left = where(self.left < low, low, where(self.left > high, high, self.left))
        self.driven = self.left
