"""What a supervisor decides, in synthetic time and without processes."""

import math

import numpy as np
import pytest
from pydantic import ValidationError
from supervised_rig import ROBOT, TABLE, Rig

from orchestrator import DescriptionError, DeviceError, Reason
from orchestrator.rig.supervisor.machine import RefusedWish
from orchestrator.rig.supervisor.process import take_priority
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.states import Event, State
from orchestrator.rig.supervisor.watch_memory import WatchMemory, Word, write_ring


def test_it_goes_from_off_to_active_by_itself_where_that_is_asked_for():
    rig = Rig()
    states = []
    for _ in range(12):
        rig.cycle()
        states += [rig.state] if rig.state not in states else []
    assert states == [State.OFF, State.SHADOW, State.BLEND, State.ACTIVE] or states == [
        State.SHADOW,
        State.BLEND,
        State.ACTIVE,
    ]
    assert rig.memories["sensor"][Word.STATE] == State.ACTIVE


def test_with_an_operator_it_waits_for_both_steps():
    rig = Rig(arm="operator")
    assert rig.cycle(20) is State.SHADOW
    rig.supervisor.machine.ask(Event.ARM, rig.now)
    assert rig.cycle(5) is State.SHADOW
    rig.supervisor.machine.ask(Event.ENGAGE, rig.now)
    assert rig.cycle(10) is State.ACTIVE


def disturb_force(rig):
    rig.force = 80.0


def disturb_slew(rig):
    rig.force = 45.0


def disturb_place(rig):
    rig.place = 0.04


def freeze(rig):
    rig.shaking = 0.0


def kill_engine(rig):
    rig.supervisor.run_lost(rig.now)


def leave(rig):
    rig.silent.add("robot")
    rig.supervisor.leave("robot")


FAULTS = {
    "force": (disturb_force, {}, Reason.FORCE, "sensor.fx", State.QUICKSTOP),
    "slew": (disturb_slew, {}, Reason.SLEW, "sensor.fx", State.FALLBACK),
    "workspace": (disturb_place, {}, Reason.WORKSPACE, "robot.x", State.QUICKSTOP),
    "frozen": (freeze, {}, Reason.SENSOR_STALE, "sensor.fx", State.FALLBACK),
    "nan": (None, {"fx": math.nan}, Reason.FORCE_NOT_FINITE, "sensor.fx", State.FALLBACK),
    "status": (None, {"valid": 0}, Reason.STATUS, "robot", State.FALLBACK),
    "malformed": (None, {"malformed": 30}, Reason.MALFORMED, "robot", State.FALLBACK),
    "restart": (None, {"restarts": 1}, Reason.CLOCK, "robot", State.FALLBACK),
    "clock": (None, {"device_time": 99.0}, Reason.CLOCK, "robot", State.FALLBACK),
    "stale": (lambda rig: rig.silent.add("sensor"), {}, Reason.SENSOR_STALE, "sensor", None),
    "dead": (leave, {}, Reason.DEVICE_LOST, "robot", State.FALLBACK),
    "engine": (kill_engine, {}, Reason.ENGINE_LOST, "simulation", State.FALLBACK),
    "hangs": (lambda rig: setattr(rig, "engine", False), {}, Reason.COMMAND_STALE, "robot", None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_named_and_ends_in_safe(name):
    disturb, columns, reason, where, reaction = FAULTS[name]
    rig = Rig().active()
    if disturb is not None:
        disturb(rig)
    rig.cycle(40, **columns)
    assert rig.latched[0] == (reason, where)
    first = next(c for c in rig.supervisor.machine.changes if c.fault is not None)
    assert first.after in (reaction or State.FALLBACK, State.SAFE)
    assert rig.state in (State.SAFE, State.OFF)  # OFF: the run is gone
    if rig.state is State.SAFE and name != "dead":
        assert rig.memories["robot"][Word.RELEASED] == 1
        assert rig.memories["robot"][Word.REASON] == reason


def test_normal_operation_finds_nothing():
    rig = Rig().active()
    for k in range(500):
        rig.place = 0.005 * math.sin(0.05 * k)
        rig.force = -1000.0 * rig.place
        rig.cycle()
    assert (rig.state, rig.latched) == (State.ACTIVE, [])


def test_a_spring_that_is_late_gives_energy_and_is_found_and_one_that_is_not_late_is_not():
    for late, found in ((0, []), (4, [(Reason.ENERGY, "contact")])):
        rig = Rig(blend="0 s", signals={}).active()
        past = [0.0] * (late + 1)
        for k in range(250):
            rig.place = 0.02 * math.sin(0.05 * k)
            past = [*past[1:], rig.place]
            rig.force = -1000.0 * past[0]
            rig.cycle()
        # 0.2 J are stored; two turns of pi k x^2 sin(w h): 0.13 J of the hold, or 0.62 J.
        assert rig.latched == found


def test_what_the_gate_found_by_itself_is_latched():
    rig = Rig().active()
    rig.memories["robot"][Word.IO_REASON] = Reason.VELOCITY
    rig.memories["robot"][Word.IO_FOUND] = rig.now
    rig.cycle(3)
    assert rig.latched == [(Reason.VELOCITY, "robot")]


def test_a_process_that_ends_for_what_it_found_is_not_a_device_that_is_gone():
    """A robot that restarts ends its process, and the supervisor may see both at once."""
    rig = Rig().active()
    rig.memories["robot"][Word.IO_REASON] = Reason.DEVICE_RESTARTED
    rig.memories["robot"][Word.IO_FOUND] = rig.now
    leave(rig)
    rig.cycle(3, restarts=1)
    assert rig.latched[0] == (Reason.DEVICE_RESTARTED, "robot")
    first = next(c for c in rig.supervisor.machine.changes if c.fault is not None)
    assert (first.fault.reason, first.after) == (Reason.DEVICE_RESTARTED, State.FALLBACK)


def test_a_reset_waits_until_the_force_is_gone(wording):
    rig = Rig().active()
    rig.force = 80.0
    rig.cycle(10)
    with wording.raises(RefusedWish):
        rig.supervisor.machine.ask(Event.RESET, rig.now)
    rig.force = 0.0
    rig.cycle(10)
    rig.supervisor.machine.ask(Event.RESET, rig.now)
    assert rig.cycle(20) is State.SHADOW  # it does not arm itself a second time


def test_a_regular_end_latches_nothing():
    rig = Rig().active()
    rig.supervisor.run_ended(rig.now)
    assert rig.cycle(5) is State.OFF
    assert rig.latched == []


@pytest.mark.parametrize(
    "changes",
    [
        {"commands": {}},
        {"signals": {"sensor.fz": {}}},
    ],
)
def test_tables_that_do_not_fit_are_refused(changes, wording):
    with wording.raises(DescriptionError):
        Rig(**changes)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"blend": "1 potato"}, "potato"),
        ({"heartbeat": "0 s"}, "heartbeat: expected >="),
        ({"reactions": {"forse": "estop"}}, "no reason 'forse'.*'force'"),
        ({"signals": {"a.b": {"against": "c.d"}}}, "'against' and 'travel' together"),
        ({"rig": "../x"}, "rig"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, match):
    with pytest.raises(ValidationError, match=match):
        SupervisorSettings(**TABLE | changes)


def test_a_second_process_for_a_device_is_refused(wording):
    rig = Rig()
    with wording.raises(DescriptionError):
        rig.supervisor.join(ROBOT, WatchMemory(64, len(ROBOT.columns), gauges=5), 1)


def test_the_ring_keeps_the_newest_rows_and_its_file_reads_back(tmp_path):
    memory = WatchMemory(64, 2)
    for k in range(200):
        memory.add(k, (k, -k))
    count, times, rows = memory.since(190)
    assert (count, times.tolist()) == (200, list(range(190, 200)))
    assert rows.tolist() == [[k, -k] for k in range(190, 200)]
    assert memory.since(0)[1].tolist() == list(range(152, 200))
    write_ring(tmp_path / "ring.csv", ["a", "b"], memory)
    found = np.genfromtxt(tmp_path / "ring.csv", delimiter=",", names=True)
    assert found["a"].tolist() == list(range(152, 200))
    assert [path.name for path in tmp_path.iterdir()] == ["ring.csv"]


@pytest.mark.parametrize("required", [False, True])
def test_a_priority_that_is_not_granted_is_said_or_ends_it(monkeypatch, required, wording):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("os.sched_setscheduler", refuse)
    given = SupervisorSettings(**TABLE | {"require_priority": required})
    told = "not granted its priority 85 of SCHED_FIFO"
    if required:
        with wording.raises(DeviceError):
            take_priority(given)
    else:
        assert told in take_priority(given)
