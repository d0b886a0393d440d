"""Base of contacts between two sides on a line: ports, energy and impulse."""

from __future__ import annotations

from orchestrator import Block, Input, Output, State, where


class PartialContact(Block):
    """Contact of a side a with a side b on a line, one degree of freedom.

    With the compression ``delta = position_a - position_b`` the sides push each other apart while
    ``delta > 0``. A law gives the elastic force and its energy at a depth, and the force with
    damping.

    The ports are those of ``spring_dashpot`` and of the Modelica class
    ``SpaceDocking.Interfaces.PartialNormalContact``: each can replace the other.
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
    impulse: float = Output(
        unit="N.s", description="Impulse on side b so far, the step included", depends_on=()
    )
    transferred: float = State(start=0.0, description="Impulse on side b so far, N.s")

    def elastic(self, depth: float) -> tuple[float, float]:
        """Return elastic force, N, and energy, J, at a depth >= 0, m."""
        raise NotImplementedError(f"{type(self).__name__} does not say its elastic force")

    def damped(self, spring: float, rate: float) -> float:
        """Return the force with damping, N, from the elastic one and a rate, m/s."""
        raise NotImplementedError(f"{type(self).__name__} does not say its damping")

    def admitted(self, push: float) -> float:
        """Return the force between touching sides, without pulling."""
        admitted: float = where(push > 0.0, push, 0.0)
        return admitted

    def meet(self, t: float, rate: float, *, inside: bool) -> None:
        """Store the state that a law needs of a touch; nothing by default."""

    def step(self, t: float, h: float) -> None:
        """Evaluate the law; the state is the impulse and the state of the law."""
        depth = self.position_a - self.position_b
        rate = self.velocity_a - self.velocity_b
        inside = depth > 0.0
        self.meet(t, rate, inside=inside)
        spring, stored = self.elastic(where(inside, depth, 0.0))
        push: float = where(inside, self.admitted(self.damped(spring, rate)), 0.0)
        self.transferred = self.transferred + push * h
        self.force_a, self.force_b = -push, push
        self.compression, self.energy = depth, stored
        self.dissipation = (push - spring) * rate
        self.impulse = self.transferred
