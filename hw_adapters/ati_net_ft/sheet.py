"""The metal sheet that the emulated sensor feels: a spring with a damper, touched on one side."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

_LINK = struct.Struct("<4sIQ12d")


@dataclass(slots=True)
class Probe:
    """Where the tip is, from the last message of the emulated robot.

    Between messages it goes on at its last rate, for ``horizon_s`` at most: over one cycle T an
    acceleration a makes an error of ``a T**2 / 2``.
    """

    horizon_s: float = 0.02
    position: tuple[float, ...] = (0.0,) * 6
    velocity: tuple[float, ...] = (0.0,) * 6
    at_ns: int = 0

    def take(self, datagram: bytes) -> bool:
        """Take a message; return false for what is none."""
        if len(datagram) != _LINK.size:
            return False
        mark, _, at_ns, *values = _LINK.unpack(datagram)
        if mark != b"SDPL":
            return False
        self.at_ns = at_ns
        self.position, self.velocity = tuple(values[:6]), tuple(values[6:])
        return True

    def at(self, now_ns: int, axis: int) -> tuple[float, float]:
        """Return displacement in m, or rad, and its rate along one axis."""
        age = min(max((now_ns - self.at_ns) * 1e-9, 0.0), self.horizon_s)
        return self.position[axis] + age * self.velocity[axis], self.velocity[axis]


@dataclass(slots=True)
class Sheet:
    """``F = -(k d + b d')`` where d > 0 is how deep the tip has pressed, and F never pulls.

    Parameters
    ----------
    stiffness, damping
        k in N/m, b in N.s/m.
    axis
        0 to 2: X, Y, Z; the sheet lies across it, towards its positive side.
    gap
        Displacement at which the tip touches, m.
    both_sides
        The tip is fastened: the sheet pulls as well.
    noise
        Standard deviation in N, in N.m for torques.
    """

    stiffness: float = 1000.0
    damping: float = 0.0
    axis: int = 0
    gap: float = 0.0
    both_sides: bool = False
    noise: float = 0.0
    seed: int = 0
    _draws: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._draws = random.Random(self.seed)  # noqa: S311 # for noise that repeats

    def force(self, displacement: float, rate: float) -> float:
        """Return the force on the tip, N, without noise."""
        depth = displacement - self.gap
        force = -(self.stiffness * depth + self.damping * rate)
        if self.both_sides:
            return force
        return min(force, 0.0) if depth > 0.0 else 0.0

    def wrench(self, displacement: float, rate: float) -> list[float]:
        """Return Fx, Fy, Fz, Tx, Ty, Tz on the tip, with noise."""
        felt = [self._draws.gauss(0.0, self.noise) if self.noise else 0.0 for _ in range(6)]
        felt[self.axis] += self.force(displacement, rate)
        return felt
