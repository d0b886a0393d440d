"""The message of a step that a unit did not do."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.master.schedule import Member
from orchestrator.simunits import SimulationUnit

_STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
FATAL = 4


def reason_of(unit: SimulationUnit, member: Member, reason: str) -> str:
    """Say why a unit failed, in words of its connectors."""
    reason = reason or unit.native.failure
    if reason.startswith("output number "):
        output = _element(member.outputs, unit, int(reason.split()[2]))
        reason = f"output '{unit.name}.{output}' is not finite (NaN or infinite)"
    return reason or "the unit gave no reason"


def message(unit: SimulationUnit, status: int, time: float, why: str) -> str:
    """Say which unit failed, when (seconds) and why."""
    return (
        f"component '{unit.name}' failed in the step from t = {time:.9g} s"
        f" (status {_STATUS[status]}): {why}; results up to there are kept"
    )


def _element(outputs: Sequence[str], unit: SimulationUnit, number: int) -> str:
    for name in outputs:
        size = unit.description.connectors[name].size
        if number < size:
            return name if size == 1 else f"{name}[{number}]"
        number -= size
    return outputs[-1]
