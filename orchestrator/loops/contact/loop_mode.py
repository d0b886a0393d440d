"""Modes of a sampled contact loop: which vibration gains energy, and how much damping it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.loops.contact.sampled_loop import SampledContactLoop

_PASSES = 8  # the frequency depends on the stiffness that is felt there, which hardly changes


@dataclass(frozen=True)
class LoopMode:
    """One vibration of the chain with the contact as it feels through robot, sensor and samples.

    Parameters
    ----------
    omega
        Angular frequency, rad/s, without dampers.
    stiffness, damping
        What the bodies feel of the contact at that frequency, N/m and N s/m.
    needed
        Damping of the contact that the mode needs, N s/m: negative as far as the dampers between
        the bodies do it.
    growth
        First estimate of its growth rate, 1/s: all dampers counted as small.
    """

    omega: float
    stiffness: float
    damping: float
    needed: float
    growth: float

    @property
    def margin(self) -> float:
        """Damping of the contact that is left, N s/m; negative: the vibration grows."""
        return self.damping - self.needed


def loop_modes(loop: SampledContactLoop) -> tuple[LoopMode, ...]:
    """Give the modes of a loop by rising frequency, with the reasons why they grow or not.

    To first order a vibration loses ``(c + d) / (2 m)`` of its amplitude in a second, with the
    damping ``c`` of the contact as it is felt at its frequency.
    """
    found = []
    for number in range(loop.chain.joints):
        stiffness = loop.stiffness
        for _ in range(_PASSES):
            frequencies, contact, links = loop.chain.modes(stiffness)
            omega = float(frequencies[number])
            felt = loop.dynamic_stiffness(omega)
            stiffness = felt.real
        damping = felt.imag / omega
        needed = -float(links[number] / contact[number])
        growth = -float(contact[number]) * (damping - needed)
        found.append(LoopMode(omega, stiffness, damping, needed, growth))
    return tuple(found)
