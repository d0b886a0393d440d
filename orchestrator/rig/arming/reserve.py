"""What must be left of a loop's margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.loops.sampled_loop import SampledLoop

if TYPE_CHECKING:
    from orchestrator.loops import LinearSystem, Margins
    from orchestrator.loops.multirate_loop import MultirateLoop


@dataclass(frozen=True, slots=True)
class Reserve:
    """Margins that a loop must have at least.

    Parameters
    ----------
    delay
        Of a delay that is added at the command, s, > 0.
    gain
        Of the loop's gain, a factor > 1.
    own_growth
        Modes that grow no faster, 1/s, are the plant's own, and margins are those of growing
        faster: an arm that coasts drifts apart, whatever its joints do.
    """

    delay: float
    gain: float
    own_growth: float = 0.0

    def cut(self, linear: LinearSystem, line: str) -> SampledLoop | MultirateLoop | None:
        """Cut the loop at a line, less its own growth; ``None`` if the line is in none."""
        loop = SampledLoop.of(linear, line)
        if loop is None or not self.own_growth:
            return loop
        if not isinstance(loop, SampledLoop):
            raise CapabilityError(
                f"the line {loop.line} is read several times in a period: expected own_growth = 0"
                f" there, found {self.own_growth:g} 1/s: choose rates by which it is read once"
            )
        return loop.beyond(self.own_growth)

    def lacks(self, margins: Margins) -> list[str]:
        """Say what a loop has too little of; nothing if it has enough."""
        if not margins.is_stable:
            beyond = f" beyond own_growth = {self.own_growth:g} 1/s" if self.own_growth else ""
            return [f"the loop is unstable{beyond}"]
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
