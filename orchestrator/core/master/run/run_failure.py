"""The failure that ended a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.core.diagnostics import (
    ConvergenceError,
    RunEndedError,
    StepError,
    StepSizeUnderflowError,
)
from orchestrator.core.master.run.step_failure import (
    FATAL,
    loop_message,
    message,
    reason_of,
    refusal,
    underflow_message,
    unsettled_message,
    untold,
)
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.system import seconds
from orchestrator.engine import Engine, Failure, FailureKind, Outcome


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
    between_steps
        Whether the last step was done: the signals belong to its end.
    """

    reason: str
    error: BaseException
    cause: BaseException | None = None
    unrecoverable: bool = False
    between_steps: bool = False


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
    time, failure = seconds(engine.time_ns), outcome.failure
    if outcome.loop >= 0:
        _, _, iterations, residual = engine.loops[outcome.loop]
        table, when = schedule.loops[outcome.loop], f"in the step from t = {time:.9g} s"
        refused = ""
        if outcome.unit >= 0:
            refused = refusal(units[outcome.unit], schedule.members[outcome.unit], failure)
        text = loop_message(table, residual, iterations, when, refused)
        return RunFailure("a loop did not converge", ConvergenceError(text))
    if failure.kind is FailureKind.UNSETTLED:
        text = unsettled_message(schedule, failure, time)
        return RunFailure("its events did not come to an end", StepError(text))
    if failure.kind is FailureKind.UNREAD:
        why = f"input '{schedule.input_of(outcome.read)}' failed ({failure.text})"
        return RunFailure(why, StepError(f"t = {time:.9g} s: {why}"))
    if failure.kind is FailureKind.TOO_LONG:
        text = underflow_message(failure, schedule, time)
        return RunFailure("no step was short enough", StepSizeUnderflowError(text))
    return _of_unit(outcome, schedule, units[outcome.unit], time)


def _of_unit(outcome: Outcome, schedule: Schedule, unit: SimulationUnit, time: float) -> RunFailure:
    if outcome.failure.kind is FailureKind.RUN_ENDED:
        return _end_of(outcome.failure, unit, time)
    why = reason_of(unit, schedule.members[outcome.unit], outcome.failure)
    if schedule.events is not None and outcome.failure.kind is FailureKind.EARLY_RETURN:
        why += f" because {', '.join(schedule.events.refusals)}"
    ended = f"component '{unit.name}' failed ({why})"
    cause = unit.exception()
    if cause is not None and not isinstance(cause, Exception):
        return RunFailure(ended, cause)  # Ctrl-C or an exit while a block had the word
    why += untold(unit, outcome.status, round(time * 1e9))
    error = StepError(message(unit, outcome.status, time, why))
    return RunFailure(ended, error, cause, unrecoverable=outcome.status == FATAL)


def _end_of(failure: Failure, unit: SimulationUnit, time: float) -> RunFailure:
    """Make the end that a unit asked for, with the last message that it wrote."""
    at, said = seconds(failure.time_ns), unit.last_message()
    text = f"component '{unit.name}' ended the run at t = {at:.9g} s"
    text += f": {said}" if said else ""
    if not (done := at == time):
        text += f"; the last row is that of t = {time:.9g} s, the step that it ended in is left out"
    return RunFailure(text, RunEndedError(text), between_steps=done)
