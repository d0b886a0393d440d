"""Every limit that a supervisor watches is in the one list that its messages and pages show."""

import math

import pytest
from supervised_rig import LIMITS, Rig

from orchestrator import Reason
from orchestrator.rig.supervisor.gate import CommandGate, GateTimes, Orders
from orchestrator.rig.supervisor.limits import WatchedLimit, derived_unit, figures_of
from orchestrator.rig.supervisor.process import status_of
from orchestrator.rig.supervisor.settings import (
    CommandLimits,
    DeviceLimits,
    EnergyLimits,
    SignalLimits,
    SupervisorSettings,
)
from orchestrator.rig.supervisor.states import OF_DEVICES, OF_MOTIONS, OF_SIGNALS, State
from orchestrator.rig.supervisor.watch_memory import Word
from orchestrator.rig.supervisor.wire import state_line

MS = 1_000_000
#: Keys of the tables that are no limits of a quantity: how a check is made or what follows.
NO_LIMITS = {
    CommandLimits: {
        "deceleration", "stop_jerk", "quick_deceleration", "quick_jerk", "rests", "persistence",
    },
    SignalLimits: {"window", "against", "travel", "persistence", "reason"},
    DeviceLimits: {"status_mask", "estop_mask"},
    EnergyLimits: {"force", "motion", "sense"},
    SupervisorSettings: {
        "rig", "arm", "confirm_within", "blend", "hold_cycles", "after_fault", "operator_lost",
        "ring", "priority", "require_priority", "commands", "signals", "devices", "energy",
        "tracking", "reactions",
    },
}  # fmt: skip
#: A number for each key that is a limit, in its unit or in ms, that no other key has.
SET = {
    CommandLimits: {
        "minimum": -3.11, "maximum": 3.12, "velocity": 3.13, "acceleration": 3.14, "jerk": 3.15,
    },
    SignalLimits: {
        "minimum": -4.11, "maximum": 4.12, "slew": 4.13, "acceleration": 4.14, "jerk": 4.15,
        "frozen": 416,
    },
    DeviceLimits: {
        "stale": 511, "malformed": 512, "lost": 513, "status_steps": 514, "clock_jump": 515,
    },
    EnergyLimits: {"limit": 6.11},
    SupervisorSettings: {"heartbeat": 711, "command_stale": 712, "rest_within": 713},
}  # fmt: skip
#: Reasons that are events: there is no quantity that comes near a limit.
EVENTS = {Reason.EMERGENCY_STOP, Reason.FORCE_NOT_FINITE}
TIMES = {"frozen", "stale", "clock_jump", "heartbeat", "command_stale", "rest_within"}


def table(model):
    return {key: f"{value} ms" if key in TIMES else value for key, value in SET[model].items()}


@pytest.fixture(scope="module")
def rig():
    stop = {"deceleration": 2.0, "stop_jerk": 100.0}
    signal = table(SignalLimits)
    return Rig(
        commands={"robot.dx": table(CommandLimits) | stop},
        signals={
            "sensor.fx": signal,
            "robot.x": {"minimum": -1.0},
            "robot.dx": {"minimum": -9.0, "reason": "torque"},
        },
        devices={"robot": table(DeviceLimits)},
        energy={"contact": {"force": "sensor.fx", "motion": "robot.dx"} | table(EnergyLimits)},
        **table(SupervisorSettings),
    )


@pytest.mark.parametrize("model", SET, ids=lambda model: model.__name__)
def test_each_key_that_is_a_limit_has_its_bar(rig, model):
    keys = set(model.model_fields)
    assert keys == set(SET[model]) | NO_LIMITS[model], "a new key: is it a limit with a bar?"
    shown = status_of(rig.supervisor, rig.now)["limits"]
    ends = {one[end] for one in shown for end in ("minimum", "maximum")}
    assert {key for key, value in SET[model].items() if value not in ends} == set()


def test_each_reason_that_a_check_finds_is_of_a_limit_or_is_an_event(rig):
    reasons = {limit.reason for limit in rig.supervisor.limits if limit.is_set}
    gate = {Reason.TRAVEL, Reason.VELOCITY, Reason.ACCELERATION, Reason.JERK, Reason.COMMAND_LOST}
    found = {*OF_DEVICES, *OF_SIGNALS, *OF_MOTIONS, *gate, Reason.OVERDUE, Reason.COMMAND_STALE}
    assert found - reasons - EVENTS == set()


def test_a_bar_is_amber_before_its_limit_is_crossed_and_the_fault_has_its_figures():
    rig = Rig().active()

    def energy():
        (one,) = [each for each in status_of(rig.supervisor, rig.now)["limits"]
                  if each["where"] == "contact"]  # fmt: skip
        return one

    levels = []
    while rig.state is State.ACTIVE and len(levels) < 200:
        rig.force = min(rig.force + 10.0, 30.0)
        rig.place += 4e-4  # 12 mJ in each cycle, of 0.5 J
        rig.cycle()
        levels.append(energy()["level"])
        if levels[-1] == "amber" and "amber" not in levels[:-1]:
            assert energy()["used"] == pytest.approx(0.8, abs=0.03)
            line = state_line(status_of(rig.supervisor, rig.now))
            assert "contact: energy 0.4" in line
            assert "limit 0.5 J" in line
    assert list(dict.fromkeys(levels)) == ["fresh", "amber", "red"]
    (fault,) = rig.supervisor.machine.latched
    assert (fault.reason, fault.location) == (Reason.ENERGY, "contact")
    assert fault.figures.startswith("energy 0.50")
    assert fault.figures.endswith(" J, limit 0.5 J")
    assert energy()["unit"] == "J"


@pytest.mark.parametrize(
    ("columns", "where", "figures"),
    [
        ({"fx": 61.5}, "sensor.fx", "force 61.5 N, limit 50 N"),
        ({"fx": -61.5}, "sensor.fx", "force -61.5 N, limit -50 N"),
        ({"x": 0.04}, "robot.x", "position 0.04 m, limit 0.03 m"),
        ({"lost": 12.0}, "robot", "lost samples per second 12, limit 5"),
        ({"device_time": 3.0}, "robot", "jump of the clock 1996 ms, limit 500 ms"),
    ],
)
def test_a_fault_says_value_limit_and_unit(columns, where, figures):
    rig = Rig(devices={"robot": {"lost": 5}}).active()
    if "device_time" in columns:
        columns = {"device_time": rig.now * 1e-9 - 1.992}
    rig.cycle(**columns)
    faults = {fault.location: fault.figures for fault in rig.supervisor.machine.latched}
    assert faults[where] == figures


def test_a_device_that_is_silent_is_told_with_its_age():
    rig = Rig().active()
    rig.silent.add("sensor")
    rig.cycle(40)
    told = {fault.reason: fault.figures for fault in rig.supervisor.machine.latched}
    assert told[Reason.SENSOR_STALE] == "age of the newest sample 104 ms, limit 100 ms"


def test_a_check_that_does_not_act_in_a_state_shows_no_value():
    rig = Rig(arm="operator")
    rig.cycle(12)
    shown = {one["where"]: one for one in status_of(rig.supervisor, rig.now)["limits"]}
    assert rig.state is State.SHADOW
    assert (shown["contact"]["value"], shown["contact"]["level"]) == (None, "none")
    assert shown["rig"]["value"] is None
    assert shown["rig"]["maximum"] == 2000.0


def test_the_gate_of_a_command_tells_how_near_it_is_to_its_limits():
    limits = CommandLimits(**LIMITS | {"acceleration": 50.0, "minimum": -1.0, "maximum": 1.0})
    gate = CommandGate([limits.axis], [0.0], GateTimes(0, 10**12, 10**12), 4 * MS)
    assert all(math.isnan(value) for value in gate.gauges)
    now, at = 10**9, 0.0
    for number in range(1, 30):
        now, at = now + 4 * MS, at + 0.0008  # 0.2 m/s
        gate.command([at], number, Orders(State.ACTIVE, 0, now), now, step_ns=4 * MS)
    place, speed, bend, jerk, behind = gate.gauges
    assert (place, speed) == (pytest.approx(at), pytest.approx(0.2))
    assert bend >= 0.0
    assert (math.isfinite(jerk), behind) == (True, 0.0)


@pytest.mark.parametrize(
    ("reason", "value", "cause"),
    [
        (Reason.VELOCITY, 0.3, "robot.dx: velocity 0.3 m/s, limit 0.25 m/s"),
        (Reason.COMMAND_STALE, None, "age of the newest command beyond its limit of 100 ms"),
        (Reason.DEVICE_RESTARTED, None, ""),
    ],
)
def test_what_a_gate_found_by_itself_has_its_limit(reason, value, cause):
    """The gate may see first that a command is too old; the supervisor reads its age later."""
    rig = Rig().active()
    memory = rig.memories["robot"]
    if value is not None:
        memory.gauges[1] = value
    memory[Word.IO_REASON], memory[Word.IO_FOUND] = reason, rig.now + 1
    rig.cycle()
    (fault,) = rig.supervisor.machine.latched
    assert (fault.reason, fault.location, fault.figures) == (reason, "robot", cause)


def test_the_worst_value_of_a_moment_stays_in_view_and_passes():
    limit = WatchedLimit("a.f", "force", "N", Reason.FORCE, minimum=-10.0, maximum=20.0)
    assert (limit.level, limit.figures) == ("none", "")
    assert limit.take(-9.0) is Reason.OPERATION
    assert limit.take(5.0) is Reason.OPERATION
    assert (limit.worst, limit.value, limit.level) == (-9.0, 5.0, "amber")
    limit.turn()
    assert limit.worst == -9.0
    limit.turn()
    assert (limit.worst, limit.level) == (5.0, "fresh")
    assert limit.take(20.5) is Reason.FORCE
    assert (limit.level, figures_of([limit], Reason.FORCE)) == ("red", "force 20.5 N, limit 20 N")
    assert figures_of([limit], Reason.TORQUE) == ""
    limit.forget()
    assert (limit.level, limit.as_json()["value"]) == ("none", None)


@pytest.mark.parametrize(
    ("ends", "value", "used"),
    [
        ({"maximum": 2.0}, 1.0, 0.5),
        ({"maximum": 2.0}, 3.0, 1.5),
        ({"minimum": 4.0}, 4.0, 1.0),
        ({"minimum": 4.0}, 5.0, 0.75),
        ({"minimum": -2.0, "maximum": 4.0}, 1.0, 0.0),
        ({"minimum": -2.0, "maximum": 4.0}, -2.0, 1.0),
        ({"maximum": 0.0}, 0.0, 0.0),
        ({"maximum": 0.0}, 1.0, 2.0),
    ],
)
def test_the_used_share_counts_from_the_middle_or_from_zero(ends, value, used):
    limit = WatchedLimit("a", "value", "1", Reason.FORCE, **ends)
    limit.show(value)
    assert limit.used == pytest.approx(used)


def test_a_value_just_beyond_its_limit_is_not_printed_as_the_limit():
    limit = WatchedLimit("a", "energy", "J", Reason.ENERGY, maximum=0.15)
    limit.take(0.1500004)
    assert limit.figures == "energy 0.1500004 J, limit 0.15 J"


@pytest.mark.parametrize(
    ("unit", "order", "derived"),
    [("N", 1, "N/s"), ("m", 2, "m/s2"), ("m/s", 1, "m/s2"), ("rad/s2", 1, "rad/s3"),
     ("1", 1, "1/s")],
)  # fmt: skip
def test_units_of_derivatives(unit, order, derived):
    assert derived_unit(unit, order) == derived
