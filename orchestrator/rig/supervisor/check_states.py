"""What a supervisor looks for, and the one table of the states in which it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.core.diagnostics import Reason
from orchestrator.rig.supervisor.states import FOLLOWING, STOPPING, State


class Check(StrEnum):
    """One thing that is looked for, as the reference names it."""

    DEVICE = "process and samples of a device"
    SIGNAL = "values of a signal, `frozen` without `against`"
    FROZEN = "`frozen` with `against`"
    ENERGY = "energy"
    COMMAND = "age of the command"
    GATE = "what a gate found"
    TRACKING = "delay and gain"
    REST = "time to rest"
    RUN = "process of the run"


@dataclass(frozen=True, slots=True)
class CheckStates:
    """One row of the table.

    Parameters
    ----------
    check, states
        What is looked for, and where; elsewhere it finds nothing, and what it counted is forgotten.
    premise
        What must be so for it to mean anything, in words.
    """

    check: Check
    states: frozenset[State]
    premise: str


_HEARD = frozenset(State) - {State.OFF}
#: Every check that there is. In OFF devices open one by one: what is wrong keeps a rig there.
CHECKS: tuple[CheckStates, ...] = (
    CheckStates(Check.DEVICE, _HEARD, "it is heard; in OFF only the end of its process is a fault"),
    CheckStates(Check.SIGNAL, _HEARD, "its device is heard"),
    CheckStates(Check.FROZEN, FOLLOWING, "the device follows what it is held against"),
    CheckStates(Check.ENERGY, FOLLOWING | STOPPING, "the command moves"),
    CheckStates(Check.COMMAND, FOLLOWING, "the simulation steps"),
    CheckStates(Check.GATE, _HEARD, "commands pass it; it knows the state itself"),
    CheckStates(Check.TRACKING, FOLLOWING, "the device follows the simulation's command"),
    CheckStates(Check.REST, STOPPING, "the command comes to rest"),
    CheckStates(Check.RUN, frozenset(State), "there is one"),
)
#: What can be wrong with a device, the motion of a signal, and a signal or energy.
OF_DEVICES = (
    Reason.DEVICE_LOST,
    Reason.SENSOR_STALE,
    Reason.STATUS,
    Reason.MALFORMED,
    Reason.SENSOR_LOST,
    Reason.CLOCK,
    Reason.EMERGENCY_STOP,
)
OF_MOTIONS = (Reason.ACCELERATION, Reason.JERK)
OF_SIGNALS = (
    Reason.FORCE,
    Reason.TORQUE,
    Reason.WORKSPACE,
    Reason.SLEW,
    Reason.SENSOR_STALE,
    Reason.FORCE_NOT_FINITE,
    Reason.MALFORMED,
    Reason.ENERGY,
)
_STATES = {row.check: row.states for row in CHECKS}


def holds(check: Check, state: State) -> bool:
    """Whether a check means anything in a state."""
    return state in _STATES[check]


def checks_page() -> str:
    """Return the table as the reference shows it, in Markdown."""
    rows = [f"| check | {' | '.join(state.name for state in State)} | premise |"]
    rows.append("|---" * (len(State) + 2) + "|")
    for row in CHECKS:
        marks = " | ".join("x" if state in row.states else "" for state in State)
        rows.append(f"| {row.check} | {marks} | {row.premise} |")
    return "\n".join(rows) + "\n"
