"""One run of one device: excited, recorded, and read as records for the estimators."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from orchestrator.diagnostics import DescriptionError
from orchestrator.experiment.identification.excitation_block import CLOCK, excitation_block
from orchestrator.experiment.identification.excitation_plan import (
    ExcitationPlan,
    Procedure,
    Segment,
    excitation_plan,
)
from orchestrator.experiment.prepare.simulate import simulate
from orchestrator.identification.record import Floats, Record
from orchestrator.identification.sample_times import SampleTimes, sample_times
from orchestrator.realtime import RealTime
from orchestrator.recording import Result
from orchestrator.simunits import block
from orchestrator.simunits.devices.description import HEALTH, DeviceFacts, device_facts
from orchestrator.system import Component, Connection, Endpoint, System, nanoseconds, seconds

_EXCITATION = "excitation"


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRun:
    """What a device did while it was excited.

    Parameters
    ----------
    component
        That the device stands for.
    facts
        The adapter and its settings.
    plan
        What was done.
    step
        s, of the run.
    result
        All that was recorded.
    rows
        Shape (n,): the rows of the result in which there was a new sample.
    clock
        When those samples were taken, and their numbers.
    taken
        s, shape (steps,): when the device took the command of each step.
    waits
        s, shape (steps,): from a command to the device taking it, by the even spacing of samples.
    ages
        s, shape (steps,): of the sample that the run read in each step, since it arrived.
    evenly
        s, shape (steps,): the same since it was due by the even spacing of samples.
    """

    component: str
    facts: DeviceFacts
    plan: ExcitationPlan
    step: float
    result: Result
    rows: npt.NDArray[np.int64]
    clock: SampleTimes
    taken: Floats
    waits: Floats
    ages: Floats
    evenly: Floats

    @property
    def responses(self) -> list[str]:
        """Names of the scalars that the device measures."""
        health = {name for name, _, _ in HEALTH}
        own = f"{self.component}."
        names = [n.removeprefix(own) for n in self.result.names if n.startswith(own)]
        return [name for name in names if name not in health]

    @property
    def late(self) -> int:
        """How many samples came late."""
        counts = self.result[f"{self.component}.late"]
        return int(counts[-1] - counts[0])

    def response(self, name: str) -> Floats:
        """Return a measurement in the rows that have a new sample."""
        found: Floats = self.result[f"{self.component}.{name}"][self.rows]
        return found

    def rest(self, name: str) -> Floats:
        """Return a measurement in the samples that were taken before anything was excited."""
        first = self.taken[self.plan.segments[0].first]
        found: Floats = self.response(name)[self.clock.times < first]
        return found

    def record(self, segment: Segment, response: str) -> Record:
        """Return what a segment says of a response, as far as it was excited."""
        commands = self.plan.commands[:, segment.command]
        moved = np.diff(commands, prepend=commands[0]) != 0.0
        # the command before the first change is rest: responses are taken from there
        changes = self.taken[moved]
        values = commands[moved] - commands[0]
        begin = self.taken[segment.first]
        end = self.taken[min(segment.last, len(self.taken)) - 1]
        used = (self.clock.times >= begin) & (self.clock.times < end)
        return Record(self.clock.times, self.response(response), changes, values, used)


def run_device(
    component: Component, step: float, procedure: Procedure, realtime: RealTime
) -> DeviceRun:
    """Excite one device, alone in a system, in real time.

    Parameters
    ----------
    component
        Its source is a device.
    step
        s.
    procedure, realtime
        How.

    Raises
    ------
    DescriptionError
        If the device cannot be excited, or too few samples came.
    FailedRunError
        If the device is lost meanwhile.
    """
    facts = device_facts(component.source.location)
    inputs, period = facts.ports.inputs, 1.0 / facts.ports.rate
    plan = excitation_plan(component.name, inputs, step, period, procedure)
    made = block(excitation_block(inputs, plan.commands, step))
    name = _EXCITATION if component.name != _EXCITATION else f"{_EXCITATION}_of_device"
    system = System(
        f"identification of {component.name}",
        {name: replace(made, name=name), component.name: replace(component, values={})},
        tuple(
            Connection(Endpoint(name, port.name), Endpoint(component.name, port.name))
            for port in inputs
        ),
    )
    count = len(plan.commands)
    result = simulate(
        system,
        step=step,
        stop=seconds(count * nanoseconds(step)),
        algorithm="gauss-seidel",
        realtime=realtime,
        name=component.name,
    )
    if facts.settings.supervisor:
        _expect_followed(component.name, plan, result[f"{component.name}.valid"][1:])
    return read_run(component.name, facts, plan, step, result, result[f"{name}.{CLOCK}"], procedure)


def _expect_followed(component: str, plan: ExcitationPlan, valid: Floats) -> None:
    """Expect that a supervised device followed its commands from the first that moves it on."""
    first = int(np.argmax((plan.commands != plan.commands[0]).any(axis=1)))
    if not valid[first : len(plan.commands)].all():
        raise DescriptionError(
            f"component '{component}': its supervisor did not let it follow all of the excitation;"
            " a longer rest before it gives time to arm"
        )


def read_run(
    component: str,
    facts: DeviceFacts,
    plan: ExcitationPlan,
    step: float,
    result: Result,
    given: Floats,
    procedure: Procedure,
) -> DeviceRun:
    """Sort samples and commands by the device's clock; parameters as of :class:`DeviceRun`.

    ``given`` is when the command of each row was given, s; row 0 is the initialisation.
    """
    given = given[1 : len(plan.commands) + 1]
    rest = slice(1, len(given) + 1)
    age = result[f"{component}.sample_age"][rest]
    counts = result[f"{component}.samples"][rest] + result[f"{component}.lost"][rest]
    fresh = np.diff(counts, prepend=0.0) > 0.0
    rows = np.flatnonzero(fresh)
    if len(rows) < 16 or not fresh[0]:
        raise DescriptionError(
            f"component '{component}': only {len(rows)} samples came in {len(given) * step:g} s;"
            f" expected {facts.ports.rate:g} per second"
        )
    numbers = np.rint(counts[rows]).astype(np.int64)
    arrivals = given[rows] - age[rows] - given[0]
    clock = sample_times(arrivals, numbers, procedure.confidence)
    newest = clock.numbers[np.cumsum(fresh) - 1]
    given = given - given[0]
    taken = _taken(given, newest, arrivals, clock) if facts.kind.answers else given
    waits = taken - given
    evenly = given - clock.begin - clock.period * newest
    return DeviceRun(
        component, facts, plan, step, result, rows + 1, clock, taken, waits, age, evenly
    )


def _taken(
    given: Floats, newest: npt.NDArray[np.int64], arrivals: Floats, clock: SampleTimes
) -> Floats:
    """Return when a device that answers took the command of each step.

    It does so with its first sample after the command was given: the one after the newest that the
    step had, unless the step was held up and others came meanwhile.
    """
    every = np.arange(clock.numbers[-1] + 1)
    came = np.maximum.accumulate(np.interp(every, clock.numbers, arrivals))
    answered = np.maximum(newest + 1, np.searchsorted(came, given, side="right"))
    times: Floats = clock.begin + clock.period * answered
    return times
