"""What a supervisor decides at its limits, just inside and just outside."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from supervised_rig import ROBOT, TABLE, Rig

from orchestrator import DescriptionError, Reason
from orchestrator.rig.supervisor.machine import RefusedWish
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.supervisor import Supervisor
from orchestrator.rig.supervisor.watch_memory import RingSignal, WatchMemory, Word

MS = 1_000_000


@pytest.mark.parametrize(
    ("speed", "velocity"), [(None, 0.25), (0.125, 0.125), (0.25, 0.25), (0.5, 0.25), (0.0, 0.25)]
)
def test_a_command_has_the_narrower_of_its_limits(speed, velocity):
    signal = RingSignal("dx", "m", 0.0, -0.5, 0.75, speed)
    facts = replace(ROBOT, commands=(signal,))
    (limits,) = Rig().supervisor.limits_of(facts)
    assert (limits.minimum, limits.maximum, limits.velocity) == (-0.5, 0.75, velocity)
    own = {"robot.dx": {**TABLE["commands"]["robot.dx"], "minimum": -0.25, "maximum": 0.5}}
    (limits,) = Rig(commands=own).supervisor.limits_of(facts)
    assert (limits.minimum, limits.maximum) == (-0.25, 0.5)


def test_a_device_that_the_rig_does_not_have_is_refused(wording):
    supervisor = Supervisor(SupervisorSettings(**TABLE), ["sensor"])
    with wording.raises(DescriptionError):
        supervisor.join(ROBOT, WatchMemory(64, len(ROBOT.columns), gauges=5), 1)


@pytest.mark.parametrize("late_ns", [0, 1])
def test_a_process_is_lost_beyond_its_heartbeat(late_ns):
    rig = Rig(heartbeat="200 ms").active()
    watch = rig.supervisor.watches["robot"]
    rig.memories["robot"][Word.IO_BEAT] = rig.now - 200 * MS - late_ns
    assert (Reason.DEVICE_LOST in set(watch.reasons(rig.now))) is bool(late_ns)
    rig.supervisor.leave("robot")
    assert Reason.DEVICE_LOST in set(watch.reasons(0))
    rig.supervisor.leave("nobody")


@pytest.mark.parametrize(("cycles", "latched"), [(25, []), (26, [(Reason.COMMAND_STALE, "robot")])])
def test_a_simulation_hangs_beyond_the_age_of_its_command(cycles, latched):
    rig = Rig(signals={}, command_stale="100 ms").active()
    rig.engine = False
    rig.cycle(cycles)
    assert rig.latched == latched


@pytest.mark.parametrize(("commands", "state"), [(1, State.SHADOW), (2, State.BLEND)])
def test_a_rig_engages_by_itself_once_the_simulation_steps(commands, state):
    rig = Rig(blend="1 s")
    rig.engine = False
    rig.memories["robot"][Word.COMMANDS] = commands
    rig.cycle(4)
    assert rig.state is state


def test_it_engages_by_itself_once():
    rig = Rig().active()
    rig.supervisor.wish("disengage", rig.now, "one")
    rig.cycle(20)
    assert rig.state is State.SHADOW


@pytest.mark.parametrize(
    ("word", "latched"), [(0, []), (1, []), (2, [(Reason.ENGINE_LOST, "simulation")])]
)
def test_a_run_that_is_killed_did_not_end_regularly(word, latched):
    rig = Rig().active()
    rig.memories["robot"][Word.RUN_GONE] = word
    rig.cycle(1)
    assert rig.latched == latched
    assert (rig.state is State.ACTIVE) is (word == 0)
    assert rig.supervisor.run_may_begin
    assert rig.supervisor.watches["robot"].run_gone == word


def test_what_is_said_first_of_a_run_counts():
    for first, second, latched in (
        ("run_ended", "run_lost", []),
        ("run_lost", "run_ended", [(Reason.ENGINE_LOST, "simulation")]),
    ):
        rig = Rig().active()
        getattr(rig.supervisor, first)(rig.now)
        getattr(rig.supervisor, second)(rig.now)
        assert rig.latched == latched
        rig.cycle(5)
        assert rig.state is State.OFF
        assert not rig.supervisor.is_over
        for name in ("robot", "sensor"):
            assert not rig.supervisor.is_over
            rig.supervisor.leave(name)
        assert rig.supervisor.is_over


@pytest.mark.parametrize(("setting", "latched"), [("stop", [Reason.OPERATOR_LOST]), ("ignore", [])])
def test_the_last_terminal_that_leaves_stops_the_rig_if_it_is_asked_for(setting, latched):
    rig = Rig(operator_lost=setting).active()
    rig.supervisor.operator_lost(rig.now)
    assert [reason for reason, _ in rig.latched] == latched


@pytest.mark.parametrize(("after", "released"), [("stop", 1), ("continue", 0)])
def test_a_run_is_released_where_its_rig_stands(after, released):
    rig = Rig(after_fault=after).active()
    assert rig.memories["robot"][Word.RELEASED] == 0
    rig.supervisor.wish("stop", rig.now, "one")
    rig.cycle(5)
    assert rig.state is State.SAFE
    memory = rig.memories["robot"]
    assert (memory[Word.RELEASED], memory[Word.REASON]) == (released, Reason.OPERATOR_STOP)
    assert memory[Word.SINCE] == rig.supervisor.machine.since_ns
    assert memory[Word.BEAT] == rig.now
    assert rig.supervisor.wished[:2] == ("stop", "one")


@pytest.mark.parametrize(
    ("wish", "reason", "first"),
    [
        ("stop", Reason.OPERATOR_STOP, State.FALLBACK),
        ("quickstop", Reason.OPERATOR_QUICK_STOP, State.QUICKSTOP),
    ],
)
def test_an_operator_stops_the_rig_and_is_named(wish, reason, first):
    rig = Rig().active()
    rig.supervisor.wish(wish, rig.now, "one")
    assert rig.state is first
    assert rig.latched == [(reason, "operator one")]


def test_a_rig_stays_in_off_until_all_are_heard_and_says_what_is_missing():
    rig = Rig()
    rig.silent.add("sensor")
    rig.cycle(5)
    assert rig.state is State.OFF
    assert rig.supervisor.missing == ("sensor: no sample arrived yet",)
    rig.force = 80.0
    rig.silent.clear()
    rig.cycle(1)
    assert rig.state is State.OFF
    assert "sensor.fx: the force is larger" in rig.supervisor.missing[0]
    rig.force = 0.0
    rig.cycle(2)
    assert rig.supervisor.missing == ()
    assert rig.state is not State.OFF
    gone = Rig()
    gone.supervisor.leave("robot")
    gone.cycle(1)
    assert gone.latched == [(Reason.DEVICE_LOST, "robot")]
    assert gone.state is State.SAFE


def test_a_value_is_granted_only_with_what_is_tracked(wording):
    rig = Rig().active()
    lacks = SimpleNamespace(lacks=lambda _: True, name="robot.x", figures="9 ms", margins=None)
    fine = SimpleNamespace(lacks=lambda _: False, name="robot.x", figures="1 ms", margins=None)
    for response, refused in ((lacks, True), (fine, False)):
        rig.supervisor.tracking = SimpleNamespace(
            following=lambda _, one=response: [(one, "table")]
        )
        if refused:
            with wording.raises(RefusedWish):
                rig.supervisor.tune("k = 1", {}, rig.now, "one")
            assert rig.supervisor.wished is None
        else:
            rig.supervisor.tune("k = 1", {}, rig.now, "one")
            assert rig.supervisor.wished == ("tune k = 1", "one", rig.now)
        assert response.margins == (None if refused else "table")
