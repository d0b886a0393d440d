"""What must be left of a loop's margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.linearisation import Margins


@dataclass(frozen=True, slots=True)
class Reserve:
    """Margins that a loop must have at least.

    Parameters
    ----------
    delay
        Of a delay that is added at the command, s, > 0.
    gain
        Of the loop's gain, a factor > 1.
    """

    delay: float
    gain: float

    def lacks(self, margins: Margins) -> list[str]:
        """Say what a loop has too little of; nothing if it has enough."""
        if not margins.is_stable:
            return ["the loop is unstable"]
        found = []
        if margins.delay.value < self.delay:
            found.append(
                f"the delay margin is {margins.delay.value * 1e3:.4g} ms, below the reserve of"
                f" {self.delay * 1e3:.4g} ms"
            )
        if margins.gain.value < self.gain:
            found.append(
                f"the gain margin is {margins.gain.value:.4g}, below the reserve of {self.gain:.4g}"
            )
        return found
