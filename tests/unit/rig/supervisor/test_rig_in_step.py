"""What each kill, stop and silence leads to on the EPOS rig, in step, with its shipped limits."""

import pytest
from rig_in_step import MS, NEVER, Rig

from orchestrator import Reason
from orchestrator.rig.supervisor.states import State

pytestmark = pytest.mark.usefixtures("shipped_fmus")
LOST, STALE, SUPERVISOR = Reason.DEVICE_LOST, Reason.SENSOR_STALE, Reason.SUPERVISOR_LOST
SIMULATION = "simulation"
NO_ANSWER = "no answer"  # the fault of the wire


def struck(monkeypatch, process, seconds):
    """Let the fault come 0.6 s after ACTIVE, and a second go by after it."""
    rig = Rig(monkeypatch).until_active().advance(0.6)
    since = rig.now_ns
    if process == NO_ANSWER:
        rig.lost_from_ns = since
    else:
        rig.stop(process, NEVER if seconds is None else round(seconds * 1e9))
    return rig.advance(1.0 + (seconds or 0.0)), since


@pytest.mark.parametrize(
    ("process", "seconds", "reason", "where", "state", "rest"),
    [
        # killed
        (SIMULATION, None, Reason.ENGINE_LOST, SIMULATION, State.OFF, 0.05),
        ("supervisor", None, SUPERVISOR, "robot", State.ACTIVE, 0.25),
        ("robot", None, LOST, "robot", State.OFF, 0.005),
        ("sensor", None, LOST, "sensor", State.OFF, 0.05),
        ("emulator", None, STALE, "robot", State.FALLBACK, 0.0),
        # stopped: while the process of the robot or the robot itself stands, nothing is sent; what
        # comes after it is the way to rest
        (SIMULATION, 0.2, Reason.COMMAND_STALE, "robot", State.OFF, 0.05),
        (SIMULATION, 1.0, Reason.COMMAND_STALE, "robot", State.OFF, 0.05),
        ("supervisor", 1.0, SUPERVISOR, "robot", State.OFF, 0.25),
        ("robot", 0.2, STALE, "robot", State.OFF, 0.25),
        ("robot", 2.0, STALE, "robot", State.OFF, 2.05),
        ("sensor", 1.0, STALE, "sensor", State.OFF, 0.15),
        ("emulator", 1.0, STALE, "robot", State.OFF, 1.05),
        # the wire
        (NO_ANSWER, None, STALE, "robot", State.FALLBACK, 0.005),
    ],
)
def test_a_fault_is_found_and_the_rig_comes_to_rest_within_its_limits(
    monkeypatch, process, seconds, reason, where, state, rest
):
    rig, since = struck(monkeypatch, process, seconds)
    assert rig.found[0] == (reason, where)
    assert rig.state is state
    assert rig.rested(since) <= rest
    assert 0.0 < rig.velocity(0) < rig.settings.commands["robot.dx"].velocity
    assert rig.velocity(since) < 0.02  # the motion has 0.007
    assert 0.0 < rig.force(0) < rig.settings.signals["sensor.fx"].maximum
    assert since - rig.rows[-1][0] <= 4 * MS  # what was computed until then is a row


@pytest.mark.parametrize("process", ["robot", "emulator"])
def test_a_robot_without_answers_for_longer_than_two_stops_is_left_to_its_own_time_out(
    monkeypatch, process
):
    rig, since = struck(monkeypatch, process, 5.0)
    assert rig.state is State.ESTOP
    assert rig.velocity(since) < 0.02
    position = rig.commands[-1][1]
    at = [value for moment, value in rig.commands if moment <= since][-1]
    assert position == pytest.approx(at, abs=0.5e-3)


def test_a_pause_of_the_supervisor_that_is_shorter_than_its_heartbeat_is_ridden_through(
    monkeypatch,
):
    rig, _ = struck(monkeypatch, "supervisor", 0.19)
    assert (rig.state, rig.found) == (State.ACTIVE, [])


def test_in_step_nothing_is_late(monkeypatch):
    """Of 2 s each frame is answered, and each sample of the sensor is new."""
    rig = Rig(monkeypatch).until_active().advance(2.0)
    facts = rig.processes["sensor"].counter.facts
    assert (rig.controller.late, facts.late, facts.lost) == (0, 0, 0)
    assert rig.rows[-1][0] - rig.rows[0][0] == (len(rig.rows) - 1) * 4 * MS
    assert rig.force(0) == pytest.approx(19.6, abs=0.5)  # as the real one, quiet
