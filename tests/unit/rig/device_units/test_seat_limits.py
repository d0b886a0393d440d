"""A seat at a supervisor, at its limits, in synthetic time."""

from types import SimpleNamespace

import pytest

from orchestrator import DeviceError, Reason
from orchestrator.rig.device_units import supervision
from orchestrator.rig.device_units.supervision import Seat
from orchestrator.rig.devices import (
    DeviceConnector,
    DeviceConnectors,
)
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.watch_memory import (
    JoiningDevice,
    RingSignal,
    WatchMemory,
    Word,
)

MS, S = 1_000_000, 1_000_000_000
PERIOD = 4 * MS
ROBOT = JoiningDevice(
    "robot", (RingSignal("x", "m"),), (RingSignal("dx", "m", 0.5),), PERIOD, 11, 10
)
LIMITS = {"minimum": -1.0, "maximum": 1.0, "velocity": 2.0, "deceleration": 2.0, "stop_jerk": 64.0}
TIMES = {"blend_ns": 0, "heartbeat_ns": 200 * MS, "command_stale_ns": 100 * MS, "hold_cycles": None}


class Block:
    """What a run shares with the process of a device."""

    def __init__(self, commands_given=0):
        self.commands_given, self.lost, self.samples, self.ticked = commands_given, "", [], []
        self.ticks = SimpleNamespace(tick=self.ticked.append)
        self.newest, self.step_ns = [0.0], 0

    def lose(self, why):
        self.lost = why

    def newest_command(self, into):
        into[:] = self.newest
        return self.commands_given, self.step_ns

    def put_sample(self, facts, values):
        self.samples.append((facts.number, facts.valid, values.tolist()))


@pytest.fixture
def seat(monkeypatch, tmp_path):
    """A seat at a supervisor that is this test; its memory and its clock are attributes."""
    memory, clock, told = WatchMemory(64, len(ROBOT.columns), gauges=5), [S], []
    answer = {
        "folder": str(tmp_path),
        "rows": 64,
        "priority": 0,
        "limits": [LIMITS],
        "times": TIMES,
    }
    channel = SimpleNamespace(close=lambda: told.append("closed"))
    monkeypatch.setattr(supervision, "connect_to", lambda rig: channel)
    monkeypatch.setattr(supervision, "tell", lambda _, message: told.append(message))
    monkeypatch.setattr(supervision, "hear", lambda _: (answer, supervision.os.dup(memory.file)))
    monkeypatch.setattr(supervision.time, "monotonic_ns", lambda: clock[0])
    memory[Word.STATE], memory[Word.BEAT] = State.ACTIVE, S
    made = Seat("rig", ROBOT)
    made.memory, made.clock, made.told = memory, clock, told
    return made


def test_it_joins_by_its_facts_and_sends_what_the_gate_lets_pass(seat):
    assert seat.told == [{"hello": "device", **ROBOT.as_json()}]
    assert (seat.period, seat.sent.tolist()) == (0.004, [0.5])
    assert seat.command([0.5], 3) == [0.5]
    seat.clock[0] += PERIOD
    assert seat.command([0.75], 4) == [0.508]  # at 2 per s
    assert seat.behind
    assert (seat.memory[Word.COMMANDS], seat.memory[Word.IO_BEAT]) == (4, S + PERIOD)
    assert (seat.memory[Word.AT_REST], seat.memory[Word.IO_REASON]) == (0, Reason.OPERATION)
    facts = SimpleNamespace(
        number=7, valid=1, status=5, device_time=2.5, lost=1, late=2, repeated=3, malformed=4,
        restarts=6, shaped=0, received_ns=seat.clock[0],
    )  # fmt: skip
    seat.clock[0] += MS
    seat.saw(facts, [0.25])
    _, (time_ns,), (row,) = seat.memory.since(0)
    found = dict(zip(ROBOT.columns, row.tolist(), strict=True))
    assert (time_ns, facts.shaped) == (S + PERIOD + MS, 1)
    heads = {name: found[name] for name in ("number", "valid", "status", "device_time", "lost")}
    assert heads == {"number": 7, "valid": 1, "status": 5, "device_time": 2.5, "lost": 1}
    assert [found[each] for each in ("late", "repeated", "malformed", "restarts")] == [2, 3, 4, 6]
    assert found["command_age"] == found["sample_age"] == pytest.approx(0.001)
    assert found["command_number"] == 4
    assert (found["x"], found["asked.dx"], found["sent.dx"]) == (0.25, 0.75, 0.508)
    assert (found["state"], found["reason"]) == (State.ACTIVE, Reason.OPERATION)


@pytest.mark.parametrize("state", State, ids=lambda state: state.name)
def test_in_each_state_it_is_trusted_stopping_or_neither(seat, state):
    seat.memory[Word.STATE] = state
    assert seat.trusted is (state in (State.BLEND, State.ACTIVE))
    assert seat.stopping is (state in (State.FALLBACK, State.QUICKSTOP))
    seat.strike(Reason.DEVICE_RESTARTED)
    assert not seat.trusted
    assert seat.stopping
    assert seat.memory[Word.IO_REASON] == Reason.DEVICE_RESTARTED
    assert seat.memory[Word.IO_FOUND] == S


@pytest.mark.parametrize(("regularly", "word"), [(True, 1), (False, 2)])
def test_a_run_that_is_killed_is_told_from_one_that_ended(seat, regularly, word):
    assert seat.memory[Word.RUN_GONE] == 0
    seat.run_ended(regularly=regularly)
    assert seat.memory[Word.RUN_GONE] == word
    seat.run_ended(regularly=not regularly)
    assert seat.memory[Word.RUN_GONE] == word  # what was said first


def test_after_the_run_it_stays_until_its_command_stands_or_for_3_s(seat):
    seat.command([0.5], 1)
    assert not seat.is_over
    seat.run_ended(regularly=True)
    seat.clock[0] += 3 * S
    assert not seat.is_over
    seat.clock[0] += 1
    assert seat.is_over


def test_the_run_is_released_by_the_supervisor_or_when_that_is_lost_and_it_stands(seat):
    block = Block(5)
    seat.command([0.5], 5)
    seat.watch(block, 0)
    assert (seat.released, block.lost) == (Reason.OPERATION, "")
    seat.memory[Word.RELEASED], seat.memory[Word.REASON] = 1, Reason.FORCE
    seat.watch(block, 0)
    assert seat.released is Reason.FORCE
    assert block.lost.startswith("the supervisor brought the rig to rest: ")
    assert Reason.FORCE.text in block.lost
    block.lost = "earlier"
    seat.watch(block, 0)
    assert block.lost == "earlier"
    seat.memory[Word.RELEASED] = 0
    seat.clock[0] = S + 200 * MS  # its heartbeat, and not beyond it
    seat.watch(Block(6), 0)
    assert seat.released is Reason.OPERATION
    seat.clock[0] += 1
    for number in range(7, 60):
        seat.look(number)
        seat.command([0.5], number)
        seat.clock[0] += PERIOD
    assert seat.released is Reason.SUPERVISOR_LOST


@pytest.mark.parametrize(
    ("reason", "at_rest", "released"),
    [
        (Reason.SUPERVISOR_LOST, True, Reason.SUPERVISOR_LOST),
        (Reason.SUPERVISOR_LOST, False, Reason.OPERATION),
        (Reason.VELOCITY, True, Reason.OPERATION),
    ],
)
def test_a_run_goes_on_until_a_device_alone_has_come_to_rest(seat, reason, at_rest, released):
    seat._gate = SimpleNamespace(reason=reason, at_rest=at_rest)
    assert seat.released is released


@pytest.mark.parametrize("late_ns", [0, 1])
def test_a_device_that_stands_without_commands_gets_signs_of_life_for_3_s(seat, late_ns):
    block = Block(5)
    seat.memory[Word.STATE] = State.SAFE
    seat.watch(block, 0)
    seat.clock[0] += 3 * S + late_ns
    seat.memory[Word.BEAT] = seat.clock[0]
    if late_ns:
        with pytest.raises(DeviceError, match="sent no new command for 3 s"):
            seat.watch(block, 0)
    else:
        seat.watch(block, 0)
    seat.memory[Word.BEAT] = seat.clock[0]
    seat.watch(Block(6), 0)  # a new one


@pytest.mark.parametrize("number", [0, 1])
def test_before_the_first_step_a_device_that_is_watched_waits_for_ever(seat, number):
    seat.memory[Word.STATE] = State.SHADOW
    for _ in range(3):
        seat.clock[0] += 60 * S
        seat.memory[Word.BEAT] = seat.clock[0]
        seat.watch(Block(number), 0)


@pytest.mark.parametrize("lost", [False, True])
def test_it_writes_what_a_supervisor_that_is_lost_cannot(seat, tmp_path, lost):
    if lost:
        seat.strike(Reason.SUPERVISOR_LOST)
    seat.leave()
    assert seat.told[-1] == "closed"
    assert [path.name for path in tmp_path.iterdir()] == ["supervisor_lost.robot.csv"] * lost


def test_who_is_not_taken_says_why(monkeypatch):
    channel = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(supervision, "connect_to", lambda rig: channel)
    monkeypatch.setattr(supervision, "tell", lambda *_: None)
    monkeypatch.setattr(supervision, "hear", lambda _: ({"refused": "no seat"}, None))
    with pytest.raises(DeviceError, match="the supervisor refuses it: no seat"):
        Seat("rig", ROBOT)

    def silent(_):
        raise TimeoutError

    monkeypatch.setattr(supervision, "hear", silent)
    with pytest.raises(DeviceError, match="the supervisor of rig 'rig' did not answer"):
        Seat("rig", ROBOT)


def test_a_supervisor_is_told_the_ranges_and_speeds_of_a_device():
    port = DeviceConnector("u", "m", minimum=-0.5, maximum=0.75, speed=0.25, start=0.125)
    free = DeviceConnector("y", "m")
    facts = SimpleNamespace(
        ports=DeviceConnectors((port,), (free,), 250.0), kind=SimpleNamespace(answers=True)
    )
    device = supervision.watched_facts("robot", facts, 3, 4)
    assert device.commands == (RingSignal("u", "m", 0.125, -0.5, 0.75, 0.25),)
    assert device.measured[0].speed is None
    assert (device.period_ns, device.pid, device.engine, device.answers) == (4 * MS, 3, 4, True)
    assert supervision.watched_facts("robot", facts).pid == 0
