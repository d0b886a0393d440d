"""What is done to a device: which command is moved when, and how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.identification.excitation import Kind, Limits, excitation
from orchestrator.rig.identification.record import Floats

#: Of a range that has both ends, to either side of rest.
_SHARE = 0.05
#: Of what a connector allows: a command that comes a sample late makes the next change twice as
#: large.
_OF_LIMIT = 0.45
#: How many samples of the device a random command stays where it is, at least.
_HELD_SAMPLES = 4


@dataclass(frozen=True, slots=True)
class Procedure:
    """How devices are excited.

    Parameters
    ----------
    fitted, compared
        Excitations of the record that models are fitted to, and of the one that they are compared
        with.
    duration, compared_duration
        s, of both.
    rest
        s, before the first, after each, for the response to come to rest; longer than the delay
        and the settling time.
    confidence
        Level of all intervals.
    limits
        Of commands, by ``component.connector``; those of others follow from their connectors.
    """

    fitted: Kind = "prbs"
    compared: Kind = "step"
    duration: float = 4.0
    compared_duration: float = 2.0
    rest: float = 0.5
    confidence: float = 0.95
    limits: Mapping[str, Limits] | None = None

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1.0:
            raise DescriptionError(
                f"confidence: expected a level from 0.5 to 1, found {self.confidence:g}"
            )
        if not all(
            each > 0.0 and math.isfinite(each)
            for each in (self.duration, self.compared_duration, self.rest)
        ):
            raise DescriptionError("expected durations and a rest > 0 s")


@dataclass(frozen=True, slots=True)
class Segment:
    """One excitation of one command.

    Parameters
    ----------
    command
        Index among the scalars of the commands.
    kind
        Of the excitation.
    is_compared
        Whether models are compared with it; else they are fitted to it.
    first, last
        Steps from which and up to which it lasts, its rest included.
    """

    command: int
    kind: Kind
    is_compared: bool
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class ExcitationPlan:
    """All excitations of a device, one after the other.

    Parameters
    ----------
    names
        Scalars of the commands, ``name[i]`` for elements of an array.
    commands
        Shape (steps, scalars): what is commanded in each step.
    segments
        What is excited when.
    """

    names: tuple[str, ...]
    commands: Floats
    segments: tuple[Segment, ...]


def excitation_plan(
    component: str,
    inputs: Sequence[DeviceConnector],
    step: float,
    period: float,
    procedure: Procedure,
) -> ExcitationPlan:
    """Plan the excitations of all commands of a device, each by itself."""
    scalars = [(port, i) for port in inputs for i in range(port.size)]
    rest = math.ceil(procedure.rest / step)
    rows = [np.zeros((rest, len(scalars)))]
    rows[0] += [port.start for port, _ in scalars]
    segments: list[Segment] = []
    at = rest
    hold = _hold(step, period)
    for number, (port, _) in enumerate(scalars):
        limits = _limits(component, port, hold, procedure)
        for kind, duration, is_compared in (
            (procedure.fitted, procedure.duration, False),
            (procedure.compared, procedure.compared_duration, True),
        ):
            moved = excitation(kind, duration, step, limits, hold)
            count = len(moved) + rest
            block = np.tile(rows[0][:1], (count, 1))
            block[: len(moved), number] += moved
            rows.append(block)
            segments.append(Segment(number, kind, is_compared, at, at + count))
            at += count
    if not scalars:
        rows.append(np.zeros((math.ceil(procedure.duration / step), 0)))
    return ExcitationPlan(tuple(_names(inputs)), np.vstack(rows), tuple(segments))


def planned_limits(
    component: str, port: DeviceConnector, step: float, period: float, procedure: Procedure
) -> Limits:
    """Return within which limits a command is moved; parameters as of :func:`excitation_plan`."""
    return _limits(component, port, _hold(step, period), procedure)


def _hold(step: float, period: float) -> float:
    """Return for how long a random command stays where it is, s."""
    return math.ceil(_HELD_SAMPLES * max(period, step) / step) * step


def _names(inputs: Sequence[DeviceConnector]) -> Iterator[str]:
    for port in inputs:
        yield from (f"{port.name}[{i}]" if port.shape else port.name for i in range(port.size))


def _limits(component: str, port: DeviceConnector, hold: float, procedure: Procedure) -> Limits:
    """Return the limits of a command: those that were given, or a part of its range."""
    name = f"{component}.{port.name}"
    room = min(port.start - port.minimum, port.maximum - port.start)
    given = (procedure.limits or {}).get(name)
    if given is not None:
        if given.amplitude > room:
            raise DescriptionError(
                f"{name}: an amplitude of {given.amplitude:g} {port.unit} leaves its range;"
                f" expected at most {room:g}, around its start"
            )
        return Limits(
            given.amplitude,
            min(given.speed, _OF_LIMIT * port.speed),
            min(given.acceleration, _OF_LIMIT * port.acceleration),
        )
    if not (math.isfinite(room) and room > 0.0):
        raise DescriptionError(
            f"{name}: its connector has no range around its start ({port.start:g} {port.unit}), so"
            f" nothing says how far it may be moved; give --limits '{name}=AMPLITUDE'"
        )
    speed, acceleration = _OF_LIMIT * port.speed, _OF_LIMIT * port.acceleration
    # a stair of twice the amplitude ends within the time for which a random command is held
    reached = min(speed * hold / 3.75, acceleration * hold**2 / 11.6)
    return Limits(min(_SHARE * room, reached), speed, acceleration)
