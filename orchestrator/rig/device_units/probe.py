"""A first look at a device: what comes, how often, how old, and how it lies on the wire."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.core.structs import Struct
from orchestrator.rig.device_units.sequence import SampleCounter
from orchestrator.rig.devices import Device, Received

#: Of one wait, s.
_LOOK_S = 0.1


class ProbedOutput(Struct):
    """One scalar output, and what was seen of it.

    name, unit: Of the connector; elements of arrays as ``name[0]``.
    wire: Where it lies on the wire; empty: the adapter does not say.
    value: In the newest sample; NaN: none came.
    least, largest: Of all samples.
    changed_s: How long ago it last changed, s; NaN: it did not.
    """

    name: str
    unit: str
    wire: str
    value: float = math.nan
    least: float = math.nan
    largest: float = math.nan
    changed_s: float = math.nan


class Probe(Struct):
    """What a device sent in some seconds.

    seconds: From its opening to the end.
    samples: How many came.
    refused: Datagrams that were not valid samples.
    first_refusal: Why the first of them was none; empty without one.
    lost, repeated, late: As a run counts them.
    rate: Samples per second between the first and the last, lost samples included; 0
        with fewer than two.
    declared_rate: Samples per second that its settings declare.
    jitter: Standard deviation of the time between two arrivals, s.
    longest_gap: Between two arrivals, s.
    age: Of the newest sample at the end, by the device's clock if it has one, s; NaN: none came.
    most_delay: By how much the slowest sample was longer on its way than the quickest, s; NaN: the
        device has no clock.
    last: The newest sample.
    outputs: What was seen of each output.
    account: What the adapter says of its peer; empty: nothing.
    """

    seconds: float
    samples: int
    refused: int
    first_refusal: str
    lost: int
    repeated: int
    late: int
    rate: float
    declared_rate: float
    jitter: float
    longest_gap: float
    age: float
    most_delay: float
    last: Received | None
    outputs: tuple[ProbedOutput, ...]
    account: str


class _Seen:
    """Samples that were new, as they came."""

    def __init__(self, device: Device) -> None:
        ports = device.connectors(device.settings)
        self.scalars = [(s, port.unit) for port in ports.outputs for s in port.scalars]
        self.counter = SampleCounter(len(self.scalars), ports.rate, device.sequence_period)
        self.rate = ports.rate
        self.refusals: list[str] = []
        self.arrivals: list[float] = []
        self.last: Received | None = None
        self.most_delay = math.nan
        self._values = np.full((3, len(self.scalars)), math.nan)  # last, least, largest
        self._changed = np.full(len(self.scalars), math.nan)

    def take(self, received: Received) -> None:
        """Judge a sample as a run does."""
        now_s = time.monotonic()
        if not self.counter.take(received, round(now_s * 1e9)):
            return
        if received.device_time is not None:
            self.most_delay = float(np.fmax(self.most_delay, self.counter.delay_s))
        values, (last, smallest, largest) = np.array(received.values), self._values
        self._changed[~np.isnan(last) & (values != last)] = now_s
        self._values = np.array([values, np.fmin(smallest, values), np.fmax(largest, values)])
        self.arrivals.append(now_s)
        self.last = received

    def outputs(self, wire: Mapping[str, str], now_s: float) -> tuple[ProbedOutput, ...]:
        """Return what was seen of each output."""
        ages = now_s - self._changed
        return tuple(
            ProbedOutput(
                name, unit, wire.get(name, ""), *map(float, (*self._values[:, i], ages[i]))
            )
            for i, (name, unit) in enumerate(self.scalars)
        )


def probe(device: Device, seconds: float) -> Probe:
    """Open a device, listen, and close it.

    A device that expects an answer to each sample gets its start values, and no other command. The
    start values of a robot under corrections leave it where it is.

    device: Not opened yet.
    seconds: How long to listen.
    Raises DeviceError, OSError: if it cannot be opened, or the connection is lost.
    """
    inputs = device.connectors(device.settings).inputs
    answer = [connector.start for connector in inputs for _ in range(connector.size)]
    record, begin = _Seen(device), time.monotonic()
    try:
        device.open()
        while (remaining_s := begin + seconds - time.monotonic()) > 0.0:
            try:
                received = device.receive(min(remaining_s, _LOOK_S))
            except WireFormatError as error:
                record.refusals.append(str(error))
                continue
            if received is None:
                continue
            record.take(received)
            if device.answers:
                device.send(answer)
        end, account = time.monotonic(), device.account()
    finally:
        device.close()
    return _probe(device, record, begin, end, account)


def _probe(device: Device, record: _Seen, begin: float, end: float, account: str) -> Probe:
    facts, gaps = record.counter.facts, np.diff(record.arrivals)
    span = float(gaps.sum()) if gaps.size else 0.0
    return Probe(
        seconds=end - begin,
        samples=len(record.arrivals),
        refused=len(record.refusals),
        first_refusal=record.refusals[0] if record.refusals else "",
        lost=facts.lost,
        repeated=facts.repeated,
        late=facts.late,
        rate=(len(gaps) + facts.lost) / span if span > 0.0 else 0.0,
        declared_rate=record.rate,
        jitter=float(gaps.std()) if gaps.size else 0.0,
        longest_gap=float(gaps.max()) if gaps.size else 0.0,
        age=end - facts.received_ns * 1e-9 if record.arrivals else math.nan,
        most_delay=record.most_delay,
        last=record.last,
        outputs=record.outputs(device.layout(device.settings), end),
        account=account,
    )
