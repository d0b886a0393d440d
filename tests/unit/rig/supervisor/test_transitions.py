"""The table of transitions, and the machine that walks it."""

from pathlib import Path

import pytest

from orchestrator import Reason
from orchestrator.rig.supervisor.machine import FoundCause, Machine, RefusedWish
from orchestrator.rig.supervisor.states import TRANSITIONS, Event, Guard, State, transitions_page

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "supervisor.md"
S = 1_000_000_000
REACTIONS = {Reason.FORCE: Event.QUICK_FAULT, Reason.EMERGENCY_STOP: Event.STOP_FAULT}
FAULTS = {
    Event.FAULT: Reason.ENGINE_LOST,
    Event.QUICK_FAULT: Reason.FORCE,
    Event.STOP_FAULT: Reason.EMERGENCY_STOP,
}


def machine(state=State.OFF):
    made = Machine(REACTIONS, confirm_ns=10 * S, rest_ns=2 * S)
    made.state = state
    return made


def satisfy(made, guard):
    """Bring about what a guard asks for."""
    if guard is Guard.ARMED:
        made.ask(Event.ARM, 0)
    if guard is Guard.LATCHED:
        made.latched.append(FoundCause(Reason.FORCE, "sensor.fx", 0))


def happen(made, event):
    """Let an event come the way it comes in a run."""
    if event in FAULTS:
        made.find(FoundCause(FAULTS[event], "rig", S))
    elif event in (Event.BLENDED, Event.OVERDUE, Event.AT_REST):
        made.tick(3 * S, blend_ns=S, at_rest=event is Event.AT_REST)
    elif event in (Event.HEARD, Event.ENDED):
        made.apply(event, S)
    else:
        made.ask(event, S)


@pytest.mark.parametrize("row", TRANSITIONS, ids=lambda r: f"{r.state.name}-{r.event}-{r.guard}")
def test_every_row_of_the_table_is_walked(row):
    made = machine(row.state)
    satisfy(made, row.guard)
    happen(made, row.event)
    assert made.state is row.target
    assert made.changes[-1].event is row.event


def test_the_page_shows_the_table():
    assert transitions_page() in PAGE.read_text()


def test_every_state_is_reached_and_left():
    assert {row.target for row in TRANSITIONS} == {row.state for row in TRANSITIONS} == set(State)


def test_no_state_with_devices_in_motion_ignores_a_fault():
    for state in (State.BLEND, State.ACTIVE):
        for event, reason in FAULTS.items():
            made = machine(state)
            made.find(FoundCause(reason, "rig", 1))
            assert made.state not in (State.BLEND, State.ACTIVE), event


def test_a_reset_is_refused_while_the_cause_persists_and_names_it(wording):
    made = machine(State.ACTIVE)
    made.find(FoundCause(Reason.FORCE, "sensor.fx", 1))
    made.tick(2, blend_ns=S, at_rest=True)
    with wording.raises(RefusedWish):
        made.ask(Event.RESET, 3)
    made.gone(Reason.FORCE, "sensor.fx")
    assert [fault.reason for fault in made.latched] == [Reason.FORCE]
    made.ask(Event.RESET, 4)
    assert (made.state, made.latched) == (State.SHADOW, [])


def test_arming_has_two_steps_and_lapses(wording):
    made = machine(State.SHADOW)
    with wording.raises(RefusedWish):
        made.ask(Event.ENGAGE, 1)
    made.ask(Event.ARM, 1)
    with wording.raises(RefusedWish):
        made.ask(Event.ENGAGE, 1 + 11 * S)
    made.ask(Event.ARM, 20 * S)
    made.ask(Event.ENGAGE, 21 * S)
    assert made.state is State.BLEND


def test_a_wish_that_does_not_fit_the_state_says_where_it_would(wording):
    with wording.raises(RefusedWish):
        machine(State.ACTIVE).ask(Event.RESET, 1)


def test_a_cause_that_stays_is_latched_once_and_a_second_one_as_well():
    made = machine(State.ACTIVE)
    for time in range(5):
        made.find(FoundCause(Reason.DEVICE_LOST, "robot", time))
        made.find(FoundCause(Reason.SENSOR_STALE, "sensor", time))
    assert [fault.location for fault in made.latched] == ["robot", "sensor"]
    assert made.changes[-1].after is State.FALLBACK
