"""Delay and gain of a device tracked while it runs, on records of a robot that is not there."""

import math
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.signal import StateSpace, lsim

from hw_adapters.emulation.tracking import Tracking
from orchestrator.core.diagnostics import DescriptionError, LoadError, Reason
from orchestrator.rig.supervisor.machine import RefusedWish
from orchestrator.rig.supervisor.rig_tracking import (
    COLUMNS,
    MarginTable,
    RigTracking,
    read_tracks,
    track_row,
)
from orchestrator.rig.supervisor.settings import SupervisorSettings, TrackingLimits
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.supervisor import Supervisor
from orchestrator.rig.supervisor.tracker import WIDTH, ChangeTest, Known, LagFilter, Tracker
from orchestrator.rig.supervisor.watch_memory import (
    Head,
    JoiningDevice,
    RingSignal,
    RowFile,
    WatchMemory,
    Word,
)

MS = 1_000_000
T = 0.004


def known(**changes):
    given = {
        "period": T,
        "delay": 0.016,
        "gain": 1.0,
        "bandwidth": None,
        "damping": None,
        "noise": 4e-8,
        "scatter": 0.001,
        "longest": 0.064,
        "memory": 2.0,
        "change": T,
        "precision": 5e-4,
    }
    return Known(**{**given, **changes})


def robot(command, *, delay=0.016, change=None, later=0.0, gain=1.0, lag=None, missed=(), seed=0):
    """What a robot says of 250 Hz, rounded to 0.1 um; from ``change`` on it is slower."""
    device, held, found = Tracking(1, round(delay * 1e9), lag, lag and 0.7), command[0], []
    for k, value in enumerate(command):
        if k == change:
            device.slower_ns = round(later * 1e9)
        device.advance(k * 4 * MS)
        found.append(device.position[0] * (gain if change is not None and k >= change else 1.0))
        held = held if k in missed else value
        device.command(k * 4 * MS, np.array([held]))
    noise = np.random.default_rng(seed).normal(scale=2e-8, size=len(command))
    return np.round((np.array(found) + noise) * 1e7) * 1e-7


def sine(count, frequency=1.0, size=5e-3):
    return size * np.sin(2.0 * np.pi * frequency * T * np.arange(count))


def run(tracker, command, response):
    return [k for k in range(len(command)) if tracker.take(k, command[k], response[k])]


@pytest.mark.parametrize("damping", [None, 0.3, 1.0, 1.7])
def test_the_lag_is_that_of_its_transfer_function(damping):
    w, command = 2.0 * math.pi * 15.0, np.random.default_rng(1).normal(size=60)
    command[0] = 0.0
    if damping is None:
        plant = StateSpace([[-w]], [[w]], [[1.0]], [[0.0]])
    else:
        plant = StateSpace([[0, 1], [-w * w, -2 * damping * w]], [[0], [w * w]], [[1, 0]], [[0]])
    _, expected, _ = lsim(plant, command, T * np.arange(60), interp=False)
    lag = LagFilter(T, 15.0, damping)
    assert [lag.step(u) for u in command] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("lag", [None, 15.0])
def test_without_missed_cycles_its_interval_has_the_delay_and_nothing_is_found(lag):
    tracker = Tracker(known(bandwidth=lag, damping=lag and 0.7))
    command = sine(1000)
    assert run(tracker, command, robot(command, lag=lag)) == []
    found = tracker.settled
    assert found.interval[0] <= 0.016 <= found.interval[1]
    assert abs(found.gain - 1.0) <= WIDTH * found.gain_deviation
    assert WIDTH * found.delay_deviation <= 5e-4  # what was asked for


def test_a_robot_that_becomes_slower_is_found_and_its_delay_estimated_anew():
    tracker, command = Tracker(known()), sine(1500)
    missed = {300, 301, 500, 710, 711, 712, 900}
    found = run(tracker, command, robot(command, change=750, later=0.008, missed=missed))
    assert len(found) == 1
    assert 0 < found[0] - 750 <= 50  # the test needs 20 samples that say so; here it moves slowly
    assert tracker.settled.delay == pytest.approx(0.024, abs=5e-4)
    assert tracker.changes == 1


def test_another_gain_is_found():
    tracker, command = Tracker(known()), sine(1500)
    found = run(tracker, command, robot(command, change=750, gain=0.8))
    assert len(found) == 1
    assert tracker.settled.gain == pytest.approx(0.8, abs=0.01)
    assert tracker.settled.delay == pytest.approx(0.016, abs=5e-4)


def test_nothing_is_learnt_or_forgotten_while_the_command_stands():
    tracker, command = Tracker(known()), np.append(sine(750), np.zeros(1000))
    response = robot(command)
    run(tracker, command[:750], response[:750])
    before, counted = tracker.settled, tracker.counted
    for k in range(800, 1750):
        assert not tracker.take(k, command[k], response[k])
    assert tracker.settled == before
    assert tracker.counted <= counted + 30


def test_lost_samples_and_a_device_that_counts_anew_are_no_change():
    tracker, command = Tracker(known()), sine(1500)
    response = robot(command, missed={400, 401, 402})
    for k in [*range(400), *range(403, 1500)]:
        # of a sample that is lost nothing is sent: the robot holds
        assert not tracker.take(k, command[k], response[k])
    for k in range(750):
        assert not tracker.take(k, command[k], response[k])
    assert tracker.settled.delay == pytest.approx(0.016, abs=5e-4)


@pytest.mark.slow
def test_in_fifty_seeds_with_missed_cycles_no_change_is_found():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        command = sine(1250, rng.uniform(0.5, 4.0), rng.uniform(3e-3, 10e-3))
        missed = set(np.flatnonzero(rng.random(1250) < 0.01).tolist())
        tracker = Tracker(known())
        assert run(tracker, command, robot(command, missed=missed, seed=seed)) == [], seed
        assert tracker.settled.delay == pytest.approx(0.016, abs=5e-4)


def test_a_single_wild_sample_adds_no_more_than_the_bound():
    test = ChangeTest(change=1.0, threshold=30.0, longest=1.5)
    assert not test.take(1e9, 1.0, 1.0)
    assert test.score == pytest.approx(1.5 / 30.0)
    assert not any(test.take(0.0, 1.0, 1.0) for _ in range(1000))
    assert test.score == 0.0


# --- In a supervisor -----------------------------------------------------------------------------

ROBOT = JoiningDevice(
    "robot", (RingSignal("x", "m"),), (RingSignal("dx", "m"),), 4 * MS, 11, 10, True
)
TABLE = {"command": "robot.dx", "delay": "16 ms", "noise": 4e-8}
MARGINS = MarginTable(
    "body.x -> robot.dx", 0.004, 1.2, (0.5, 2.0), (0.010, 0.010), (0.0, 0.010), (3.0, 1.0)
)


class Rig:
    """One robot, whose process are these lines, and its supervisor."""

    def __init__(self, margins=MARGINS, **reactions):
        settings = SupervisorSettings(
            rig="test",
            arm="automatic",
            blend="0 s",
            commands={"robot.dx": {"velocity": 1.0, "deceleration": 2.0, "stop_jerk": 100.0}},
            tracking={"robot.x": TABLE},
            reactions=reactions,
        )
        self.supervisor = Supervisor(settings, ["robot"], {"robot.dx": margins})
        self.memory = WatchMemory(64, len(ROBOT.columns), gauges=5)
        self.now = 5000 * MS
        self.supervisor.join(ROBOT, self.memory, self.now)
        self.row = np.zeros(len(ROBOT.columns))
        self.row[Head.VALID] = 1

    def run(self, command, response, pauses=()):
        at_rest = self.supervisor.machine
        for k, (sent, said) in enumerate(zip(command, response, strict=True)):
            self.now += 4 * MS
            self.row[Head.NUMBER] += 1
            self.row[Head.DEVICE_TIME] = self.now * 1e-9
            self.row[len(Head)], self.row[-1] = said, sent
            memory = self.memory
            memory[Word.COMMANDS] += 1
            memory[Word.IO_BEAT] = self.now
            memory[Word.AT_REST] = int(at_rest.state not in (State.BLEND, State.ACTIVE))
            memory.add(self.now + (6 * MS if k in pauses else 0), self.row)
            self.supervisor.look(self.now)
        return self

    @property
    def told(self):
        machine = self.supervisor.machine
        return [(c.fault.reason, c.after) for c in machine.changes if c.fault is not None]


SLOWER = sine(2000)
LATER = {"change": 1000, "later": 0.008}


def test_a_margin_below_its_reserve_brings_the_rig_to_rest_after_it_was_said():
    rig = Rig().run(SLOWER, robot(SLOWER, **LATER))
    # 8 ms more leave 2 ms of 10 ms
    assert rig.told == [
        (Reason.DEVICE_CHANGED, State.ACTIVE),
        (Reason.MARGIN, State.FALLBACK),
    ]
    assert rig.supervisor.machine.state is State.SAFE
    assert "left are 2" in str(rig.supervisor.machine.latched[0])


def test_an_alarm_is_said_and_the_rig_goes_on():
    rig = Rig(margin="alarm").run(SLOWER, robot(SLOWER, **LATER))
    expected = [(Reason.DEVICE_CHANGED, State.ACTIVE), (Reason.MARGIN, State.ACTIVE)]
    assert rig.told == expected
    machine = rig.supervisor.machine
    assert (machine.latched, machine.present) == ([], {})
    assert [fault.reason for fault in machine.alarms] == [reason for reason, _ in expected]


def test_a_change_can_be_a_fault_and_what_leaves_enough_is_none():
    assert Rig(device_changed="quickstop").run(SLOWER, robot(SLOWER, **LATER)).told[0] == (
        Reason.DEVICE_CHANGED,
        State.QUICKSTOP,
    )
    wide = MarginTable("", 0.004, 1.2, (0.5, 2.0), (0.030, 0.030), (0.0, 0.030), (9.0, 3.0))
    rig = Rig(wide).run(SLOWER, robot(SLOWER, **LATER))
    assert rig.told == [(Reason.DEVICE_CHANGED, State.ACTIVE)]


def test_a_command_that_is_sent_too_late_is_not_what_the_robot_has():
    pauses = set(range(400, 430)) | set(range(1300, 1340))
    rig = Rig().run(SLOWER, robot(SLOWER, missed=pauses), pauses)
    assert rig.told == []
    assert rig.supervisor.tracking.responses["robot.x"].tracker.settled.delay == pytest.approx(
        0.016, abs=5e-4
    )


def test_another_value_is_consented_to_if_what_is_tracked_leaves_the_reserve(wording):
    rig = Rig().run(SLOWER[:1000], robot(SLOWER[:1000]))
    response = rig.supervisor.tracking.responses["robot.x"]
    little = replace(MARGINS, delay_margins=(0.003, 0.003))
    enough = replace(MARGINS, delay_margins=(0.005, 0.005))
    with wording.raises(RefusedWish):
        rig.supervisor.tune("b = 9", {"robot.dx": little}, rig.now, "pts/1")
    assert response.margins is MARGINS
    rig.supervisor.tune("b = 60", {"robot.dx": enough, "other.dx": little}, rig.now, "pts/1")
    assert response.margins is enough
    assert response.left_of(enough)[0] == pytest.approx(0.005, abs=5e-4)


def test_what_was_tracked_is_written_and_read_back(tmp_path, wording):
    rig, path = Rig(), tmp_path / "tracking.csv"
    response = rig.supervisor.tracking.responses["robot.x"]
    file = RowFile(path, COLUMNS)
    file.write(rig.now, track_row(response))
    rig.run(SLOWER[:1000], robot(SLOWER[:1000]))
    file.write(rig.now, track_row(response))
    file.close()
    (track,) = read_tracks(path)
    assert track["time_s"] == pytest.approx([0.0, 4.0])
    assert math.isnan(track["delay_s"][0])
    last = track.as_json()
    assert last["delay_s"] == pytest.approx(0.016, abs=5e-4)
    assert last["delay_margin_s"] == pytest.approx(0.010, abs=5e-4)
    assert (last["changes"], last["response"]) == (0, "robot.x")
    whole = path.read_bytes()
    for size in range(whole.rindex(b"\n", 0, -1) + 1, len(whole)):  # its writer was killed
        path.write_bytes(whole[:size])
        (cut,) = read_tracks(path)
        assert (len(cut["time_s"]), cut.as_json()["changes"]) == (1, 0)
    path.write_bytes(whole.replace(b",0\r\n", b",\r\n"))
    with wording.raises(LoadError):
        read_tracks(path)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("robot.x", {"command": "robot.dx"}),
        ("robot.y", TABLE),
        ("robot.x", TABLE | {"command": "robot.dy"}),
        ("robot.x", TABLE | {"longest": "10 ms"}),
    ],
)
def test_tables_that_do_not_fit_are_refused(name, table, wording):
    with wording.raises(DescriptionError):
        RigTracking({name: TrackingLimits(**table)}, {}, [ROBOT])


def test_only_what_tracking_finds_may_be_a_mere_alarm():
    table = {"rig": "test", "reactions": {"force": "alarm"}}
    with pytest.raises(ValidationError, match="force: expected an alarm only for device_changed"):
        SupervisorSettings(**table)
    with pytest.raises(ValidationError, match="'bandwidth' together with 'damping'"):
        TrackingLimits(**TABLE, damping=0.7)
