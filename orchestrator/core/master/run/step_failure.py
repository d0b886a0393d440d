"""The messages of steps that were not done."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.master.algorithms.plan import Iteration
from orchestrator.core.master.schedule.schedule import LoopTable, Member, Schedule
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system import seconds
from orchestrator.engine import Failure, FailureKind

_STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
_DISCARD, FATAL, _PENDING = 2, 4, 5
AT_START = "at the start"


def reason_of(unit: SimulationUnit, member: Member, failure: Failure) -> str:
    """Say why a unit failed, in words of its connectors."""
    if failure.kind is FailureKind.OUTPUT_NOT_FINITE:
        output = element(member.outputs, unit, failure.output)
        return f"output '{unit.name}.{output}' is not finite (NaN or infinite)"
    if failure.kind is FailureKind.OTHER_END:
        reached = failure.time_ns / 1e9
        return f"it went to t = {reached:.9g} s, another time than it was asked for"
    return failure.text or unit.native.failure or "the unit gave no reason"


def message(unit: SimulationUnit, status: int, time: float, why: str) -> str:
    """Say which unit failed, when (seconds) and why."""
    return (
        f"component '{unit.name}' failed in the step from t = {time:.9g} s"
        f" (status {_STATUS[status]}): {why}; results up to there are kept"
    )


def untold(unit: SimulationUnit, status: int, begin_ns: int) -> str:
    """Say what a status means that a unit seldom explains: how far it came, or that it goes on."""
    if status == _PENDING:
        return (
            "; it does its steps asynchronously (fmi2Pending), though it was given no stepFinished,"
            " without which FMI 2.0 wants them done when fmi2DoStep returns"
        )
    if status != _DISCARD:
        return ""
    try:
        reached_ns = unit.last_ns(begin_ns)
    except SoftdockError:  # its process is gone
        return ""
    if reached_ns <= begin_ns:
        return ""
    return f"; it did the step up to t = {seconds(reached_ns):.9g} s and can do a shorter one"


def refusal(unit: SimulationUnit, member: Member, failure: Failure) -> str:
    """Say that a unit could not do the step with the inputs that an iteration tried."""
    return f"component '{unit.name}' refused the last try ({reason_of(unit, member, failure)}); "


def loop_message(
    loop: LoopTable, residual: Sequence[float], iterations: int, when: str, refused: str = ""
) -> str:
    """Say which loop did not converge, when, who refused, and what to try."""
    order = sorted(range(len(residual)), key=lambda i: -abs(residual[i]))[:5]
    still = [f"'{loop.sources[i]}' by {residual[i]:.3g}" for i in order if residual[i]]
    still += map(repr, loop.sources[len(residual) :])
    newton = loop.method in (Iteration.NEWTON, Iteration.NEWTON_BY_DERIVATIVES)
    ways = [
        "other start values",
        "" if when == AT_START else "a shorter communication step",
        "" if newton else "algorithm 'newton'",
        "more iterations (most_iterations)",
        "a larger tolerance",
        "a delay on one of its connections",
    ]
    return (
        f"the loop through {', '.join(map(repr, loop.components))} did not converge {when}"
        f" ({iterations} iteration{'s' * (iterations != 1)}): {', '.join(still)} still change;"
        f" {refused}it may have no solution there: try {', '.join(filter(None, ways[:-1]))}, or"
        f" {ways[-1]}"
    )


def unsettled_message(schedule: Schedule, failure: Failure, time: float) -> str:
    """Say which units and connectors do not come to rest in event mode."""
    who = [f"'{schedule.members[number].name}' asks for more" for number in failure.units]
    slots = dict.fromkeys(schedule.copies[row][1] for row in failure.copies)
    still = [f"input '{name_of(schedule, slot)}' changes" for slot in slots]
    return (
        f"the events at t = {time:.9g} s do not come to an end: after 100 rounds"
        f" {', '.join(who + still) or 'more events are due'}; break the ring of events with a state"
        " or a delay in one of these units"
    )


def name_of(schedule: Schedule, slot: int) -> str:
    """Return the connector that a slot belongs to, with the element's index in an array."""
    for name, (first, size) in schedule.slots.items():
        if first <= slot < first + size:
            return name if size == 1 else f"{name}[{slot - first}]"
    raise KeyError(slot)


def underflow_message(failure: Failure, schedule: Schedule, time: float) -> str:
    """Say for which output no step is short enough."""
    found = name_of(schedule, failure.slot)
    return (
        f"a step of {failure.time_ns / 1e6:g} ms from t = {time:.9g} s, the shortest allowed, still"
        f" has an error of {failure.excess:.3g} tolerances in '{found}': allow shorter steps"
        " (shortest), larger tolerances (relative, absolute), or couple at a signal that does not"
        " jump"
    )


def element(outputs: Sequence[str], unit: SimulationUnit, number: int) -> str:
    """Name the output that a scalar of a unit's outputs belongs to, by its number."""
    for name in outputs:
        size = unit.description.connectors[name].size
        if number < size:
            return name if size == 1 else f"{name}[{number}]"
        number -= size
    return outputs[-1]
