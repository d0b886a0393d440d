"""Whether the units of a system can do what an algorithm asks of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master.algorithms.plan import StepMethod
from orchestrator.core.master.run.step_failure import element
from orchestrator.core.master.schedule.schedule import Code, Member, Schedule
from orchestrator.core.simunits import Capabilities, SimulationUnit

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
    found = missing_capabilities(schedule, abilities)
    if found:
        raise CapabilityError(*(each for problem in found for each in problem.diagnostics))


def missing_capabilities(
    schedule: Schedule, abilities: Sequence[Capabilities]
) -> list[DescriptionError]:
    """List what units cannot do; parameters as for :func:`expect_capabilities`."""
    found: list[DescriptionError] = []
    pairs = list(zip(schedule.members, abilities, strict=True))
    for number in repeated(schedule):
        found += _cannot_repeat(schedule, *pairs[number])
    for member, can in pairs:
        if schedule.varies and not can.can_vary_step:
            text = (
                f"algorithm '{schedule.algorithm}' varies the communication step, and component"
                f" '{member.name}' takes only equal steps (canHandleVariableCommunicationStepSize"
                " is not true): choose an algorithm of fixed steps"
            )
            found.append(CapabilityError.about(text, code="CAP102", key=member.name))
    for member, can in pairs:
        found += _wrong_length(schedule, member, can)
    return found


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
        found = "steps of varying length" if schedule.varies else f"{step_ns / 1e9:.9g} s"
        text = (
            f"component '{member.name}' takes whole multiples of {can.fixed_step:g} s"
            f" (fixedInternalStepSize); found {found}: choose another communication step"
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
    if all(row[0] != Code.PROPOSE for row in schedule.operations):
        return _WAYS_OUT
    loop = next(one for one in schedule.loops if member.name in one.components)
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
        found = []
        if unit.native.save(0) > _WARNING:
            who = f"algorithm '{schedule.algorithm}' repeats steps, and component '{unit.name}'"
            problems.append(f"{who} does not save its state: {unit.native.failure}")
            continue
        done = True
        for _ in range(2):
            done = done and unit.native.set_inputs(inputs) <= _WARNING
            done = done and unit.native.step(start_ns, schedule.step_ns) <= _WARNING
            outputs = np.full(member.output_size, np.nan)
            done = done and unit.native.get_outputs(outputs) <= _WARNING
            found.append(outputs)
            done = unit.native.restore(0) <= _WARNING and done
        if done and not np.array_equal(found[0], found[1], equal_nan=True):
            changed = np.flatnonzero(found[0] != found[1])
            names = [f"'{unit.name}.{element(member.outputs, unit, int(i))}'" for i in changed]
            problems.append(
                f"component '{unit.name}' says that it can go back to a saved state, but then its"
                f" first step gives other values of {', '.join(names)}: `softdock fmu check` tells"
                f" more of an FMU, a block may keep what its get_state does not save; {_WAYS_OUT}"
            )
    if problems:
        raise CapabilityError(*problems)
