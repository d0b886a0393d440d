"""The machine of a rig at its times, just inside and just outside."""

import pytest

from orchestrator import Reason
from orchestrator.rig.supervisor.machine import FoundCause, Machine, RefusedWish, change_row
from orchestrator.rig.supervisor.states import Event, State

MS, S = 1_000_000, 1_000_000_000


def machine(state):
    reactions = {
        Reason.FORCE: Event.QUICK_FAULT,
        Reason.EMERGENCY_STOP: Event.STOP_FAULT,
        Reason.DEVICE_CHANGED: Event.ALARM,
    }
    made = Machine(reactions, confirm_ns=10 * S, rest_ns=2 * S)
    made.state, made.since_ns = state, S
    return made


def test_the_first_step_of_arming_holds_for_its_time_and_no_longer(wording):
    made = machine(State.SHADOW)
    assert made.armed_left(5 * S) == 0
    made.ask(Event.ARM, 5 * S, "one")
    assert (made.armed_by, made.armed_left(5 * S), made.armed_left(15 * S - 1)) == (
        "one",
        10 * S,
        1,
    )
    assert made.armed_left(15 * S) == made.armed_left(16 * S) == 0
    with wording.raises(RefusedWish):
        made.ask(Event.ENGAGE, 15 * S, "one")
    made.ask(Event.ENGAGE, 15 * S - 1, "one")
    assert (made.state, made.since_ns) == (State.BLEND, 15 * S - 1)
    assert (made.armed_by, made.armed_left(15 * S - 1)) == ("", 0)


def test_only_who_armed_engages_and_another_value_is_to_be_armed_again(wording):
    made = machine(State.SHADOW)
    made.ask(Event.ARM, S, "one")
    for now_ns in (S + 1, 11 * S - 1):
        with wording.raises(RefusedWish):
            made.ask(Event.ENGAGE, now_ns, "two")
    with wording.raises(RefusedWish):  # it is over: who asks does not matter
        made.ask(Event.ENGAGE, 11 * S, "two")
    made.ask(Event.TUNE, S + 1, "one: x = 1")
    with wording.raises(RefusedWish):
        made.ask(Event.ENGAGE, S + 2, "one")


@pytest.mark.parametrize("event", [Event.ARM, Event.ENGAGE, Event.TUNE])
def test_with_a_cause_that_is_there_nobody_arms_engages_or_tunes(event, wording):
    made = machine(State.SHADOW)
    made.ask(Event.ARM, S)
    made.present[Reason.STATUS, "robot"] = FoundCause(Reason.STATUS, "robot", S)
    with wording.raises(RefusedWish):
        made.ask(event, S + 1)
    assert made.state is State.SHADOW


@pytest.mark.parametrize(
    ("state", "spent_ns", "after"),
    [
        (State.BLEND, S - 1, State.BLEND),
        (State.BLEND, S, State.ACTIVE),
        (State.FALLBACK, 2 * S, State.FALLBACK),
        (State.FALLBACK, 2 * S + 1, State.QUICKSTOP),
        (State.QUICKSTOP, 2 * S, State.QUICKSTOP),
        (State.QUICKSTOP, 2 * S + 1, State.ESTOP),
        (State.ACTIVE, 9 * S, State.ACTIVE),
        (State.SAFE, 9 * S, State.SAFE),
    ],
)
def test_blending_and_stops_end_at_their_time(state, spent_ns, after):
    made = machine(state)
    made.tick(S + spent_ns, blend_ns=S, at_rest=False)
    assert made.state is after
    overdue = after in (State.QUICKSTOP, State.ESTOP) and after is not state
    assert [one.reason for one in made.latched] == [Reason.OVERDUE] * overdue
    if overdue:
        assert (made.changes[-1].fault, made.latched[0].location) == (made.latched[0], state.name)


def test_a_reset_from_estop_keeps_what_is_latched_and_one_from_safe_clears_it(wording):
    made = machine(State.ACTIVE)
    made.find(FoundCause(Reason.EMERGENCY_STOP, "robot", S))
    assert made.state is State.ESTOP
    with wording.raises(RefusedWish):
        made.ask(Event.RESET, 2 * S)
    made.gone(Reason.EMERGENCY_STOP, "robot")
    made.ask(Event.RESET, 3 * S)
    assert (made.state, [one.reason for one in made.latched]) == (
        State.SAFE,
        [Reason.EMERGENCY_STOP],
    )
    made.ask(Event.RESET, 4 * S)
    assert (made.state, made.latched) == (State.SHADOW, [])


def test_a_cause_is_latched_once_until_it_is_reset_and_one_elsewhere_is_another():
    made = machine(State.ACTIVE)
    made.find(FoundCause(Reason.STATUS, "robot", 2 * S, "bits 3, limit 0"))
    made.gone(Reason.STATUS, "robot")
    made.find(FoundCause(Reason.STATUS, "robot", 3 * S))  # it comes and goes
    assert (len(made.latched), len(made.changes), len(made.present)) == (1, 1, 1)
    made.find(FoundCause(Reason.STATUS, "sensor", 3 * S))
    made.strike(FoundCause(Reason.CLOCK, "robot", 3 * S))
    assert [str(one.location) for one in made.latched] == ["robot", "sensor", "robot"]
    assert [(change.before, change.after) for change in made.changes] == [
        (State.ACTIVE, State.FALLBACK),
        (State.FALLBACK, State.FALLBACK),  # it leads nowhere, and is written
        (State.FALLBACK, State.FALLBACK),
    ]
    made.strike(FoundCause(Reason.CLOCK, "robot", 4 * S))
    assert len(made.latched) == len(made.changes) == 3
    row = change_row(made.changes[0])
    told = ("ACTIVE", str(Event.FAULT.value), "FALLBACK", "status", "robot", "bits 3, limit 0")
    assert row == told


def test_an_alarm_is_given_once_as_long_as_it_stays_and_latches_nothing():
    made = machine(State.ACTIVE)
    alarm = FoundCause(Reason.DEVICE_CHANGED, "robot.x", S)
    made.find(alarm)
    made.find(alarm)
    assert (made.alarms, made.latched, made.present, made.state) == ([alarm], [], {}, State.ACTIVE)
    assert [change.event for change in made.changes] == [Event.ALARM]
    made.gone(Reason.DEVICE_CHANGED, "robot.x")
    made.find(alarm)
    assert made.alarms == [alarm, alarm]
    assert made.follows
