"""Each check finds something in the states of its table, and nothing elsewhere."""

from pathlib import Path

import pytest
from supervised_rig import MS, Rig

from orchestrator import Reason
from orchestrator.rig.supervisor.states import CHECKS, FOLLOWING, Check, Event, State, checks_page
from orchestrator.rig.supervisor.watch_memory import Word

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "supervisor.md"
TRACKED = {"robot.x": {"command": "robot.dx", "delay": "16 ms", "noise": 1e-7}}


def wrong_status(rig, _):
    rig.cycle(valid=0)


def large_force(rig, _):
    rig.force = 80.0
    rig.cycle()


def stuck_robot(rig, k):
    rig.cycle(x=0.0, **{"sent.dx": 0.001 * k})


def given_energy(rig, k):
    rig.force = 40.0
    rig.cycle(x=1e-6 * k, **{"sent.dx": 0.001 * k})


def hung_simulation(rig, _):
    rig.engine = False
    rig.cycle()


def tripped_gate(rig, _):
    rig.memories["robot"][Word.IO_REASON] = Reason.TRAVEL
    rig.memories["robot"][Word.IO_FOUND] = 1
    rig.cycle()


def changed_device(rig, _):
    rig.supervisor.tracking.responses["robot.x"].found_ns.append(rig.now)
    rig.cycle()


def moving_on(rig, _):
    rig.stands = False
    rig.cycle()


def lost_run(rig, _):
    rig.supervisor.run_lost(rig.now)
    rig.cycle()


#: By check: what goes wrong in a cycle, and how that is found.
WRONG = {
    Check.DEVICE: (wrong_status, Reason.STATUS),
    Check.SIGNAL: (large_force, Reason.FORCE),
    Check.FROZEN: (stuck_robot, Reason.SENSOR_STALE),
    Check.ENERGY: (given_energy, Reason.ENERGY),
    Check.COMMAND: (hung_simulation, Reason.COMMAND_STALE),
    Check.GATE: (tripped_gate, Reason.TRAVEL),
    Check.TRACKING: (changed_device, Reason.DEVICE_CHANGED),
    Check.REST: (moving_on, Reason.OVERDUE),
    Check.RUN: (lost_run, Reason.ENGINE_LOST),
}


@pytest.mark.parametrize("state", State, ids=lambda state: state.name)
@pytest.mark.parametrize("row", CHECKS, ids=lambda row: row.check.name)
def test_a_check_finds_something_in_its_states_only(row, state):
    disturb, reason = WRONG[row.check]
    rig = Rig(arm="operator", rest_within="40 ms", tracking=TRACKED)
    rig.cycle(3)
    machine, found = rig.supervisor.machine, []
    for k in range(40):
        machine.state, machine.since_ns = state, min(machine.since_ns, rig.now)
        disturb(rig, k)
        found += [fault.reason for fault in (*machine.latched, *machine.alarms)]
    assert (reason in found) is (state in row.states)


def test_the_page_shows_the_table():
    assert checks_page() in PAGE.read_text()


def test_what_only_a_moving_device_shows_is_looked_for_only_where_it_moves():
    following = {row.check for row in CHECKS if row.states <= FOLLOWING}
    assert following == {Check.FROZEN, Check.COMMAND, Check.TRACKING}


def engaged(rig, held_s):
    """Hold a rig for so long, its run before the first step, and engage it."""
    rig.engine = False
    rig.cycle(round(held_s * 250), x=0.0, **{"sent.dx": 0.0})
    assert rig.state is State.SHADOW
    rig.supervisor.wish("arm", rig.now, "one")
    rig.supervisor.wish("engage", rig.now, "one")
    rig.engine = True


@pytest.mark.parametrize("held_s", [1, 10, 60])
def test_a_rig_that_was_held_is_engaged_and_stays_so(held_s):
    rig = Rig(arm="operator", command_stale="40 ms")
    engaged(rig, held_s)
    for k in range(50):  # the robot follows 16 ms later
        rig.cycle(x=0.0005 * max(0, k - 4), **{"sent.dx": 0.0005 * k})
    assert (rig.state, rig.latched) == (State.ACTIVE, [])


def test_a_robot_is_not_frozen_because_it_was_told_nothing_for_long():
    rig = Rig(arm="operator")
    engaged(rig, 1)
    rig.cycle(50, x=0.0, **{"sent.dx": 0.0})
    for k in range(1, 10):
        rig.cycle(x=0.001 * max(0, k - 4), **{"sent.dx": 0.001 * k})
    assert rig.latched == []


def test_a_robot_that_does_not_follow_after_it_was_engaged_is_found_as_soon_as_in_motion():
    rig = Rig(arm="operator")
    engaged(rig, 60)
    begun = rig.now
    k = 0
    while rig.state in FOLLOWING:
        k += 1
        rig.cycle(x=0.0, **{"sent.dx": 0.001 * k})
    assert rig.latched == [(Reason.SENSOR_STALE, "robot.x")]
    assert rig.now - begun <= 60 * MS + 3 * 4 * MS  # `frozen`, and where it begins and is seen


def test_energy_that_was_given_before_an_estop_does_not_refuse_the_reset():
    rig = Rig(arm="operator", signals={})
    engaged(rig, 1)
    for k in range(40):
        given_energy(rig, k)
    machine = rig.supervisor.machine
    assert (Reason.ENERGY, "contact") in rig.latched
    machine.apply(Event.STOP_FAULT, rig.now)
    rig.cycle(2, x=1.0, **{"sent.dx": 0.04})
    rig.supervisor.wish("reset", rig.now, "one")
    assert rig.state is State.SAFE
