"""A sample that an adapter received from its device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Received:
    """One sample of a device.

    Parameters
    ----------
    values
        Of the outputs in the order of the device's connectors, arrays row by row.
    device_time
        In seconds, by the device's own clock; ``None`` if it sends none.
    sequence
        The device's own count of its samples, from which lost and repeated ones are told; ``None``
        if it has none.
    valid
        Whether the device itself says that the values can be used.
    status
        The device's own status word, for messages; 0 if it has none.
    late_answers
        How many answers the device has found late so far, by its own count: commands that it did
        not take in their cycle. ``None`` if it does not say.
    """

    values: Sequence[float]
    device_time: float | None = None
    sequence: int | None = None
    valid: bool = True
    status: int = 0
    late_answers: int | None = None
