"""Base of the normal contact laws with a restitution: the speed at first touch."""

from __future__ import annotations

from orchestrator import Notice, Parameter, State, where
from python_blocks.contact.partial_contact import PartialContact


class PartialNormalContact(PartialContact):
    """Contact law with a stiffness and a requested restitution.

    Damping that scales with the speed at first touch uses the speed at the first sample with a
    positive compression. If that is not an approach, as for bodies that begin pressed together, the
    contact is elastic, and a notice reports it.
    """

    k: float = Parameter(
        start=3000.0, unit="N/m", minimum=0.0, description="Elastic force at a depth of 1 m, per m"
    )
    restitution: float = Parameter(
        start=0.55,
        unit="1",
        minimum=0.0,
        maximum=1.0,
        description="Coefficient of restitution",
    )
    touching: float = State(start=0.0, description="1 while the compression is positive")
    approach_speed: float = State(start=0.0, description="Rate at first touch, m/s")
    undamped_since: float = State(start=-1.0, description="First contact without approach, s")

    def meet(self, t: float, rate: float, *, inside: bool) -> None:
        """Store the speed at first touch, or the time of a contact without an approach."""
        self.approach_speed = where(inside & (self.touching < 0.5), rate, self.approach_speed)
        self.touching = where(inside, 1.0, 0.0)
        doubtful = inside & (self.approach_speed <= 0.0) & (self.undamped_since < 0.0)
        self.undamped_since = where(doubtful, t, self.undamped_since)

    def in_share_of_approach(self, spring: float, rate: float, number: float) -> float:
        """Return ``g (1 + D delta'/v0)``, without damping if there was no approach."""
        has_speed = self.approach_speed > 0.0
        speed: float = where(has_speed, self.approach_speed, 1.0)
        share: float = where(has_speed, number * rate, 0.0) / speed
        return spring * (1.0 + share)

    def notices(self) -> tuple[Notice, ...]:
        """Return a notice of a contact that began without an approach."""
        if self.undamped_since < 0.0:
            return ()
        return (
            Notice(
                round(self.undamped_since * 1e9),
                "the sides were in contact without having approached each other: no speed at first"
                " touch, so this contact is not damped",
                "let the sides begin apart, or approaching",
            ),
        )
