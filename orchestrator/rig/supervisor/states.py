"""The states of a supervised rig, the ways between them, what is looked for in each; the record."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import LoadError, Reason
from orchestrator.core.structs import Struct, replace


class State(IntEnum):
    """What a rig does; the number is what the processes of its devices read."""

    OFF = 0
    SHADOW = 1
    BLEND = 2
    ACTIVE = 3
    FALLBACK = 4
    QUICKSTOP = 5
    ESTOP = 6
    SAFE = 7


#: In which devices follow the simulation, wholly or in part.
FOLLOWING = frozenset({State.BLEND, State.ACTIVE})
#: In which they come to rest.
STOPPING = frozenset({State.FALLBACK, State.QUICKSTOP})


class Event(StrEnum):
    """What may lead from one state to another."""

    HEARD = "heard"
    ARM = "arm"
    ENGAGE = "engage"
    TUNE = "tune"
    DISENGAGE = "disengage"
    BLENDED = "blended"
    ALARM = "alarm"
    FAULT = "fault"
    QUICK_FAULT = "quick fault"
    STOP_FAULT = "stop fault"
    AT_REST = "at rest"
    OVERDUE = "overdue"
    RESET = "reset"
    ENDED = "ended"


class Guard(StrEnum):
    """What must hold for it."""

    ALWAYS = ""
    SOUND = "no cause persists"
    ARMED = "armed within `confirm_within`, and no cause persists"
    LATCHED = "a fault is latched"
    UNLATCHED = "no fault is latched"


class Transition(Struct):
    """One row of the table.

    state, event, guard: Where it begins, what brings it about, and what must hold.
    target: Where it leads.
    meaning: What it means, in words.
    """

    state: State
    event: Event
    guard: Guard
    target: State
    meaning: str


_S, _E, _G = State, Event, Guard
#: Every way there is, by where it begins; what is not here changes nothing, and an operator's wish
#: is refused.
_WAYS: Mapping[State, tuple[tuple[Event, Guard, State, str], ...]] = {
    _S.OFF: (
        (_E.HEARD, _G.ALWAYS, _S.SHADOW, "all devices are heard; the supervisor holds them"),
        (_E.FAULT, _G.ALWAYS, _S.SAFE, "a device is lost before all are heard"),
        (_E.QUICK_FAULT, _G.ALWAYS, _S.SAFE, "the same"),
        (_E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the hard-wired stop is open"),
    ),
    _S.SHADOW: (
        (_E.ARM, _G.SOUND, _S.SHADOW, "first step: armed for `confirm_within`"),
        (_E.ENGAGE, _G.ARMED, _S.BLEND, "second step: the devices begin to follow"),
        (_E.TUNE, _G.SOUND, _S.SHADOW, "a value changes, with granted margins; arm again"),
        (_E.FAULT, _G.ALWAYS, _S.SAFE, "nothing moves; the fault is latched"),
        (_E.QUICK_FAULT, _G.ALWAYS, _S.SAFE, "the same"),
        (_E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the hard-wired stop is open"),
        (_E.ENDED, _G.ALWAYS, _S.OFF, "the run is over"),
    ),
    _S.BLEND: (
        (_E.BLENDED, _G.ALWAYS, _S.ACTIVE, "the time `blend` is over"),
        (_E.DISENGAGE, _G.ALWAYS, _S.FALLBACK, "an operator disengages the devices"),
        (_E.ALARM, _G.ALWAYS, _S.BLEND, "the alarm is reported and recorded; the rig continues"),
        (_E.FAULT, _G.ALWAYS, _S.FALLBACK, "the model takes over"),
        (_E.QUICK_FAULT, _G.ALWAYS, _S.QUICKSTOP, "the devices stop as fast as they can"),
        (_E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the commands stop at once"),
        (_E.ENDED, _G.ALWAYS, _S.FALLBACK, "the run is over"),
    ),
    _S.ACTIVE: (
        (_E.DISENGAGE, _G.ALWAYS, _S.FALLBACK, "an operator disengages the devices"),
        (_E.TUNE, _G.SOUND, _S.ACTIVE, "a value changes, with granted margins"),
        (_E.ALARM, _G.ALWAYS, _S.ACTIVE, "the alarm is reported and recorded; the rig continues"),
        (_E.FAULT, _G.ALWAYS, _S.FALLBACK, "the model takes over"),
        (_E.QUICK_FAULT, _G.ALWAYS, _S.QUICKSTOP, "the devices stop as fast as they can"),
        (_E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the commands stop at once"),
        (_E.ENDED, _G.ALWAYS, _S.FALLBACK, "the run is over"),
    ),
    _S.FALLBACK: (
        (_E.AT_REST, _G.LATCHED, _S.SAFE, "the commands are at rest; the cause is latched"),
        (_E.AT_REST, _G.UNLATCHED, _S.SHADOW, "the commands are at rest; nothing is wrong"),
        (_E.QUICK_FAULT, _G.ALWAYS, _S.QUICKSTOP, "a worse fault occurs while stopping"),
        (_E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "a worse fault occurs while stopping"),
        (_E.OVERDUE, _G.ALWAYS, _S.QUICKSTOP, "the devices are not at rest within `rest_within`"),
    ),
    _S.QUICKSTOP: (
        (_E.AT_REST, _G.ALWAYS, _S.SAFE, "the commands are at rest"),
        (_E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "a worse fault occurs while stopping"),
        (_E.OVERDUE, _G.ALWAYS, _S.ESTOP, "the devices are not at rest within `rest_within`"),
    ),
    _S.ESTOP: ((_E.RESET, _G.SOUND, _S.SAFE, "the hard-wired stop is closed again"),),
    _S.SAFE: (
        (_E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the hard-wired stop is open"),
        (_E.RESET, _G.SOUND, _S.SHADOW, "an operator resets; the devices stay held"),
        (_E.ENDED, _G.ALWAYS, _S.OFF, "the run is over"),
    ),
}
#: The same as rows.
TRANSITIONS = tuple(Transition(state, *way) for state, ways in _WAYS.items() for way in ways)


def transitions_page() -> str:
    """Return the table as the reference shows it, in Markdown."""
    rows = ["| state | event | if | next state | meaning |", "|---|---|---|---|---|"]
    rows += [
        f"| {row.state.name} | {row.event} | {row.guard} | {row.target.name} | {row.meaning} |"
        for row in TRANSITIONS
    ]
    return "\n".join(rows) + "\n"


class StateChange(Struct):
    """One line of ``changes.csv``.

    time_s: CLOCK_MONOTONIC; of a :class:`ChangeRecord` since the rig was engaged.
    before, event, after: The states by name, and what led from one to the other.
    reason, where: Of a fault, by name; of a wish of an operator only where it came from.
    figures: Of a fault: the value and the limit that it crossed, in words; empty: there is none.
    """

    time_s: float
    before: str
    event: str
    after: str
    reason: str
    where: str
    figures: str = ""


class ChangeRecord(Struct):
    """The states of a rig in one case.

    rig: Its name.
    changes: In their order; times are since it was first engaged, else since the first of them.
    """

    rig: str
    changes: tuple[StateChange, ...]

    @property
    def engaged(self) -> bool:
        """Whether its devices ever followed the simulation."""
        return any(change.after == State.BLEND.name for change in self.changes)

    @property
    def never_engaged(self) -> str:
        """Say that it was not, and why, as far as that was found; empty if it was."""
        if self.engaged:
            return ""
        reasons = [
            f"{change.where}: {change.reason}{f' ({change.figures})' if change.figures else ''}"
            for change in self.changes
            if change.reason
        ]
        return f"rig '{self.rig}' was never engaged{': ' if reasons else ''}{'; '.join(reasons)}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        states = [asdict(change) for change in self.changes]
        return {"rig": self.rig, "engaged": self.engaged, "states": states}


def read_changes(path: Path) -> tuple[StateChange, ...]:
    """Read a file with rows of :func:`~orchestrator.rig.supervisor.machine.change_row`."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return tuple(StateChange(float(row.pop("time_s")), **row) for row in rows)
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise LoadError.in_file(path, f"expected a file of a rig's states: {error}") from None


def change_record(rig: str, path: Path) -> ChangeRecord:
    """Read the states of a rig; see :func:`read_changes`."""
    changes = read_changes(path)
    begun = next((change.time_s for change in changes if change.after == State.BLEND.name), None)
    if begun is None:
        begun = changes[0].time_s if changes else 0.0
    moved = (replace(change, time_s=change.time_s - begun) for change in changes)
    return ChangeRecord(rig, tuple(moved))


class Check(StrEnum):
    """One thing that is looked for, as the reference names it."""

    DEVICE = "process and samples of a device"
    SIGNAL = "values of a signal, `frozen` without `against`"
    FROZEN = "`frozen` with `against`"
    ENERGY = "energy"
    COMMAND = "age of the command"
    GATE = "findings of a gate"
    TRACKING = "delay and gain"
    REST = "time to rest"
    RUN = "process of the run"


class CheckStates(Struct):
    """One row of the table.

    check, states: What is looked for, and where; elsewhere it finds nothing, and what it counted is
        forgotten.
    premise: What must be so for it to mean anything, in words.
    """

    check: Check
    states: frozenset[State]
    premise: str


_HEARD = frozenset(State) - {State.OFF}
#: Every check that there is. In OFF devices open one by one: what is wrong keeps a rig there.
CHECKS: tuple[CheckStates, ...] = (
    CheckStates(
        Check.DEVICE, _HEARD, "the device is heard; in OFF only the end of its process is a fault"
    ),
    CheckStates(Check.SIGNAL, _HEARD, "the device is heard"),
    CheckStates(Check.FROZEN, FOLLOWING, "the device follows the signal `against`"),
    CheckStates(Check.ENERGY, FOLLOWING | STOPPING, "the command moves"),
    CheckStates(Check.COMMAND, FOLLOWING, "the simulation steps"),
    CheckStates(Check.GATE, _HEARD, "commands pass the gate; the gate knows the state"),
    CheckStates(Check.TRACKING, FOLLOWING, "the device follows the simulation's command"),
    CheckStates(Check.REST, STOPPING, "the command comes to rest"),
    CheckStates(Check.RUN, frozenset(State), "the run exists"),
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
