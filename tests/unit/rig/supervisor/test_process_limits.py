"""Every limit of a supervisor's process, just inside and just outside, in synthetic time."""

import math
import os
from types import SimpleNamespace

import pytest

from orchestrator import DeviceError, Reason
from orchestrator.rig.supervisor import process as module
from orchestrator.rig.supervisor import rig_tracking
from orchestrator.rig.supervisor.machine import CHANGES_NAME, Change, FoundCause
from orchestrator.rig.supervisor.process import SupervisorProcess, take_priority
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.states import Event, State
from orchestrator.rig.supervisor.watch_memory import JoiningDevice, RingSignal
from orchestrator.rig.supervisor.wire import connect_to, hear, take_rig, tell

FAULT = FoundCause(Reason.VELOCITY, "robot.dx", 1)
ROBOT = JoiningDevice("robot", (RingSignal("x", "m"),), (RingSignal("dx", "m"),), 4_000_000, 11, 10)
LIMITS = {"velocity": 0.5, "deceleration": 2.0, "stop_jerk": 100.0}


def below(value):
    return math.nextafter(value, 0.0)


def change(fault=None):
    return Change(1, State.ACTIVE, State.FALLBACK, Event.FAULT, fault)


class Supervisor:
    """What the process asks of the rig, as a test sets it."""

    def __init__(self, *_):
        self.machine = SimpleNamespace(
            state=State.ACTIVE, changes=[], latched=[], alarms=[], follows=True
        )
        self.tracking = SimpleNamespace(responses={"robot.x": "known"})
        watch = SimpleNamespace(facts=SimpleNamespace(columns=()), memory=None)
        self.watches = {"robot": watch}
        self.is_over = self.run_may_begin = self.run_is_released = False
        self.said, self.looks = [], 0

    def look(self, _now_ns):
        self.looks += 1

    def __getattr__(self, name):
        return lambda *_: self.said.append(name)


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Make a process of a rig whose clock is ``clock.now``, and that writes rings into a list."""
    clock = SimpleNamespace(now=16.0)
    clock.monotonic = lambda: clock.now
    clock.monotonic_ns = lambda: round(clock.now * 1e9)
    rings, processes = [], []
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "Supervisor", Supervisor)
    monkeypatch.setattr(module, "track_row", lambda response: [response])
    monkeypatch.setattr(module, "write_ring", lambda path, *_: rings.append(path.name))

    def make(*, tracks=True):
        rig = f"test-process-{os.getpid()}"
        settings = SupervisorSettings(rig=rig, priority=0, commands={"robot.dx": LIMITS})
        if tracks:
            settings = settings.model_copy(update={"tracking": {"robot.x": object()}})
        process = SupervisorProcess(settings, ["robot"], tmp_path, {})
        processes.append(process)
        process.clock, process.rings = clock, rings
        return process

    yield make
    for process in processes:
        process._door.close()
        process._end()


def rows(folder):
    return len((folder / rig_tracking.NAME).read_text().splitlines()) - 1


def test_what_tracking_knows_is_written_ten_times_a_second_while_the_rig_follows(made, tmp_path):
    process = made()
    process._note_tracking()
    for now, written in ((16.0, 1), (below(16.1), 1), (16.1, 2), (16.15, 2), (16.25, 3)):
        process.clock.now = now
        process._note_tracking()
        assert rows(tmp_path) == written
    process.supervisor.machine.follows = False
    process.clock.now = 17.0
    process._note_tracking()
    process.supervisor.machine.follows, process.supervisor.tracking = True, None
    process.clock.now = 18.0
    process._note_tracking()
    assert rows(tmp_path) == 3
    process._end()


def test_a_rig_without_tracking_has_no_file_of_it_and_ends(made, tmp_path):
    process = made(tracks=False)
    process._note_tracking()
    process._end()
    assert not (tmp_path / rig_tracking.NAME).exists()
    assert process._changes._file.closed


def test_the_rings_are_written_a_second_after_a_fault_or_where_the_rig_rests(made, tmp_path):
    process = made()
    machine = process.supervisor.machine
    machine.changes.append(change())
    process._note()
    process.clock.now = 18.0
    process._note()
    assert process.rings == []  # it was no fault
    machine.changes.append(change(FAULT))
    machine.latched.append(FAULT)
    for now in (18.0, below(19.0)):
        process.clock.now = now
        process._note()
        assert process.rings == []
    process.clock.now = 19.0
    process._note()
    assert process.rings == ["1-velocity.robot.csv"]
    for state in (State.SAFE, State.ESTOP):
        machine.changes.append(change(FAULT))
        machine.state = state
        process._note()
    process.clock.now = 30.0
    process._note()
    assert process.rings[1:] == ["2-velocity.robot.csv", "3-velocity.robot.csv"]
    machine.state = State.FALLBACK
    machine.latched.clear()
    machine.changes.append(change(FAULT))
    process._note()
    process._end()  # what is still to be written is, and all files are closed
    assert process.rings[3:] == ["4-fault.robot.csv"]
    assert process._track._file.closed
    assert len((tmp_path / CHANGES_NAME).read_text().splitlines()) == 1 + 5


def test_it_ends_where_all_devices_are_closed_or_15_s_after_the_run(made):
    process = made()
    supervisor = process.supervisor
    for state in State:
        supervisor.machine.state = state
        for is_over in (False, True):
            supervisor.is_over = is_over
            ends = is_over and state in (State.OFF, State.ESTOP)
            assert process._is_over() is ends
    supervisor.machine.state, supervisor.is_over = State.ACTIVE, False
    process._ended_at = 16.0
    for later, ends in ((15.0, False), (15.5, True)):
        process.clock.now = 16.0 + later
        assert process._is_over() is ends


def test_after_its_last_look_it_writes_and_closes(made):
    process = made()
    process.supervisor.machine.state, process.supervisor.is_over = State.OFF, True
    process.serve()
    assert process._changes._file.closed


def test_a_rig_that_is_taken_waits_for_nobody():
    rig = f"test-taken-{os.getpid()}"
    with take_rig(rig) as door, pytest.raises(BlockingIOError):
        door.accept()


def test_a_run_that_waits_is_told_once_it_may_begin_and_its_end_counts_once(made):
    process = made()
    supervisor = process.supervisor
    with connect_to(process._settings.rig) as run:
        process._serve(process._door.fileno())
        (file,) = process._peers
        tell(run, {"hello": "run", "begins": True})
        process._serve(file)
        process._let_begin()
        assert process._peers[file].waits
        supervisor.run_may_begin = True
        process._let_begin()
        process._let_begin()
        told = hear(run)[0]
        assert (told["follows"], told["engaged"], told["released"]) == (True, False, False)
        run.setblocking(False)
        with pytest.raises(BlockingIOError):
            hear(run)
        assert (process._peers[file].is_run, process._peers[file].waits) == (True, False)
        run.setblocking(True)
        for now, released in ((16.0, True), (17.0, False)):
            process.clock.now, supervisor.run_is_released = now, released
            tell(run, {"hello": "run", "ended": True})
            process._serve(file)
            assert hear(run)[0]["released"] is released
            assert process._ended_at == 16.0
        assert (supervisor.said, supervisor.looks) == (["run_ended", "run_ended"], 2)
        assert not process._peers[file].is_run
    process._serve(file)
    assert process._peers == {}
    assert supervisor.said == ["run_ended", "run_ended"]  # it ended, and was not lost


@pytest.mark.parametrize("is_run", [True, False])
def test_a_run_whose_connection_breaks_is_lost(made, is_run):
    process = made()
    with connect_to(process._settings.rig) as other:
        process._serve(process._door.fileno())
        (file,) = process._peers
        tell(other, {"hello": "run"} if is_run else {"hello": "operator", "wish": "attend"})
        process._peers[file].is_run = is_run
        process._peers[file].operator = "" if is_run else "pts/1"
    process._lose(process._peers[file])
    assert process.supervisor.said == ["run_lost" if is_run else "operator_lost"]
    assert process._ended_at == (16.0 if is_run else None)


@pytest.mark.parametrize(("own", "told"), [(0, 0), (1, 0), (3, 2)])
def test_a_device_hears_how_long_its_ring_is_and_a_lower_priority(made, monkeypatch, own, told):
    """A ring of 2 s has room for 1.5 rows of each 4 ms; the supervisor interrupts its devices."""
    process = made()
    process._settings = process._settings.model_copy(update={"priority": own, "ring": "2 s"})
    monkeypatch.setattr(Supervisor, "join", lambda *_: [], raising=False)
    answers = []
    monkeypatch.setattr(module, "tell", lambda _channel, message, _memory: answers.append(message))
    process._join(SimpleNamespace(channel=None, device=""), {"hello": "device", **ROBOT.as_json()})
    (answer,) = answers
    assert (answer["rows"], answer["priority"]) == (64 + 750, told)


def test_a_priority_is_asked_for_where_one_is_set(monkeypatch, wording):
    asked = []

    def refuse(priority):
        asked.append(priority)
        raise PermissionError

    settings = SupervisorSettings(rig="r", priority=0)
    monkeypatch.setattr(module.operating_system, "take_priority", refuse)
    assert take_priority(settings) == ""
    assert asked == []
    wanted = settings.model_copy(update={"priority": 3})
    assert "was not granted its priority 3 of SCHED_FIFO" in take_priority(wanted)
    with wording.raises(DeviceError):
        take_priority(wanted.model_copy(update={"require_priority": True}))
    monkeypatch.setattr(module.operating_system, "take_priority", asked.append)
    assert take_priority(wanted) == ""
    assert asked == [3, 3, 3]
