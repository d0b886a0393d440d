"""The failure that ended a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.diagnostics import ConvergenceError, StepError, StepSizeUnderflowError
from orchestrator.engine import Engine
from orchestrator.master.run.step_failure import (
    FATAL,
    is_unsettled,
    loop_message,
    message,
    reason_of,
    refusal,
    underflow_message,
    unsettled_message,
)
from orchestrator.master.schedule.schedule import Schedule
from orchestrator.simunits import SimulationUnit
from orchestrator.system import seconds

_WARNING = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the engine tells of a chunk of steps; see Outcome in engine/src/run/engine.hpp.

    Parameters
    ----------
    steps
        That were done.
    status
        Of what ended it, as fmi2Status.
    unit, loop, line
        Numbers of the unit, the loop and the READ that ended it, or -1.
    reason
        In words, or in numbers for :mod:`~orchestrator.master.run.step_failure`.
    """

    steps: int
    status: int
    unit: int
    loop: int
    line: int
    reason: str

    @property
    def failed(self) -> bool:
        """Whether the steps were not all done."""
        return self.status > _WARNING


@dataclass(frozen=True, slots=True)
class RunFailure:
    """What ended a run, as a user is told, and whether the run can go on from a checkpoint.

    Parameters
    ----------
    reason
        For later calls of the run.
    error, cause
        To be raised, and what it came from.
    unrecoverable
        Whether no checkpoint can be restored any more.
    """

    reason: str
    error: BaseException
    cause: BaseException | None = None
    unrecoverable: bool = False


def run_failure_of(
    outcome: Outcome, schedule: Schedule, units: Sequence[SimulationUnit], engine: Engine
) -> RunFailure:
    """Make the failure of a run.

    Parameters
    ----------
    outcome
        Failed.
    schedule, units, engine
        What ran; units in order of the schedule.
    """
    time, reason = seconds(engine.time_ns), outcome.reason
    if outcome.loop >= 0:
        _, _, iterations, residual = engine.loops[outcome.loop]
        table, when = schedule.loops[outcome.loop], f"in the step from t = {time:.9g} s"
        refused = ""
        if outcome.unit >= 0:
            refused = refusal(units[outcome.unit], schedule.members[outcome.unit], reason)
        text = loop_message(table, residual, iterations, when, refused)
        return RunFailure("a loop did not converge", ConvergenceError(text))
    if is_unsettled(reason):
        text = unsettled_message(schedule, reason, time)
        return RunFailure("its events did not come to an end", StepError(text))
    if outcome.line >= 0:
        why = f"input '{schedule.input_of(outcome.line)}' failed ({reason})"
        return RunFailure(why, StepError(f"t = {time:.9g} s: {why}"))
    if outcome.unit < 0:
        text = underflow_message(reason, schedule, time)
        return RunFailure("no step was short enough", StepSizeUnderflowError(text))
    return _of_unit(outcome, schedule, units[outcome.unit], time)


def _of_unit(outcome: Outcome, schedule: Schedule, unit: SimulationUnit, time: float) -> RunFailure:
    why = reason_of(unit, schedule.members[outcome.unit], outcome.reason)
    if schedule.events is not None and why.startswith("it returned early from a step"):
        why += f" because {', '.join(schedule.events.refusals)}"
    ended = f"component '{unit.name}' failed ({why})"
    cause = unit.exception()
    if cause is not None and not isinstance(cause, Exception):
        return RunFailure(ended, cause)  # Ctrl-C or an exit while a block had the word
    error = StepError(message(unit, outcome.status, time, why))
    return RunFailure(ended, error, cause, unrecoverable=outcome.status == FATAL)
