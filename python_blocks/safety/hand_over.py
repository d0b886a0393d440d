"""Hand-over between the force of a model and that of hardware, without a jump."""

from __future__ import annotations

from math import exp

from orchestrator import Block, Input, Output, Parameter, State


class HandOver(Block):
    """Selects a force from hardware while it is trusted, else from its model; never jumps.

    Towards the hardware ``force = (1 - w) (model + d) + w hardware``, with a quintic ``w`` over the
    time ``blend``. When trust is lost the model takes over at once, ``force = model + d``. The
    difference ``d`` begins with value and rate of ``force - model`` at the last good sample, and
    decays as a critically damped motion of time constant ``tau``,

        d(t) = (d0 + (d1 + d0/tau) t) exp(-t/tau).

    So value and rate are continuous. Connect ``trusted`` to the output ``valid`` of a device: under
    a supervisor it is 1 in BLEND and ACTIVE. A sample without trust is not used.

    ========= ========= ==== =====================================================
    connector causality unit meaning
    ========= ========= ==== =====================================================
    model     input     N    force of the model
    hardware  input     N    force of the hardware
    trusted   input     1    Above 0.5: use the force of the hardware
    force     output    N    selected force
    weight    output    1    share of the hardware
    blend     parameter s    time to blend the hardware in
    tau       parameter s    time constant of the decay of the difference
    ========= ========= ==== =====================================================

    References
    ----------
    None: a quintic, and the closed form of a critically damped motion.
    """

    model: float = Input(unit="N", description="Force of the model")
    hardware: float = Input(unit="N", description="Force of the hardware")
    trusted: float = Input(unit="1", description="Above 0.5: use the force of the hardware")
    force: float = Output(
        unit="N", description="Selected force", depends_on=("model", "hardware", "trusted")
    )
    weight: float = Output(
        unit="1", description="Share of the hardware in the selected force", depends_on=("trusted",)
    )
    blend: float = Parameter(start=0.5, unit="s", above=0.0, description="Time of blending in")
    tau: float = Parameter(start=0.05, unit="s", above=0.0, description="Time constant")

    share: float = State(start=0.0, description="Elapsed share of the time of blending in")
    gap: float = State(start=0.0, description="force - model, N")
    drift: float = State(start=0.0, description="Its rate, N/s")
    left: float = State(start=0.0, description="What is left of it since blending began, N")
    left_drift: float = State(start=0.0, description="Its rate, N/s")

    def initialise(self, t: float) -> None:
        """Begin with the model, or with the hardware where it is trusted from the start."""
        self.share = self.weight = 1.0 if self.trusted > 0.5 else 0.0
        self.force = self.hardware if self.trusted > 0.5 else self.model
        self.gap = self.force - self.model
        self.drift = self.left = self.left_drift = 0.0

    def step(self, t: float, h: float) -> None:
        """Continue the blend towards the hardware, or away from it."""
        if self.trusted > 0.5:
            self._approach(h)
        else:
            self.share = self.weight = 0.0
            self.gap, self.drift = self._faded(self.gap, self.drift, h)
            self.force = self.model + self.gap

    def _approach(self, h: float) -> None:
        if self.share == 0.0:
            self.left, self.left_drift = self.gap, self.drift
        self.left, self.left_drift = self._faded(self.left, self.left_drift, h)
        self.share = s = min(self.share + h / self.blend, 1.0)
        self.weight = w = s * s * s * (10.0 + s * (6.0 * s - 15.0))
        mixed = (1.0 - w) * (self.model + self.left) + w * self.hardware
        self.force = self.hardware if s == 1.0 else mixed
        before, self.gap = self.gap, self.force - self.model
        self.drift = (self.gap - before) / h if h else 0.0

    def _faded(self, value: float, rate: float, h: float) -> tuple[float, float]:
        """Return a critically damped motion and its rate a step later, exactly."""
        pull = rate + value / self.tau
        share = exp(-h / self.tau)
        return (value + pull * h) * share, (rate - pull * h / self.tau) * share
