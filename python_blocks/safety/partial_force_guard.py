"""Base of the guards of one force and of a wrench: fading, and their causes."""

from __future__ import annotations

from orchestrator import Input, Output, Parameter, Reason, State
from python_blocks.safety.partial_guard import PartialGuard
from python_blocks.safety.work import surplus


class PartialForceGuard(PartialGuard):
    """Fades the force in the safe state, and sums the energy.

    References
    ----------
    None; the account of energy is derived in :mod:`python_blocks.safety.work`.
    """

    reaction = "the force on the simulated bodies fades"

    sensor_lost: bool = Input(description="The sensor is reported lost")
    energy: float = Output(
        unit="J", description="Energy that the hardware has generated", depends_on=()
    )
    limit: float = Parameter(start=2000.0, unit="N", above=0.0, description="Largest force")
    disagreement: float = Parameter(
        start=400.0,
        unit="N",
        above=0.0,
        description="Largest difference of used and measured force",
    )
    energy_limit: float = Parameter(
        start=3.75,
        unit="J",
        above=0.0,
        description="Most energy that the hardware may give; see energy",
    )
    stale_time: float = Parameter(
        start=0.01,
        unit="s",
        minimum=0.0,
        description="Time for which a sample may stay unchanged in motion",
    )
    stale_travel: float = Parameter(
        start=1e-4, unit="m", minimum=0.0, description="Motion that must change the sample"
    )
    unknown_travel: float = Parameter(
        start=0.015,
        unit="m",
        minimum=0.0,
        description="Distance that an unidentified contact may move",
    )
    unknown_time: float = Parameter(
        start=1.0,
        unit="s",
        minimum=0.0,
        description="Time for which a contact may be unidentified without a warning",
    )
    ramp: float = Parameter(
        start=0.2, unit="s", above=0.0, description="Time in which the force fades"
    )
    hold: bool = Parameter(
        start=False, description="Hold the force in the safe state instead of fading it"
    )
    unknown_for: float = State(
        start=0.0, description="Time for which the contact has been unidentified, s"
    )
    share: float = State(start=1.0, description="Share of the force on the way back to operation")

    def begin(self) -> None:
        """Begin in operation, without a cause."""
        super().begin()
        self.energy, self.unknown_for, self.share = 0.0, 0.0, 1.0

    def leave(self, t: float) -> None:
        """Return to operation at a time, s; the force rises as it faded."""
        super().leave(t)
        self.energy, self.unknown_for, self.share = 0.0, 0.0, 0.0

    def rising(self, h: float) -> float:
        """Return the share of the force a step later during the return to operation."""
        self.share = min(1.0, self.share + h / self.ramp)
        return self.share

    def contact_unknown(self, t: float, h: float) -> None:
        """Count a step with an unknown contact, and warn once when it lasts."""
        self.unknown_for += h
        if self.unknown_for - h <= self.unknown_time < self.unknown_for:
            self.warn(Reason.UNKNOWN_CONTACT, t + h)

    def faded(self, t: float) -> float:
        """Return the remaining share of the force in the safe state at a time, s."""
        if self.hold:
            return 1.0
        share = 1.0 - (t - self.since) / self.ramp
        return max(0.0, share)

    def account(self, work: float) -> bool:
        """Add the work of a step, J, and return whether the sum exceeds its limit."""
        self.energy = surplus(self.energy, work)
        return self.energy > self.energy_limit
