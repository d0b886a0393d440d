"""What a device takes and gives, and a sample that an adapter received from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator.core.diagnostics import DescriptionError


@dataclass(frozen=True, slots=True)
class DeviceConnector:
    """One command or one measurement of a device, a Real.

    Parameters
    ----------
    name
        Unique within the device.
    unit
        Modelica notation, such as ``"N.m"``; ``"1"`` for a number.
    description
        One line for people.
    shape
        ``()`` for a scalar, else the array's extents.
    frame
        Name of the frame that its components are given in; ``None`` if it has none.
    minimum, maximum
        The ends of its range, for each element.
    start
        Of a command: what is sent until the run gives another; of a measurement: its value until
        the first sample has come.
    speed, acceleration
        Of a command: how fast it may change, per s and per s**2. What excites a device keeps to
        both; a command that is faster is sent slower.
    rests
        Of a command, when nobody gives it any more: ``"in place"``, as positions do; ``"at zero"``,
        as velocities and forces do.
    deceleration
        With which it comes to rest, per s**2; of what rests at zero: how fast it gets there, per s.
        Infinite: at once.
    """

    name: str
    unit: str
    description: str = ""
    shape: tuple[int, ...] = ()
    frame: str | None = None
    minimum: float = -math.inf
    maximum: float = math.inf
    start: float = 0.0
    speed: float = math.inf
    acceleration: float = math.inf
    rests: Literal["in place", "at zero"] = "in place"
    deceleration: float = math.inf

    def __post_init__(self) -> None:
        if not (self.speed > 0.0 and self.acceleration > 0.0 and self.deceleration > 0.0):
            raise DescriptionError(
                f"'{self.name}': expected a speed, an acceleration and a deceleration > 0, found"
                f" {self.speed:g}, {self.acceleration:g} and {self.deceleration:g}"
            )
        if not self.minimum < self.maximum:
            raise DescriptionError(
                f"'{self.name}': expected a range, found {self.minimum:g} to {self.maximum:g}"
            )
        if not self.minimum <= self.start <= self.maximum:
            raise DescriptionError(
                f"'{self.name}': its start is {self.start:g} {self.unit}; expected one from"
                f" {self.minimum:g} to {self.maximum:g}"
            )

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The ends of its range; ``None`` where it has none."""
        low = None if math.isinf(self.minimum) else self.minimum
        return low, None if math.isinf(self.maximum) else self.maximum


@dataclass(frozen=True, slots=True)
class DeviceConnectors:
    """All that a device takes and gives.

    Parameters
    ----------
    inputs
        Its commands, in the order in which :meth:`~orchestrator.rig.devices.Device.send` has them.
    outputs
        Its measurements, in the order of :class:`~orchestrator.rig.devices.Received`.
    rate
        Samples per second that it sends.
    """

    inputs: tuple[DeviceConnector, ...]
    outputs: tuple[DeviceConnector, ...]
    rate: float

    def __post_init__(self) -> None:
        names = [connector.name for connector in (*self.inputs, *self.outputs)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise DescriptionError(f"a device has {', '.join(map(repr, twice))} more than once")
        if not (self.rate > 0.0 and math.isfinite(self.rate)):
            raise DescriptionError(f"expected a rate > 0 Hz, found {self.rate:g}")


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
