"""Whether units can do what an algorithm asks, and the messages of steps that were not done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, SoftdockError
from orchestrator.core.master.plan import Iteration, StepMethod
from orchestrator.core.master.schedule.rows import OperationCode
from orchestrator.core.master.schedule.schedule import LoopTable, Member, Schedule
from orchestrator.core.simunits import Capabilities, SimulationUnit
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
        return f"it went to t = {reached:.9g} s instead of the requested time"
    return failure.text or unit.failure_reason


def message(unit: SimulationUnit, status: int, time: float, reason: str) -> str:
    """Say which unit failed, when (seconds) and why."""
    return (
        f"component '{unit.name}' failed in the step from t = {time:.9g} s"
        f" (status {_STATUS[status]}): {reason}; results up to there are kept"
    )


def status_hint(unit: SimulationUnit, status: int, begin_ns: int) -> str:
    """Say what a status means that a unit seldom explains: how far it came, or that it goes on."""
    if status == _PENDING:
        return (
            "; it steps asynchronously (fmi2Pending), although Softdock passed no stepFinished,"
            " without which FMI 2.0 requires steps to be complete when fmi2DoStep returns"
        )
    if status != _DISCARD:
        return ""
    try:
        reached_ns = unit.last_ns(begin_ns)
    except SoftdockError:  # its process is gone
        return ""
    if reached_ns <= begin_ns:
        return ""
    return (
        f"; it completed the step up to t = {seconds(reached_ns):.9g} s and accepts a shorter step"
    )


def refusal(unit: SimulationUnit, member: Member, failure: Failure) -> str:
    """Say that a unit could not do the step with the inputs that an iteration tried."""
    return (
        f"component '{unit.name}' refused the last attempt ({reason_of(unit, member, failure)}); "
    )


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
        f" {refused}it may have no solution there; try {', '.join(filter(None, ways[:-1]))}, or"
        f" {ways[-1]}"
    )


def unsettled_message(schedule: Schedule, failure: Failure, time: float) -> str:
    """Say which units and connectors do not come to rest in event mode."""
    who = [f"'{schedule.members[number].name}' asks for more" for number in failure.units]
    slots = dict.fromkeys(schedule.copies[row].target for row in failure.copies)
    still = [f"input '{name_of(schedule, slot)}' changes" for slot in slots]
    return (
        f"the events at t = {time:.9g} s do not settle: after 100 rounds"
        f" {', '.join(who + still) or 'more events are due'}; break the cycle of events with a"
        " state or a delay in one of these components"
    )


def name_of(schedule: Schedule, slot: int) -> str:
    """Return the connector that a slot belongs to, with the element's index in an array."""
    for name, (first, size) in schedule.slots.items():
        if first <= slot < first + size:
            return name if size == 1 else f"{name}[{slot - first}]"
    raise KeyError(slot)


def underflow_message(failure: Failure, schedule: Schedule, time: float) -> str:
    """Say for which output no step is short enough."""
    output = name_of(schedule, failure.slot)
    return (
        f"a step of {failure.time_ns / 1e6:g} ms from t = {time:.9g} s, the shortest allowed,"
        f" still has an error of {failure.excess:.3g} tolerances in '{output}': allow shorter"
        " steps (shortest), larger tolerances (relative, absolute), or couple the components by"
        " a signal that does not jump"
    )


def element(outputs: Sequence[str], unit: SimulationUnit, number: int) -> str:
    """Name the output that a scalar of a unit's outputs belongs to, by its number."""
    for name in outputs:
        size = unit.description.connectors[name].size
        if number < size:
            return name if size == 1 else f"{name}[{number}]"
        number -= size
    return outputs[-1]


_WARNING = 1
_OTHERWISE = "choose 'jacobi' or 'gauss-seidel'; or replace the component"
_WAYS_OUT = f"put a delay on a connection of its loop, which cuts it; {_OTHERWISE}"
_REPEATING = (StepMethod.DOUBLING, StepMethod.EMBEDDED)


def repeated(schedule: Schedule) -> list[int]:
    """Numbers of the members whose steps may be done again."""
    if schedule.rule.method in _REPEATING:
        return list(range(len(schedule.members)))
    return sorted({number for loop in schedule.loops for number in loop.members})


def expect_capabilities(schedule: Schedule, abilities: Sequence[Capabilities]) -> None:
    """Refuse what units cannot do, before anything is initialised."""
    errors = missing_capabilities(schedule, abilities)
    if errors:
        raise CapabilityError(
            *(diagnostic for problem in errors for diagnostic in problem.diagnostics)
        )


def missing_capabilities(
    schedule: Schedule, abilities: Sequence[Capabilities]
) -> list[DescriptionError]:
    """List what units cannot do; parameters as for :func:`expect_capabilities`."""
    errors: list[DescriptionError] = []
    pairs = list(zip(schedule.members, abilities, strict=True))
    for number in repeated(schedule):
        errors += _cannot_repeat(schedule, *pairs[number])
    for member, can in pairs:
        if schedule.varies and not can.can_vary_step:
            text = (
                f"algorithm '{schedule.algorithm}' varies the communication step, and component"
                f" '{member.name}' takes only equal steps (canHandleVariableCommunicationStepSize"
                " is not true): choose an algorithm of fixed steps"
            )
            errors.append(CapabilityError.about(text, code="CAP102", key=member.name))
    for member, can in pairs:
        errors += _wrong_length(schedule, member, can)
    return errors


def _wrong_length(
    schedule: Schedule, member: Member, can: Capabilities
) -> Iterator[DescriptionError]:
    """What is wrong with the length of a unit's steps."""
    step_ns = member.ticks * schedule.step_ns
    longest_ns = schedule.rule.most_ns if schedule.varies else step_ns
    if can.longest_step is not None and longest_ns > round(can.longest_step * 1e9):
        text = (
            f"component '{member.name}' takes steps of at most {can.longest_step:g} s; found"
            f" {longest_ns / 1e9:g} s: choose a shorter communication step, or a smaller rate"
        )
        yield CapabilityError.about(text, code="TIM110", key=member.name)
    if can.fixed_step is not None and (schedule.varies or not can.fits_fixed_step(step_ns)):
        lengths = "steps of varying length" if schedule.varies else f"{step_ns / 1e9:.9g} s"
        text = (
            f"component '{member.name}' takes whole multiples of {can.fixed_step:g} s"
            f" (fixedInternalStepSize); found {lengths}: choose another communication step"
        )
        yield CapabilityError.about(text, code="TIM109", key=member.name)


def _cannot_repeat(
    schedule: Schedule, member: Member, can: Capabilities
) -> Iterator[DescriptionError]:
    if not can.is_repeatable:
        lacks = "cannot be asked for a step twice: it is a device"
    elif not can.can_roll_back:
        lacks = (
            "cannot go back to a saved state (canGetAndSetFMUstate is not true) or its back-end"
            " cannot"
        )
    else:
        return
    who = f"algorithm '{schedule.algorithm}' repeats steps, and component '{member.name}'"
    ways_out = _ways_out(schedule, member)
    yield CapabilityError.about(f"{who} {lacks}: {ways_out}", code="CAP101", key=member.name)


def _ways_out(schedule: Schedule, member: Member) -> str:
    if schedule.rule.method in _REPEATING:  # repeats all units, so a delay does not help
        return _OTHERWISE
    if all(row.code != OperationCode.PROPOSE for row in schedule.operations):
        return _WAYS_OUT
    loop = next(table for table in schedule.loops if member.name in table.components)
    return (
        f"put a delay of at least the communication step, {schedule.step_ns / 1e6:g} ms, on what"
        f" leads on from {' and '.join(map(repr, loop.sources))} in the loop through"
        f" {', '.join(map(repr, loop.components))}, which cuts it; {_OTHERWISE}"
    )


def verify_rollback(
    schedule: Schedule, units: Sequence[SimulationUnit], signals: memoryview[float], start_ns: int
) -> None:
    """Try at the start whether units that are to be repeated do go back to a saved state.

    Each does its first step twice, from the same state; then it is put back once more. A unit that
    fails at that is left to the run, which will say so.
    """
    numbers = repeated(schedule)
    if not numbers:
        return
    import numpy as np

    problems = []
    for number in numbers:
        member, unit = schedule.members[number], units[number]
        inputs = np.array(signals[member.input_offset :][: member.input_size])
        unequal = []
        if unit.native.save(0) > _WARNING:
            who = f"algorithm '{schedule.algorithm}' repeats steps, and component '{unit.name}'"
            problems.append(f"{who} does not save its state: {unit.failure_reason}")
            continue
        done = True
        for _ in range(2):
            done = done and unit.native.set_inputs(inputs) <= _WARNING
            done = done and unit.native.step(start_ns, schedule.step_ns) <= _WARNING
            outputs = np.full(member.output_size, np.nan)
            done = done and unit.native.get_outputs(outputs) <= _WARNING
            unequal.append(outputs)
            done = unit.native.restore(0) <= _WARNING and done
        if done and not np.array_equal(unequal[0], unequal[1], equal_nan=True):
            changed = np.flatnonzero(unequal[0] != unequal[1])
            names = [f"'{unit.name}.{element(member.outputs, unit, int(i))}'" for i in changed]
            problems.append(
                f"component '{unit.name}' declares that it can restore a saved state, but after"
                f" that its first step gives other values of {', '.join(names)}: `softdock fmu"
                " check` tells more about an FMU; a block may have a state that its get_state"
                f" does not save; {_WAYS_OUT}"
            )
    if problems:
        raise CapabilityError(*problems)
