"""The steps of a slave in real time (HRT, SRT): when the next is due, and which was late."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

_NS = 10**9


@dataclass(slots=True)
class Pacing:
    """Counts steps against a clock.

    Parameters
    ----------
    resolution
        In s, numerator and denominator.
    steps
        Of all data ids; the model is stepped by their greatest common divisor.
    start_ns
        Of simulation time 0, by the clock of the slave.
    """

    resolution: tuple[int, int]
    steps: tuple[int, ...]
    start_ns: int
    done: int = -1
    late: int = 0

    @property
    def stride(self) -> int:
        """Units of the resolution in one step of the model."""
        return gcd(*self.steps) or 1

    def simulated_ns(self, steps: int) -> int:
        """Return the simulation time of so many units of the resolution."""
        return time_ns(self.resolution, steps)

    @property
    def due_ns(self) -> int:
        """When the outputs of the next step leave, by the clock."""
        return self.start_ns + self.simulated_ns((self.done + 1) * self.stride)


def time_ns(resolution: tuple[int, int], steps: int) -> int:
    """Return the time of so many units of a resolution, in ns, without an error that adds up."""
    numerator, denominator = resolution
    return (2 * steps * numerator * _NS + denominator) // (2 * denominator)
