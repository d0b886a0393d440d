"""Whether the units of a system can do what an algorithm asks of them."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.errors import CapabilityError
from orchestrator.master.plan import StepMethod
from orchestrator.master.schedule import Schedule
from orchestrator.simunits import SimulationUnit

_WAYS_OUT = (
    "put a delay on a connection of its loop, which cuts it; choose 'jacobi' or 'gauss-seidel'; or"
    " replace the component"
)
_REPEATING = (StepMethod.DOUBLING, StepMethod.EMBEDDED)


def expect_capable(schedule: Schedule, units: Sequence[SimulationUnit]) -> None:
    """Refuse what units cannot do, before anything is initialised.

    Parameters
    ----------
    schedule
        What shall be executed.
    units
        In the order of its members.

    Raises
    ------
    CapabilityError
        All refusals together: each names the unit, what it lacks, and the ways out.
    """
    problems: list[str] = []
    repeated = {number for loop in schedule.loops for number in loop.members}
    if schedule.rule.method in _REPEATING:
        repeated |= set(range(len(units)))
    for number in sorted(repeated):
        problems += _cannot_repeat(schedule, units[number])
    for unit in units:
        if schedule.varies and not unit.description.capabilities.can_vary_step:
            problems.append(
                f"algorithm '{schedule.algorithm}' varies the communication step, and component"
                f" '{unit.name}' takes only equal steps (canHandleVariableCommunicationStepSize is"
                " not true): choose an algorithm of fixed steps"
            )
    if problems:
        raise CapabilityError(*problems)


def _cannot_repeat(schedule: Schedule, unit: SimulationUnit) -> list[str]:
    can = unit.description.capabilities
    if not can.is_repeatable:
        lacks = "cannot be asked for a step twice: it is a device or a recording"
    elif not can.can_roll_back:
        lacks = "cannot go back to a saved state (canGetAndSetFMUstate is not true)"
    else:
        return []
    who = f"algorithm '{schedule.algorithm}' repeats steps, and component '{unit.name}'"
    return [f"{who} {lacks}: {_WAYS_OUT}"]
