"""Smith predictor for a rig whose delay and contact are known: a baseline."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, State


class SmithPredictor(Block):
    """Replaces the late part of a measured force by a model without delay.

    The block evaluates the model of the contact, ``k x + c v``, at the requested motion and at the
    same motion delayed like the rig, and adds the difference to the measured force. If delay and
    contact are right, the delay leaves the loop. If they are wrong, their error stays in it.

    ========= ========= ===== ====================================================
    connector causality unit  meaning
    ========= ========= ===== ====================================================
    measured  input     N     force of the late contact
    position  input     m     requested position of the contact
    velocity  input     m/s   requested velocity
    force     output    N     force without the delay
    delay     parameter s     known delay of the rig, >= 0
    stiffness parameter N/m   known stiffness of the contact
    damping   parameter N.s/m known damping of the contact
    ========= ========= ===== ====================================================

    Before the start the motion is assumed constant.

    References
    ----------
    Smith: Closer control of loops with dead time, Chem. Eng. Progress 53 (1957). Applied to a
    contact; the past is interpolated linearly, so the delay may be any part of a step.
    """

    measured: float = Input(unit="N", description="Force of the late contact")
    position: float = Input(unit="m", description="Commanded position of the contact")
    velocity: float = Input(unit="m/s", description="Commanded velocity of the contact")
    force: float = Output(unit="N", description="Force without the delay")
    delay: float = Parameter(
        start=16e-3, unit="s", minimum=0.0, description="Known delay of the rig"
    )
    stiffness: float = Parameter(start=5e4, unit="N/m", minimum=0.0, description="Known stiffness")
    damping: float = Parameter(start=100.0, unit="N.s/m", minimum=0.0, description="Known damping")
    past: list[tuple[float, float]] = State(start=[], description="Times and modelled forces")

    def initialise(self, t: float) -> None:
        """Begin with a past at rest."""
        self.past = []
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        now, model = t + h, self.stiffness * self.position + self.damping * self.velocity
        self.past.append((now, model))
        delayed_time = now - self.delay
        while len(self.past) > 2 and self.past[1][0] <= delayed_time:
            del self.past[0]
        self.force = self.measured + model - self._at(delayed_time)

    def _at(self, time: float) -> float:
        """Return the modelled force at a time, linear between two samples."""
        (begin, first), (end, second) = self.past[0], self.past[min(1, len(self.past) - 1)]
        if time <= begin or end <= begin:
            return first
        if time >= end:
            return second
        return first + (second - first) * (time - begin) / (end - begin)
