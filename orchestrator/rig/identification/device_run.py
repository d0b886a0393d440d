"""One run of one device: what is done to it, and what was recorded."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from orchestrator.core.diagnostics import DescriptionError, counted
from orchestrator.core.realtime import RealTime
from orchestrator.core.recording import Result
from orchestrator.core.simunits import Block, Output, block
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Component,
    Connection,
    Endpoint,
    Source,
    SourceKind,
    System,
    nanoseconds,
    seconds,
)
from orchestrator.rig.device_units.facts import DeviceFacts, device_facts
from orchestrator.rig.device_units.samples import SampleLog, read_sample_log
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.devices.device import slices_of
from orchestrator.rig.devices.registry import read_address, write_address
from orchestrator.rig.identification.record import (
    ExcitationLimits,
    Floats,
    Kind,
    Record,
    SampleTimes,
    excitation,
    sample_times,
)
from orchestrator.study import simulate

#: Of a range that has both ends, to either side of rest.
_SHARE = 0.05
#: Of what a connector allows: a command that comes a sample late makes the next change twice as
#: large.
_OF_LIMIT = 0.45
#: How many samples of the device a random command stays where it is, at least.
_HELD_SAMPLES = 4


class Procedure(Struct):
    """How devices are excited.

    fitted, compared: Excitations of the record that models are fitted to, and of the one that they
        are compared with.
    duration, compared_duration: s, of both.
    rest: s, before the first, after each, for the response to come to rest; longer than the delay
        and the settling time.
    confidence: Level of all intervals.
    limits: Of commands, by ``component.connector``; those of others follow from their connectors.
    """

    fitted: Kind = "prbs"
    compared: Kind = "step"
    duration: float = 4.0
    compared_duration: float = 2.0
    rest: float = 0.5
    confidence: float = 0.95
    limits: Mapping[str, ExcitationLimits] | None = None

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1.0:
            raise DescriptionError(
                f"confidence: expected a level from 0.5 to 1, found {self.confidence:g}"
            )
        if not all(
            duration_s > 0.0 and math.isfinite(duration_s)
            for duration_s in (self.duration, self.compared_duration, self.rest)
        ):
            raise DescriptionError("expected durations and a rest > 0 s")


class ExcitationSegment(Struct):
    """One excitation of one command.

    command: Index among the scalars of the commands.
    kind: Of the excitation.
    first, last: Steps from which and up to which it lasts, its rest included.
    """

    command: int
    kind: Kind
    first: int
    last: int


class ExcitationPlan(Struct, eq=False):
    """All excitations of a device, one after the other.

    names: Scalars of the commands, ``name[i]`` for elements of an array.
    commands: Shape (steps, scalars): what is commanded in each step.
    segments: What is excited when.
    """

    names: tuple[str, ...]
    commands: Floats
    segments: tuple[ExcitationSegment, ...]


def excitation_plan(
    component: str,
    inputs: Sequence[DeviceConnector],
    step: float,
    period: float,
    procedure: Procedure,
) -> ExcitationPlan:
    """Plan the excitations of all commands of a device, each by itself."""
    scalars = [(port, i) for port in inputs for i in range(port.size)]
    rest_steps = math.ceil(procedure.rest / step)
    rows = [np.zeros((rest_steps, len(scalars)))]
    rows[0] += [port.start for port, _ in scalars]
    segments: list[ExcitationSegment] = []
    at = rest_steps
    hold = _hold(step, period)
    for number, (port, _) in enumerate(scalars):
        limits = planned_limits(component, port, step, period, procedure)
        for kind, duration in (
            (procedure.fitted, procedure.duration),
            (procedure.compared, procedure.compared_duration),
        ):
            moved = excitation(kind, duration, step, limits, hold)
            count = len(moved) + rest_steps
            block = np.tile(rows[0][:1], (count, 1))
            block[: len(moved), number] += moved
            rows.append(block)
            segments.append(ExcitationSegment(number, kind, at, at + count))
            at += count
    if not scalars:
        rows.append(np.zeros((math.ceil(procedure.duration / step), 0)))
    names = tuple(scalar for port in inputs for scalar in port.scalars)
    return ExcitationPlan(names, np.vstack(rows), tuple(segments))


def _hold(step: float, period: float) -> float:
    """Return for how long a random command stays where it is, s."""
    return math.ceil(_HELD_SAMPLES * max(period, step) / step) * step


def planned_limits(
    component: str, port: DeviceConnector, step: float, period: float, procedure: Procedure
) -> ExcitationLimits:
    """Return the limits of a command: the given ones, or a part of its range.

    Parameters as of :func:`excitation_plan`.
    """
    name, hold = f"{component}.{port.name}", _hold(step, period)
    room = min(port.start - port.minimum, port.maximum - port.start)
    requested = (procedure.limits or {}).get(name)
    if requested is not None:
        if requested.amplitude > room:
            raise DescriptionError(
                f"{name}: an amplitude of {requested.amplitude:g} {port.unit} leaves its range;"
                f" expected at most {room:g}, around its start"
            )
        return ExcitationLimits(
            requested.amplitude,
            min(requested.speed, _OF_LIMIT * port.speed),
            min(requested.acceleration, _OF_LIMIT * port.acceleration),
        )
    if not (math.isfinite(room) and room > 0.0):
        raise DescriptionError(
            f"{name}: its connector has no range around its start ({port.start:g} {port.unit}),"
            f" so the distance that it may move is unknown; give --limits '{name}=AMPLITUDE'"
        )
    speed, acceleration = _OF_LIMIT * port.speed, _OF_LIMIT * port.acceleration
    # a stair of twice the amplitude ends within the time for which a random command is held
    reached = min(speed * hold / 3.75, acceleration * hold**2 / 11.6)
    return ExcitationLimits(min(_SHARE * room, reached), speed, acceleration)


#: Of the output that says when a command was given.
CLOCK = "given_at"


def excitation_block(
    inputs: Sequence[DeviceConnector], commands: Floats, step: float
) -> type[Block]:
    """Return a block with an output for each command, and one for the time by the wall."""
    slices = slices_of(inputs)

    def give(self: Block, t: float, h: float) -> None:
        """Give the commands of the step, and say when."""
        row = commands[min(round(t / step), len(commands) - 1)] if h else commands[0]
        for port in inputs:
            value = row[slices[port.name]]
            if port.shape:
                np.copyto(getattr(self, port.name), value.reshape(port.shape))
            else:
                setattr(self, port.name, float(value[0]))
        setattr(self, CLOCK, time.monotonic())

    members: dict[str, object] = {
        "__module__": __name__,
        "__doc__": "Commands of a device, step by step.",
        "__annotations__": {CLOCK: float} | dict.fromkeys(slices, float),
        CLOCK: Output(unit="s", depends_on=(), description="When the command was given"),
        "initialise": lambda self, t: give(self, t, 0.0),
        "step": give,
    }
    for port in inputs:
        start = np.full(port.shape, port.start) if port.shape else port.start
        members[port.name] = Output(
            unit=port.unit, shape=port.shape, depends_on=(), start=start, description="Commanded"
        )
    return type("Excitation", (Block,), members)


_EXCITATION = "excitation"
#: The number of the command that the first step gives: the initialisation gave one before.
_FIRST_COMMAND = 2


class DeviceRun(Struct, eq=False):
    """What a device did while it was excited.

    component: That the device stands for.
    facts: The adapter and its settings.
    plan: What was done.
    step: s, of the run.
    result: All that the run recorded.
    log: What the device's process received and sent while the run went on.
    clock: When the samples of the log were taken, and their numbers.
    changes: s, shape (m,): when the device took commands, without refused ones.
    commands: Shape (m, scalars): what it took then.
    taken: s, shape (steps,): when the device took the command of each step, or a later one in its
        place.
    waits: s, shape (steps,): from a command to the device taking it, by the even spacing of
        samples.
    ages: s, shape (steps,): of the sample that the run read in each step, since it arrived.
    evenly: s, shape (steps,): the same since it was due by the even spacing of samples.
    """

    component: str
    facts: DeviceFacts
    plan: ExcitationPlan
    step: float
    result: Result
    log: SampleLog
    clock: SampleTimes
    changes: Floats
    commands: Floats
    taken: Floats
    waits: Floats
    ages: Floats
    evenly: Floats

    @property
    def responses(self) -> list[str]:
        """Names of the scalars that the device measures."""
        return [scalar for port in self.facts.ports.outputs for scalar in port.scalars]

    @property
    def not_taken(self) -> int:
        """How many answers came too late for their cycle, as the device counts them."""
        return int((~self.log.taken).sum())

    def response(self, name: str) -> Floats:
        """Return a measurement in all samples."""
        return self.log.values[:, self.responses.index(name)]

    def at_rest(self, name: str) -> Floats:
        """Return a measurement in the samples that were taken before anything was excited."""
        first = self.taken[self.plan.segments[0].first]
        values: Floats = self.response(name)[self.clock.times < first]
        return values

    def record(self, segment: ExcitationSegment, response: str) -> Record:
        """Return what a segment says of a response, as far as it was excited."""
        moved = self.commands[:, segment.command] - self.plan.commands[0, segment.command]
        begin = self.taken[segment.first]
        end = self.taken[min(segment.last, len(self.taken)) - 1]
        used = (self.clock.times >= begin) & (self.clock.times < end)
        return Record(self.clock.times, self.response(response), self.changes, moved, used)


def run_device(
    component: Component, step: float, procedure: Procedure, realtime: RealTime
) -> DeviceRun:
    """Excite one device, alone in a system, in real time."""
    facts = device_facts(component.source.location)
    inputs, period = facts.ports.inputs, 1.0 / facts.ports.rate
    plan = excitation_plan(component.name, inputs, step, period, procedure)
    excitation_source = block(excitation_block(inputs, plan.commands, step))
    name = _EXCITATION if component.name != _EXCITATION else f"{_EXCITATION}_of_device"
    count = len(plan.commands)
    with tempfile.TemporaryDirectory(prefix="softdock-identification-") as folder:
        path = Path(folder) / "samples.npz"
        adapter, values = read_address(component.source.location)
        location = write_address(adapter, {**values, "sample_log": str(path)})
        source = Source(SourceKind.DEVICE, location)
        device = replace(component, values={}, source=source)
        system = System(
            f"identification of {component.name}",
            {name: replace(excitation_source, name=name), component.name: device},
            tuple(
                Connection(Endpoint(name, port.name), Endpoint(component.name, port.name))
                for port in inputs
            ),
        )
        result = simulate(
            system,
            step=step,
            stop=seconds(count * nanoseconds(step)),
            algorithm="gauss-seidel",
            realtime=realtime,
            name=component.name,
        )
        log = read_sample_log(path)
    if facts.settings.supervisor:
        _expect_followed(component.name, plan, result[f"{component.name}.valid"][1:])
    at = result[f"{name}.{CLOCK}"]
    return read_run(component.name, facts, plan, step, result, at, log, procedure)


def _expect_followed(component: str, plan: ExcitationPlan, valid: Floats) -> None:
    """Expect that a supervised device followed its commands from the first that moves it on."""
    first = int(np.argmax((plan.commands != plan.commands[0]).any(axis=1)))
    if not valid[first : len(plan.commands)].all():
        raise DescriptionError(
            f"component '{component}': the supervisor did not let it follow the whole excitation;"
            " give a longer rest before it, so that there is time to arm"
        )


def read_run(
    component: str,
    facts: DeviceFacts,
    plan: ExcitationPlan,
    step: float,
    result: Result,
    command_times: Floats,
    log: SampleLog,
    procedure: Procedure,
) -> DeviceRun:
    """Sort samples and commands by the device's clock; parameters as of :class:`DeviceRun`.

    ``given`` is when the command of each row was given, s; row 0 is the initialisation.
    """
    command_times = command_times[1 : len(plan.commands) + 1]
    rows = slice(1, len(command_times) + 1)
    age = result[f"{component}.sample_age"][rows]
    newest = np.searchsorted(log.numbers, result[f"{component}.samples"][rows], side="right") - 1
    first = max(0, int(newest[0]))
    log, newest = log.samples_of(first, int(newest[-1]) + 1), newest - first
    if len(log.ticks) < 16 or newest[0] < 0:
        raise DescriptionError(
            f"component '{component}': only {counted(len(log.ticks), 'sample')} came in"
            f" {len(command_times) * step:g} s; expected {facts.ports.rate:g} per second"
        )
    clock = sample_times(log.arrivals - command_times[0], log.ticks, procedure.confidence)
    begun, command_times = command_times[0], command_times - command_times[0]
    changes = log.sent - begun
    if facts.kind.answers:
        changes = clock.begin + clock.period * (log.answered - log.ticks[0])
    took = log.taken
    changes, numbers = changes[took], log.commanded[took]
    # a command that a later one replaced before it was taken counts as taken with that
    sample_index = np.searchsorted(numbers, _FIRST_COMMAND + np.arange(len(command_times)))
    taken = np.append(changes, clock.times[-1] + clock.period)[sample_index]
    evenly = command_times - clock.begin - clock.period * clock.numbers[newest]
    return DeviceRun(
        *(component, facts, plan, step, result, log, clock, changes, log.commands[took]),
        *(taken, taken - command_times, age, evenly),
    )
