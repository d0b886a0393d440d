"""From the run of a device to its twin, whether its motion shows enough, and what is in doubt."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np

from orchestrator.core.diagnostics import (
    DescriptionError,
    UnknownNameError,
    choices_for,
    counted,
)
from orchestrator.core.realtime import RealTime
from orchestrator.core.structs import Struct
from orchestrator.core.system import SourceKind, System
from orchestrator.rig.arming.margins import Reserve
from orchestrator.rig.device_units.facts import stepped_device
from orchestrator.rig.hardware.twin_file import Estimate, SignalPair, TwinFile, Validation
from orchestrator.rig.identification.device_run import (
    DeviceRun,
    ExcitationSegment,
    Procedure,
    run_device,
)
from orchestrator.rig.identification.lag_fit import frequency_response
from orchestrator.rig.identification.pair_model import PairModel, pair_model, quantisation_step
from orchestrator.rig.identification.record import Floats, Record, deviation_interval

#: Fit on the second record below which a model says nothing of the device.
_POOR = 0.5


def is_poor(pair: IdentifiedPair) -> bool:
    """Whether the model does not describe the device: there is no pair of it in the twin."""
    return pair.validation.fit < _POOR


def doubt_of(component: str, pair: IdentifiedPair) -> str:
    """Say what is in doubt of a pair, in a sentence; empty: nothing is."""
    follows = f"{component}.{pair.response} follows {pair.command}"
    if is_poor(pair):
        return (
            f"{follows}, but not by a delay with a lag of first or second order (fit"
            f" {pair.validation.fit:.3g} on the second record): it is left out"
        )
    if pair.model.fit.at_end:
        return (
            f"{follows} with a {pair.model.fit.at_end}, where the search for it ends, so it is"
            " not reliable; use a longer rest and a larger amplitude"
        )
    return ""


#: Median coherence from which on a response follows a command.
FOLLOWS = 0.5


class LittleEvidenceError(DescriptionError):
    """A motion showed too little of a device; a longer one may show more."""


def expect_known(twin: TwinFile, reserve: Reserve, responses: Collection[str]) -> None:
    """Expect that a twin says enough for arming.

    Margins are those of what was found, and a reserve is what is left for all that is otherwise
    than the model. So the far end of an interval has to lie within it: a delay that may be longer
    than it was found by more than the delay reserve, or a gain that may be larger by more than the
    gain reserve, would be armed without one.

    reserve: Of the case.
    responses: Scalars or arrays that something is connected to.
    """
    missing = []
    for pair in (
        signal_pair
        for signal_pair in twin.pair
        if signal_pair.response.partition("[")[0] in responses
    ):
        ends = f"{twin.component}: {pair.command} to {pair.response}"
        longer = 0.0 if pair.delay is None else pair.delay.high - pair.delay.value
        if pair.delay is not None and longer > reserve.delay:
            missing.append(
                f"{ends}: the delay of {pair.delay.value * 1e3:.4g} ms may be"
                f" {longer * 1e3:.4g} ms longer ({twin.confidence:.0%}); arming needs at"
                f" most {reserve.delay * 1e3:.4g} ms (delay_reserve)"
            )
        if pair.gain is not None and (larger := _larger(pair.gain)) > reserve.gain:
            missing.append(
                f"{ends}: the gain of {pair.gain.value:.4g} may be larger by a factor of"
                f" {larger:.4g} ({twin.confidence:.0%}); arming needs at most {reserve.gain:.4g}"
                " (gain_reserve)"
            )
    if missing:
        raise LittleEvidenceError(*missing)


def _larger(gain: Estimate) -> float:
    size = abs(gain.value)
    return max(abs(gain.low), abs(gain.high)) / size if size else math.inf


def coherence(record: Record) -> float:
    """Return how coherent a response is with the command where that has power, 0 to 1."""
    if float(np.ptp(record.values)) <= 1e-12 * max(1.0, float(np.abs(record.values).max())):
        return 0.0
    measured = frequency_response(record)
    half = measured.frequencies <= 0.25 / record.period
    return float(np.median(measured.coherence[half])) if half.any() else 0.0


#: Fewer samples at rest say nothing of noise.
_LEAST_AT_REST = 16
#: Share of commands not taken from which on they are named where nothing was found.
_LATE = 0.01


class IdentifiedPair(Struct, eq=False):
    """A command, a response, and the model between them.

    command, response: Names of the scalars.
    fitted, compared: Excitations of both records.
    record, second: That the model was fitted to, and compared with.
    model: What was found.
    validation: How well it gives the second record.
    """

    command: str
    response: str
    fitted: ExcitationSegment
    compared: ExcitationSegment
    record: Record
    second: Record
    model: PairModel
    validation: Validation


class IdentifiedDevice(Struct, eq=False):
    """All that was found of one device.

    run: What it did.
    pairs: The models.
    twin: What its file says.
    """

    run: DeviceRun
    pairs: tuple[IdentifiedPair, ...]
    twin: TwinFile


def devices_of(system: System, names: tuple[str, ...] = ()) -> list[str]:
    """Return the components that are devices: all, or the selected ones."""
    devices = {n: c for n, c in system.components.items() if c.source.kind is SourceKind.DEVICE}
    devices_found = [n for n, c in devices.items() if stepped_device(c.source.location) is None]
    for name in names:
        if name not in system.components:
            choices = choices_for(name, system.components, "component")
            raise UnknownNameError(f"no component '{name}'{choices}")
        if name in devices and name not in devices_found:
            raise DescriptionError(
                f"component '{name}' is {devices[name].source}, which the run steps, so it has no"
                " delay of its own to identify; choose a device in real time"
            )
        if name not in devices_found:
            raise DescriptionError(
                f"component '{name}' is {system.components[name].source}, expected a device; put"
                f" one in its place, such as --swap '{name}=device:NAME?key=value'"
            )
    if not devices_found:
        raise DescriptionError(
            f"system '{system.name}' has no device, so there is nothing to identify; put one in a"
            " component's place, such as --swap 'robot=device:kuka_rsi'"
        )
    return list(names) or devices_found


def identify_device(
    system: System, name: str, step: float, procedure: Procedure, realtime: RealTime
) -> IdentifiedDevice:
    """Excite one device of a system, the others left alone, and identify it."""
    date = datetime.now(UTC).replace(microsecond=0)
    run = run_device(system.component(name), step, procedure, realtime)
    pairs = tuple(_pairs(run, procedure))
    moved = {pair.command for pair in pairs}
    if still := [name for name in run.plan.names if name not in moved]:
        raise LittleEvidenceError(
            f"component '{name}': no response followed {', '.join(map(repr, still))}: of"
            f" '{still[0]}' the coherence was {_best_coherence(run, still[0]):.2g} at best,"
            f" expected {FOLLOWS:g}; check that the device is in a mode in which it moves, and"
            f" that the amplitude is above its noise (--limits){_late_text(run)}"
        )
    best: dict[str, IdentifiedPair] = {}
    for pair in pairs:
        previous = best.get(pair.response)
        if previous is None or previous.validation.fit < pair.validation.fit:
            best[pair.response] = pair
    doubts = {response: doubt for response, pair in best.items() if (doubt := doubt_of(name, pair))}
    poor = {response for response, pair in best.items() if is_poor(pair)}
    if poor and len(poor) == len(best):
        raise LittleEvidenceError(*doubts.values())
    entries = [
        _entry(run, best[response], procedure)
        if response in best
        else _at_rest(run, response, procedure)
        for response in run.responses
        if response not in poor
    ]
    twin = TwinFile(
        software=f"softdock {version('softdock')}",
        date=date,
        component=name,
        device=run.facts.name,
        settings=run.facts.settings.model_dump(mode="json", exclude_none=True),
        step=step,
        confidence=procedure.confidence,
        rate=run.facts.ports.rate,
        pair=tuple(entries),
        doubts=doubts,
    )
    good_pairs = tuple(pair for response, pair in best.items() if response not in poor)
    return IdentifiedDevice(run, good_pairs, twin)


def _pairs(run: DeviceRun, procedure: Procedure) -> Iterator[IdentifiedPair]:
    """Fit a model to each response that follows a command."""
    for number, command in enumerate(run.plan.names):
        fitted, compared = (segment for segment in run.plan.segments if segment.command == number)
        for response in run.responses:
            record = run.record(fitted, response)
            if coherence(record) <= FOLLOWS:
                continue
            model = pair_model(record, procedure.confidence, longest=procedure.rest)
            second = run.record(compared, response)
            validation = model.validate(second, compared.kind)
            yield IdentifiedPair(
                command, response, fitted, compared, record, second, model, validation
            )


def _late_text(run: DeviceRun) -> str:
    if run.not_taken <= _LATE * len(run.changes):
        return ""
    return (
        f" It took {counted(len(run.changes), 'command')}; {run.not_taken} came too late for"
        " their cycle, as on a machine that is busy or grants no real-time priority"
    )


def _best_coherence(run: DeviceRun, command: str) -> float:
    number = run.plan.names.index(command)
    fitted = next(segment for segment in run.plan.segments if segment.command == number)
    return max(coherence(run.record(fitted, response)) for response in run.responses)


def _entry(run: DeviceRun, pair: IdentifiedPair, procedure: Procedure) -> SignalPair:
    model = pair.model
    noise, unexplained = noise_of(model, run.at_rest(pair.response), procedure.confidence)
    commands = {port.name: port.unit for port in run.facts.ports.inputs}
    return SignalPair(
        command=pair.command,
        command_unit=commands[pair.command.partition("[")[0]],
        delay=model.delay,
        dynamics=model.dynamics,
        gain=model.gain,
        offset=model.fit.offset,
        noise=noise,
        unexplained=unexplained,
        quantisation=model.quantisation,
        excitation=pair.fitted.kind,
        samples=pair.record.count,
        validation=pair.validation,
        provenance="identified",
        transit=_spread(run.waits + run.evenly, run.waits + run.ages, procedure.confidence),
        **_common(run, pair.response),
    )


def noise_of(
    model: PairModel, samples_at_rest: Floats, confidence: float
) -> tuple[Estimate, Estimate | None]:
    """Return noise, and what the model leaves of the moving device beyond it.

    What a linear model leaves of friction that sticks, of backlash or of arrivals is no noise: it
    comes again with the same command, and is not there at rest.
    """
    if len(samples_at_rest) < _LEAST_AT_REST:
        return model.noise, None
    deviation = deviation_interval(samples_at_rest - samples_at_rest.mean(), 1, confidence)
    noise = deviation.without(model.quantisation**2 / 12.0)
    return noise, model.noise.without(noise.value**2)


def _at_rest(run: DeviceRun, response: str, procedure: Procedure) -> SignalPair:
    """Return what a response says of itself that no command moves."""
    values = run.response(response)
    mean = float(values.mean())
    step = quantisation_step(values)
    noise = deviation_interval(values - mean, 1, procedure.confidence)
    return SignalPair(
        offset=mean,
        noise=noise.without(step**2 / 12.0),
        quantisation=step,
        samples=len(values),
        provenance="measured",
        transit=_spread(run.evenly, run.ages, procedure.confidence),
        **_common(run, response),
    )


def _common(run: DeviceRun, response: str) -> dict[str, object]:
    units = {port.name: port.unit for port in run.facts.ports.outputs}
    return {
        "response": response,
        "response_unit": units[response.partition("[")[0]],
        "jitter": run.clock.jitter,
        "sample_rate": run.clock.rate,
    }


def _spread(evenly: Floats, values: Floats, confidence: float) -> Estimate:
    """Return the mean by the device's clock, and between which values that share lies."""
    outside = 0.5 * (1.0 - confidence)
    low, high = np.quantile(values, [outside, 1.0 - outside])
    mean = max(0.0, float(evenly.mean()))
    return Estimate(value=mean, low=min(float(low), mean), high=max(float(high), mean))
