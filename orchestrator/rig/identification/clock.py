"""Times that were identified by the computer's clock, in the time of a device's clock."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.rig.identification.estimate import Estimate
from orchestrator.rig.identification.twin_file import Dynamics, SignalPair, TwinFile

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
