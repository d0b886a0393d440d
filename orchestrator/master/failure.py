"""The messages of steps that were not done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.master.schedule import LoopTable, Member
from orchestrator.simunits import SimulationUnit

_STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
FATAL = 4


def reason_of(unit: SimulationUnit, member: Member, reason: str) -> str:
    """Say why a unit failed, in words of its connectors."""
    reason = reason or unit.native.failure
    if reason.startswith("output number "):
        output = element(member.outputs, unit, int(reason.split()[2]))
        reason = f"output '{unit.name}.{output}' is not finite (NaN or infinite)"
    if reason.startswith("reached "):
        reached = int(reason.split()[1]) / 1e9
        return f"it went to t = {reached:.9g} s, another time than it was asked for"
    return reason or "the unit gave no reason"


def message(unit: SimulationUnit, status: int, time: float, why: str) -> str:
    """Say which unit failed, when (seconds) and why."""
    return (
        f"component '{unit.name}' failed in the step from t = {time:.9g} s"
        f" (status {_STATUS[status]}): {why}; results up to there are kept"
    )


def refusal(unit: SimulationUnit, member: Member, reason: str) -> str:
    """Say that a unit could not do the step with the inputs that an iteration tried."""
    return f"component '{unit.name}' refused the last try ({reason_of(unit, member, reason)}); "


def loop_message(
    loop: LoopTable, residual: Sequence[float], iterations: int, when: str, refused: str = ""
) -> str:
    """Say which loop did not converge, when, who refused, and what to try."""
    order = sorted(range(len(residual)), key=lambda i: -abs(residual[i]))[:5]
    still = [f"'{loop.sources[i]}' by {residual[i]:.3g}" for i in order if residual[i]]
    still += map(repr, loop.sources[len(residual) :])
    return (
        f"the loop through {', '.join(map(repr, loop.components))} did not converge {when} in"
        f" {iterations} iterations: {', '.join(still)} still change; {refused}it may have no"
        " solution there:"
        " try other start values, a shorter communication step, algorithm 'newton', more iterations"
        " (most_iterations), a larger tolerance, or a delay on one of its connections"
    )


def underflow_message(reason: str, slots: Mapping[str, tuple[int, int]], time: float) -> str:
    """Say for which output no step is short enough; ``reason`` is the engine's."""
    _, length, excess, slot = reason.split()
    found = next(name for name, (first, size) in slots.items() if first <= int(slot) < first + size)
    return (
        f"a step of {int(length) / 1e6:g} ms from t = {time:.9g} s, the shortest allowed, still has"
        f" an error of {float(excess):.3g} tolerances in '{found}': allow shorter steps (shortest),"
        " larger tolerances (relative, absolute), or couple at a signal that does not jump"
    )


def element(outputs: Sequence[str], unit: SimulationUnit, number: int) -> str:
    """Name the output that a scalar of a unit's outputs belongs to, by its number."""
    for name in outputs:
        size = unit.description.connectors[name].size
        if number < size:
            return name if size == 1 else f"{name}[{number}]"
        number -= size
    return outputs[-1]
