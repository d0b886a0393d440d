"""The passivity observer of a supervisor: energy that a rig gives to a simulation."""

from __future__ import annotations

import math


class PassivityObserver:
    """Sums the work of a force on a motion, and what was given beyond what was last taken.

    ``W`` is the work of the rig on the simulation. A passive rig gives at most what it took and
    stored; so ``D = W - min W``, summed as ``D = max(0, D + dW)``, stays below the largest energy
    that the contact stores. The force is that of the newest sample when a motion begins, which is
    how a simulation holds it over the step.

    Parameters
    ----------
    sense
        1 or -1: power into the simulation is sense x force x velocity.

    References
    ----------
    Hannaford, Ryu: Time-domain passivity control of haptic interfaces, IEEE Transactions on
    Robotics and Automation 18(1), 2002: its observer, of one port; counted from its last minimum
    instead of the start, since a contact closes and opens.
    """

    def __init__(self, sense: int) -> None:
        self._sense = sense
        self._force, self._place = 0.0, math.nan
        #: D, J.
        self.given = 0.0

    def push(self, force: float) -> None:
        """Take a sample of the force, N."""
        if math.isfinite(force):
            self._force = force

    def move(self, place: float) -> None:
        """Take a sample of the motion, m."""
        if math.isfinite(self._place) and math.isfinite(place):
            self.given = max(0.0, self.given + self._sense * self._force * (place - self._place))
        self._place = place
