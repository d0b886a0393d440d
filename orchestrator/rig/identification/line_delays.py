"""The account of delays: what a device brings to a line, in its own time and the computer's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from orchestrator.core.system import Connection, Provenance, System, TransportDelay
from orchestrator.rig.identification.twin_file import Dynamics, Estimate, SignalPair, TwinFile

#: Delays are declared to the microsecond.
_US = 1_000


def brought(pair: SignalPair, *, hardware: bool) -> Estimate:
    """Return the delay, s, that a device brings to lines which begin at a response.

    To a line that hardware makes that of the device alone, since no run reads the response there;
    to others that of a loop through the run
    (:attr:`~orchestrator.rig.identification.twin_file.SignalPair.loop_delay`).
    """
    return pair.delay if hardware and pair.delay is not None else pair.loop_delay


def line_delay_ns(seconds: float) -> int:
    """Return an identified delay in nanoseconds, to the microsecond: no estimate is finer."""
    return round(seconds * 1e6) * _US


def device_lines(
    system: System, twin: TwinFile, physical: Collection[str] = ()
) -> Iterator[tuple[Connection, SignalPair, Estimate]]:
    """Yield the lines that begin at responses of a device, their pairs, and what it brings, s.

    What is in doubt of a twin gives none.
    """
    sure = reversed(twin.without_doubts().pair)
    entries = {pair.response.partition("[")[0]: pair for pair in sure}
    for line in system.connections:
        pair = entries.get(line.source.connector)
        if line.source.component == twin.component and pair is not None:
            yield line, pair, brought(pair, hardware=str(line) in physical)


def identified_delays(
    system: System, twin: TwinFile, physical: Collection[str] = ()
) -> Iterator[tuple[Connection, TransportDelay]]:
    """Yield the connections that carry responses of a device, and their identified delays.

    They are those of :func:`brought`; parameters as of :func:`device_lines`.
    """
    for line, pair, found in device_lines(system, twin, physical):
        yield line, identified_delay(twin, pair, found)


def identified_delay(twin: TwinFile, pair: SignalPair, found: Estimate) -> TransportDelay:
    """Return an estimate as the delay of a line, with where it comes from."""
    return TransportDelay(
        line_delay_ns(found.value),
        Provenance(pair.provenance),
        device=twin.device,
        date=twin.date.isoformat(),
    )


def declared_otherwise(
    system: System, twin: TwinFile, physical: Collection[str] = ()
) -> Iterator[tuple[Connection, str]]:
    """Yield the lines that declare a delay outside of the interval that was identified.

    A line that hardware makes may be later than its device: what lies behind is on it as well. What
    a line declares of another device is not compared. Parameters as of :func:`device_lines`.
    """
    for line, _, found in device_lines(system, twin, physical):
        delay, hardware = line.delay, str(line) in physical
        if delay is None or not delay.nominal_ns or is_of_other(delay, twin.device):
            continue
        early = delay.nominal_ns < line_delay_ns(found.low)
        late = delay.nominal_ns > line_delay_ns(found.high) and not hardware
        if early or late:
            alone = " before what lies behind it" if hardware else ""
            text = (
                f"declares {delay.nominal_ns / 1e6:g} ms ({delay.provenance}), but"
                f" '{twin.component}' ({twin.device}) was identified with {in_ms(found)}{alone};"
                " declare what was identified (softdock identify --set-delays), or identify it"
                " again"
            )
            yield line, text


def is_of_other(delay: TransportDelay, device: str) -> bool:
    """Whether a delay says that it is that of another device."""
    return delay.device not in {"", device}


def in_ms(found: Estimate) -> str:
    """Write an estimate of a delay: ``"16 ms (12 to 16)"``."""
    value, low, high = (line_delay_ns(each) / 1e6 for each in (found.value, found.low, found.high))
    return f"{value:g} ms ({low:g} to {high:g})"


#: By which clocks may differ, millionths. Samples that come slower than that were held up, by a
#: machine that was busy: delays are not made shorter for it.
_MOST_PPM = 2e4


def drift_ppm(twin: TwinFile) -> Estimate | None:
    """Return by how many millionths a device's second is longer than the computer's.

    ``None`` where the file does not say what the device's own clock calls its rate. The interval is
    that of the rate of its samples.
    """
    if twin.rate is None:
        return None
    seen = twin.pair[0].sample_rate
    value, low, high = (1e6 * (twin.rate / x - 1.0) for x in (seen.value, seen.high, seen.low))
    return Estimate(value=value, low=low, high=high)


def by_clock(twin: TwinFile, ppm: float) -> TwinFile:
    """Return a twin whose times are in seconds that are so many millionths longer.

    Intervals are scaled, and not widened by that of the drift: a delay of 32 ms by a clock that is
    known to 1 ppm is known to 32 ns.
    """
    factor = 1.0 / (1.0 + ppm * 1e-6)
    return twin.model_copy(update={"pair": tuple(_scaled(pair, factor) for pair in twin.pair)})


def in_run_time(
    twins: Sequence[TwinFile], clock: str | None
) -> tuple[tuple[TwinFile, ...], tuple[str, ...]]:
    """Return twins in the time of a run, and what was done, in sentences."""
    found = next((twin for twin in twins if twin.component == clock), None)
    drift = None if found is None else drift_ppm(found)
    if found is None or drift is None:
        return tuple(twins), ()
    if drift.value > _MOST_PPM:
        seen = found.pair[0].sample_rate.value
        told = (
            f"identified times are by the computer's clock: samples of '{clock}' came at {seen:.4g}"
            f" Hz instead of {found.rate:g} Hz, which no drift of clocks explains: was the machine"
            " busy? Identify it again"
        )
        return tuple(twins), (told,)
    told = (
        f"identified times are by the clock of '{clock}', as the run is: its second is"
        f" {drift.value:+.4g} ppm ({drift.low:+.4g} to {drift.high:+.4g}) longer than the"
        " computer's"
    )
    return tuple(by_clock(twin, drift.value) for twin in twins), (told,)


def _scaled(pair: SignalPair, factor: float) -> SignalPair:
    times = {
        "delay": pair.delay and pair.delay.scaled(factor),
        "transit": pair.transit.scaled(factor),
        "jitter": pair.jitter.scaled(factor),
        "sample_rate": pair.sample_rate.scaled(1.0 / factor),
        "dynamics": pair.dynamics and _faster(pair.dynamics, 1.0 / factor),
    }
    return pair.model_copy(update=times)


def _faster(dynamics: Dynamics, factor: float) -> Dynamics:
    frequency = dynamics.frequency and dynamics.frequency.scaled(factor)
    return dynamics.model_copy(update={"frequency": frequency})
