"""What a simulated second costs under a schedule: steps of components, and numbers moved."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.schedule import Code

_STEPS = frozenset({Code.STEP, Code.SECOND_HALF})


@dataclass(frozen=True)
class Cost:
    """What a schedule does in one simulated second.

    Parameters
    ----------
    unit_steps
        Steps of components; those of an iterated loop count once for each of its passes.
    operations
        Numbers that are copied, read, kept or mixed between them; likewise.
    is_per_pass
        Whether there are iterated loops, whose number of passes is found as they run.
    """

    unit_steps: float
    operations: float
    is_per_pass: bool


def cost_of(schedule: Schedule) -> Cost:
    """Count what a schedule of steps of one length does in a simulated second."""
    steps = moved = 0.0
    for code, _, count, every, _ in schedule.operations:
        if code in _STEPS:
            steps += count / every
        elif code not in {Code.SOLVE, Code.FIRST_HALF}:
            moved += count / every
    rate = 1e9 / schedule.step_ns
    return Cost(steps * rate, moved * rate, bool(schedule.loops))
