"""Base of the normal contact laws: ports, first touch, energy and impulse."""

from __future__ import annotations

from orchestrator import Block, Input, Notice, Output, Parameter, State, where


class PartialNormalContact(Block):
    """Contact of a side a with a side b on a line, one degree of freedom; it never pulls.

    With the compression ``delta = position_a - position_b`` the sides push each other apart while
    ``delta > 0``. A law says the elastic force and its energy at a depth, and what damping makes of
    the force. Damping that is scaled with the speed at first touch takes the speed at which the
    compression is seen to be positive for the first time; where that is not an approach, as for
    bodies that begin pressed together, the contact is elastic and a notice says so.

    The ports are those of ``spring_dashpot`` and of the Modelica class
    ``SpaceDocking.Interfaces.PartialNormalContact``: each can stand in for the other.
    """

    position_a: float = Input(unit="m", description="Position of side a")
    velocity_a: float = Input(unit="m/s", description="Velocity of side a")
    position_b: float = Input(unit="m", description="Position of side b")
    velocity_b: float = Input(unit="m/s", description="Velocity of side b")
    force_a: float = Output(unit="N", description="Force on side a")
    force_b: float = Output(unit="N", description="Force on side b")
    compression: float = Output(
        unit="m", description="Compression", depends_on=("position_a", "position_b")
    )
    energy: float = Output(
        unit="J", description="Energy of the spring", depends_on=("position_a", "position_b")
    )
    dissipation: float = Output(unit="W", description="Power that the damping takes")
    impulse: float = Output(unit="N.s", description="Impulse on side b so far, the step included")
    k: float = Parameter(
        start=3000.0, unit="N/m", minimum=0.0, description="Elastic force at a depth of 1 m, per m"
    )
    restitution: float = Parameter(
        start=0.55,
        unit="1",
        minimum=0.0,
        maximum=1.0,
        description="Wanted speed of leaving for each m/s of approach",
    )
    touching: float = State(start=0.0, description="1 while the compression is positive")
    approach_speed: float = State(start=0.0, description="Rate at first touch, m/s")
    transferred: float = State(start=0.0, description="Impulse on side b so far, N.s")
    undamped_since: float = State(start=-1.0, description="First contact without approach, s")

    def elastic(self, depth: float) -> tuple[float, float]:
        """Return elastic force, N, and energy, J, at a depth >= 0, m."""
        raise NotImplementedError(f"{type(self).__name__} does not say its elastic force")

    def damped(self, spring: float, rate: float) -> float:
        """Return the force, N, that damping makes of the elastic one at a rate, m/s."""
        raise NotImplementedError(f"{type(self).__name__} does not say its damping")

    def admitted(self, push: float) -> float:
        """Return the force between touching sides: none that would pull."""
        admitted: float = where(push > 0.0, push, 0.0)
        return admitted

    def step(self, t: float, h: float) -> None:
        """Evaluate the law; what is remembered is the speed at first touch, and the impulse."""
        depth = self.position_a - self.position_b
        rate = self.velocity_a - self.velocity_b
        inside = depth > 0.0
        self.approach_speed = where(inside & (self.touching < 0.5), rate, self.approach_speed)
        self.touching = where(inside, 1.0, 0.0)
        doubtful = inside & (self.approach_speed <= 0.0) & (self.undamped_since < 0.0)
        self.undamped_since = where(doubtful, t, self.undamped_since)
        spring, stored = self.elastic(where(inside, depth, 0.0))
        push = where(inside, self.admitted(self.damped(spring, rate)), 0.0)
        self.transferred = self.transferred + push * h
        self.force_a, self.force_b = -push, push
        self.compression, self.energy = depth, stored
        self.dissipation = (push - spring) * rate
        self.impulse = self.transferred

    def in_share_of_approach(self, spring: float, rate: float, number: float) -> float:
        """Return ``g (1 + D delta'/v0)``, without damping where no approach is known."""
        known = self.approach_speed > 0.0
        speed: float = where(known, self.approach_speed, 1.0)
        share: float = where(known, number * rate, 0.0) / speed
        return spring * (1.0 + share)

    def notices(self) -> tuple[Notice, ...]:
        """Say that a contact began without an approach."""
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
