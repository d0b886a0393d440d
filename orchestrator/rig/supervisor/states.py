"""The states of a supervised rig, and the one table of the ways between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


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
    SOUND = "no cause is there"
    ARMED = "armed, not too long ago, and no cause is there"
    LATCHED = "a fault is latched"
    UNLATCHED = "no fault is latched"


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table.

    Parameters
    ----------
    state, event, guard
        Where it begins, what brings it about, and what must hold.
    target
        Where it leads.
    meaning
        What it means, in words.
    """

    state: State
    event: Event
    guard: Guard
    target: State
    meaning: str


_S, _E, _G = State, Event, Guard
#: Every way there is; what is not here changes nothing, and an operator's wish is refused.
TRANSITIONS: tuple[Transition, ...] = (
    Transition(
        _S.OFF,
        _E.HEARD,
        _G.ALWAYS,
        _S.SHADOW,
        "all devices are heard; they are held where they are",
    ),
    Transition(_S.OFF, _E.FAULT, _G.ALWAYS, _S.SAFE, "a device is lost before all are heard"),
    Transition(_S.OFF, _E.QUICK_FAULT, _G.ALWAYS, _S.SAFE, "the same"),
    Transition(_S.OFF, _E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the hard-wired stop is open"),
    Transition(_S.SHADOW, _E.ARM, _G.SOUND, _S.SHADOW, "first step: armed for a while"),
    Transition(
        _S.SHADOW, _E.ENGAGE, _G.ARMED, _S.BLEND, "second step: the devices begin to follow"
    ),
    Transition(
        _S.SHADOW, _E.TUNE, _G.SOUND, _S.SHADOW, "another value, granted; it is to be armed anew"
    ),
    Transition(_S.SHADOW, _E.FAULT, _G.ALWAYS, _S.SAFE, "nothing moves; the fault is latched"),
    Transition(_S.SHADOW, _E.QUICK_FAULT, _G.ALWAYS, _S.SAFE, "the same"),
    Transition(_S.SHADOW, _E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the hard-wired stop is open"),
    Transition(_S.SHADOW, _E.ENDED, _G.ALWAYS, _S.OFF, "the run is over"),
    Transition(_S.BLEND, _E.BLENDED, _G.ALWAYS, _S.ACTIVE, "the time of blending is over"),
    Transition(_S.BLEND, _E.DISENGAGE, _G.ALWAYS, _S.FALLBACK, "an operator takes the devices out"),
    Transition(_S.BLEND, _E.ALARM, _G.ALWAYS, _S.BLEND, "it is said and written; the rig goes on"),
    Transition(_S.BLEND, _E.FAULT, _G.ALWAYS, _S.FALLBACK, "the model takes over"),
    Transition(_S.BLEND, _E.QUICK_FAULT, _G.ALWAYS, _S.QUICKSTOP, "as fast as the devices can"),
    Transition(_S.BLEND, _E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the commands stand at once"),
    Transition(_S.BLEND, _E.ENDED, _G.ALWAYS, _S.FALLBACK, "the run is over"),
    Transition(
        _S.ACTIVE, _E.DISENGAGE, _G.ALWAYS, _S.FALLBACK, "an operator takes the devices out"
    ),
    Transition(
        _S.ACTIVE, _E.TUNE, _G.SOUND, _S.ACTIVE, "another value, whose margins were granted"
    ),
    Transition(
        _S.ACTIVE, _E.ALARM, _G.ALWAYS, _S.ACTIVE, "it is said and written; the rig goes on"
    ),
    Transition(_S.ACTIVE, _E.FAULT, _G.ALWAYS, _S.FALLBACK, "the model takes over"),
    Transition(_S.ACTIVE, _E.QUICK_FAULT, _G.ALWAYS, _S.QUICKSTOP, "as fast as the devices can"),
    Transition(_S.ACTIVE, _E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the commands stand at once"),
    Transition(_S.ACTIVE, _E.ENDED, _G.ALWAYS, _S.FALLBACK, "the run is over"),
    Transition(
        _S.FALLBACK, _E.AT_REST, _G.LATCHED, _S.SAFE, "the commands stand, the cause is latched"
    ),
    Transition(
        _S.FALLBACK, _E.AT_REST, _G.UNLATCHED, _S.SHADOW, "the commands stand, nothing is wrong"
    ),
    Transition(
        _S.FALLBACK, _E.QUICK_FAULT, _G.ALWAYS, _S.QUICKSTOP, "something worse came on the way"
    ),
    Transition(_S.FALLBACK, _E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "something worse came on the way"),
    Transition(
        _S.FALLBACK, _E.OVERDUE, _G.ALWAYS, _S.QUICKSTOP, "it does not come to rest in time"
    ),
    Transition(_S.QUICKSTOP, _E.AT_REST, _G.ALWAYS, _S.SAFE, "the commands stand"),
    Transition(_S.QUICKSTOP, _E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "something worse came on the way"),
    Transition(_S.QUICKSTOP, _E.OVERDUE, _G.ALWAYS, _S.ESTOP, "it does not come to rest in time"),
    Transition(_S.ESTOP, _E.RESET, _G.SOUND, _S.SAFE, "the hard-wired stop is closed again"),
    Transition(_S.SAFE, _E.STOP_FAULT, _G.ALWAYS, _S.ESTOP, "the hard-wired stop is open"),
    Transition(_S.SAFE, _E.RESET, _G.SOUND, _S.SHADOW, "an operator resets; the devices stay held"),
    Transition(_S.SAFE, _E.ENDED, _G.ALWAYS, _S.OFF, "the run is over"),
)


def transitions_page() -> str:
    """Return the table as the reference shows it, in Markdown."""
    rows = ["| state | event | if | next state | |", "|---|---|---|---|---|"]
    rows += [
        f"| {row.state.name} | {row.event} | {row.guard} | {row.target.name} | {row.meaning} |"
        for row in TRANSITIONS
    ]
    return "\n".join(rows) + "\n"
