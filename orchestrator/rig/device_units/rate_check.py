"""Whether a device sends as often as its adapter says, by the device's own clock."""

from __future__ import annotations

from orchestrator.core.diagnostics import DeviceError
from orchestrator.rig.devices import Received

#: Periods over which is measured, at most, and for how long, in seconds.
_PERIODS, _SECONDS = 8, 0.1
#: How far the measured rate may be from the declared one, as a factor.
RATE_TOLERANCE = 1.2


class RateCheck:
    """Measures the rate of the first samples; a device without clock or count is not measured.

    Parameters
    ----------
    rate
        Samples per second that are expected.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._wanted = min(_PERIODS, max(1, int(rate * _SECONDS)))
        self._first: tuple[float, int] | None = None
        #: Whether nothing more is to be measured.
        self.done = False

    def take(self, received: Received) -> None:
        """Take a new sample into account."""
        if received.device_time is None or received.sequence is None:
            self.done = True
            return
        if self._first is None:
            self._first = received.device_time, received.sequence
            return
        seconds = received.device_time - self._first[0]
        periods = received.sequence - self._first[1]
        if seconds <= 0.0 or periods <= 0:  # a count that began again, a clock that stands
            self.done = True
            return
        if periods < self._wanted:
            return
        self.done = True
        found = periods / seconds
        if not 1.0 / RATE_TOLERANCE <= found / self._rate <= RATE_TOLERANCE:
            raise DeviceError(
                f"it sends {found:.4g} samples a second by its own clock; expected"
                f" {self._rate:.4g}: set the device or its settings to the same rate"
            )
