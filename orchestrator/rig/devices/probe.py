"""A first look at a device: does it speak, how often, and what does it say."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator.core.diagnostics import DeviceError, WireFormatError
from orchestrator.rig.devices.connectors import Received
from orchestrator.rig.devices.device import Device

#: Of one wait; a device that is silent is left when the time is over.
_WAIT_S = 0.1


@dataclass(frozen=True, slots=True)
class Probe:
    """What a device sent in some seconds.

    seconds: From its opening to the end.
    samples: How many came.
    refused: Datagrams that were no samples.
    first_refusal: Why the first of them was none; empty without one.
    lost, repeated, late: By the device's sequence: numbers that were passed over, that came again,
        that went back.
    rate: Samples per second between the first and the last; 0 with fewer than two.
    jitter: Standard deviation of the time between two arrivals, s.
    longest_gap: Between two arrivals, s.
    last: The newest sample.
    """

    seconds: float
    samples: int
    refused: int
    first_refusal: str
    lost: int
    repeated: int
    late: int
    rate: float
    jitter: float
    longest_gap: float
    last: Received | None


def probe(device: Device, seconds: float) -> Probe:
    """Open a device, listen, and close it; a device that must be answered is told its start values.

    Nothing else is commanded. The start values of a robot under corrections leave it where it is.

    device: Not opened yet.
    seconds: How long to listen.
    Raises DeviceError, OSError: if it cannot be opened, or the connection is lost.
    """
    inputs = device.connectors(device.settings).inputs
    answer = [connector.start for connector in inputs for _ in range(connector.size)]
    arrivals: list[float] = []
    samples: list[Received] = []
    refusals: list[DeviceError] = []
    begin = time.monotonic()
    try:
        device.open()
        while (left := begin + seconds - time.monotonic()) > 0.0:
            try:
                found = device.receive(min(left, _WAIT_S))
            except WireFormatError as error:
                refusals.append(error)
                continue
            if found is not None:
                arrivals.append(time.monotonic())
                samples.append(found)
                if device.answers:
                    device.send(answer)
    finally:
        device.close()
    return _probe(time.monotonic() - begin, arrivals, samples, refusals, device.sequence_period)


def _probe(
    seconds: float,
    arrivals: Sequence[float],
    samples: Sequence[Received],
    refusals: Sequence[DeviceError],
    period: int | None,
) -> Probe:
    gaps = np.diff(arrivals)
    steps = np.diff([s.sequence for s in samples if s.sequence is not None])
    if period is not None and steps.size:
        steps = (steps + period // 2) % period - period // 2
    return Probe(
        seconds=seconds,
        samples=len(samples),
        refused=len(refusals),
        first_refusal=str(refusals[0]) if refusals else "",
        lost=int((steps[steps > 1] - 1).sum()),
        repeated=int((steps == 0).sum()),
        late=int((steps < 0).sum()),
        rate=float(len(gaps) / gaps.sum()) if gaps.size and gaps.sum() > 0.0 else 0.0,
        jitter=float(gaps.std()) if gaps.size else 0.0,
        longest_gap=float(gaps.max()) if gaps.size else 0.0,
        last=samples[-1] if samples else None,
    )
