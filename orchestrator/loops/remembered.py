"""What a run remembers from one period to the next, number by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.schedule import CompensationMethod
from orchestrator.engine import EngineState
from orchestrator.loops.unit_model import UnitModel


class Kind(Enum):
    """Where a number is remembered."""

    STATE = auto()
    OUTPUT = auto()
    SIGNAL = auto()
    SAMPLE = auto()
    SMOOTHED = auto()
    AT_BEGIN = auto()
    STEP_BEFORE = auto()


@dataclass(frozen=True)
class Number:
    """One number of the state of a run, and the components that it belongs to.

    Parameters
    ----------
    owners
        The component; of samples, also those that read them.
    kind, label
        Where it is remembered, and its name.
    age, depth
        Of a sample: how many were taken after it, and how many are kept.
    """

    owners: frozenset[str]
    kind: Kind
    label: str
    age: int = 0
    depth: int = 0


def numbers_of(
    schedule: Schedule, models: Mapping[str, UnitModel], sizes: Sequence[int]
) -> Iterator[Number | None]:
    """Give the numbers in the order in which :class:`PeriodMap` reads them; ``None``: of no use."""
    for member, size in zip(schedule.members, sizes, strict=True):
        owner = frozenset({member.name})
        states = models[member.name].states
        yield from (Number(owner, Kind.STATE, label) for label in states)
        for i in range(size - len(states)):
            yield Number(owner, Kind.OUTPUT, f"{member.name}: output {i + 1}")
    owners = _owners_of_signals(schedule)
    yield from (_signal(owner, i, Kind.SIGNAL, "signal") for i, owner in enumerate(owners))
    yield from _samples(schedule, owners)
    for kind, what in (
        (Kind.AT_BEGIN, "signal at the begin"),
        (Kind.STEP_BEFORE, "signal a step before"),
    ):
        yield from (_signal(owner, i, kind, what) for i, owner in enumerate(owners))


def _samples(schedule: Schedule, owners: Sequence[str | None]) -> Iterator[Number | None]:
    readers = _readers(schedule, owners)
    for history, (slot, depth, *_) in enumerate(schedule.histories):
        owner = owners[slot]
        names = frozenset() if owner is None else frozenset({owner, *readers.get(history, ())})
        kept = max(depth, 2)
        for age in range(kept):
            label = f"{owner}: sample {age} back of line {history}"
            yield Number(names, Kind.SAMPLE, label, age, kept)
        # What the receiver holds (of varying delays only), its draw, and where a smoothed
        # reading began and ended.
        yield None
        yield None
        smoothed = Number(names, Kind.SMOOTHED, f"{owner}: smoothed line {history}")
        yield from (smoothed, smoothed)


def _signal(owner: str | None, slot: int, kind: Kind, what: str) -> Number | None:
    return None if owner is None else Number(frozenset({owner}), kind, f"{owner}: {what} {slot}")


def _owners_of_signals(schedule: Schedule) -> list[str | None]:
    owners: list[str | None] = [None] * schedule.signals
    for member in schedule.members:
        for first, size in (
            (member.input_offset, member.input_size),
            (member.output_offset, member.output_size),
        ):
            owners[first : first + size] = [member.name] * size
    for row in schedule.compensations:
        if row.method is CompensationMethod.DIRECT_RESPONSE:
            continue  # it keeps nothing
        owners[row.memory : row.memory + row.numbers] = [owners[row.target]] * row.numbers
    return owners


def _readers(schedule: Schedule, owners: Sequence[str | None]) -> dict[int, set[str]]:
    """Return who reads each history, by its number."""
    found: dict[int, set[str]] = {}
    for history, target, *_ in schedule.reads:
        owner = owners[target]
        if owner is not None:
            found.setdefault(history, set()).add(owner)
    return found


def newest_samples(schedule: Schedule, state: EngineState) -> list[int]:
    """Return the number of the newest sample of each history."""
    numbers, at = [], 0
    for _, depth, _, _, channel in schedule.histories:
        numbers.append(int(state.marks[at]))
        at += 10 + max(depth, 2) * (1 if channel < 0 else 2)
    return numbers


def places_by_age(schedule: Schedule, newest: Sequence[int], size: int) -> NDArray[np.intp]:
    """Return where the samples of all histories are, from the newest to the oldest of each."""
    places: list[int] = []
    at = 0
    for (_, depth, *_), last in zip(schedule.histories, newest, strict=True):
        kept = max(depth, 2)
        places += [at + (last - age) % kept for age in range(kept)]
        places += range(at + kept, at + kept + 4)
        at += kept + 4
    if at != size:
        raise AssertionError(f"histories of {at} numbers, of which the engine keeps {size}")
    return np.array(places, dtype=np.intp)
