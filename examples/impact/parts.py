"""Blocks of the air table besides the simulators and their contact."""

from __future__ import annotations

from orchestrator import Block, Input, Output, Parameter, where


class Encounter(Block):
    """Relative motion of two bodies, and their total momentum.

    The relative velocity is that of the active body as seen from the passive one: negative while
    they approach, as the paper counts it.
    """

    position_a: float = Input(unit="m", description="Position of the passive body")
    velocity_a: float = Input(unit="m/s", description="Velocity of the passive body")
    position_b: float = Input(unit="m", description="Position of the active body")
    velocity_b: float = Input(unit="m/s", description="Velocity of the active body")
    gap: float = Output(unit="m", description="Distance; negative is pressed in")
    rate: float = Output(unit="m/s", description="Relative velocity")
    momentum: float = Output(unit="kg.m/s", description="Momentum of both")
    m_a: float = Parameter(start=38.4, unit="kg", above=0.0, description="Mass of the passive body")
    m_b: float = Parameter(start=21.85, unit="kg", above=0.0, description="Mass of the active body")

    def step(self, t: float, h: float) -> None:
        """Take the differences."""
        self.gap = self.position_b - self.position_a
        self.rate = self.velocity_b - self.velocity_a
        self.momentum = self.m_a * self.velocity_a + self.m_b * self.velocity_b


class ConstantFriction(Block):
    """The friction of Eq 10 as printed: a constant f in addition to the contact force.

    ``f`` is added to the equation of the deformation while it is positive. With ``+f`` it presses
    the bodies together all the time, which no friction does; ``f = -5.4526`` is the other reading.
    """

    position_a: float = Input(unit="m", description="Position of the passive body")
    position_b: float = Input(unit="m", description="Position of the active body")
    on_a: float = Output(unit="N", description="On the passive body")
    on_b: float = Output(unit="N", description="On the active body")
    f: float = Parameter(
        start=5.4526, unit="N", minimum=-1e3, maximum=1e3, description="mu (m1 + m2) g"
    )

    def step(self, t: float, h: float) -> None:
        """Give the constant while the bodies touch."""
        self.on_a = where(self.position_a > self.position_b, self.f, 0.0)
        self.on_b = -self.on_a


class Push(Block):
    """A hand that pushes for a while."""

    force: float = Output(unit="N", description="Force of the hand", depends_on=())
    strength: float = Parameter(start=27.7, unit="N", minimum=0.0, description="While it pushes")
    until: float = Parameter(start=0.5, unit="s", minimum=0.0, description="When it lets go")

    def step(self, t: float, h: float) -> None:
        """Push, or not, over the step that begins."""
        self.force = where(t < self.until - 1e-9, self.strength, 0.0)
