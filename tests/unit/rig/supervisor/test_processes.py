"""The supervisor as a process, and a device's process at its seat: no threshold on latencies."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import pytest

from orchestrator import DeviceError, NeverEngagedError, Reason
from orchestrator.rig.device_units.supervision import Seat
from orchestrator.rig.runs.supervision import SupervisorClient
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.watch_memory import JoiningDevice, RingSignal
from orchestrator.rig.supervisor.wire import Operator, take_rig

PERIOD = 0.004
PATIENCE = 60.0  # s; a busy machine
FACTS = JoiningDevice(
    "robot",
    (RingSignal("x", "m"),),
    (RingSignal("dx", "m", 0.0, -1.0, 1.0),),
    4_000_000,
    os.getpid(),
    1,
)


def settings(rig, **changes):
    limits = {"velocity": 0.5, "deceleration": 2.0, "stop_jerk": 100.0}
    given = {
        "heartbeat": "2 s",
        "command_stale": "30 s",
        "commands": {"robot.dx": limits},
        "devices": {"robot": {"stale": "30 s"}},
    }
    return SupervisorSettings(rig=rig, priority=0, blend="10 ms", **(given | changes))


class Loop:
    """A device's process, in this one: it is asked for a command in each cycle."""

    def __init__(self, seat):
        self.seat, self.number, self.wanted, self.sent = seat, 1, 0.0, [0.0]

    def until(self, reached, velocity=0.05, stopped=False):
        end = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < end, "it does not come"
            if not stopped:
                self.number, self.wanted = self.number + 1, self.sent[-1] + velocity * PERIOD
            self.sent += self.seat.command([self.wanted], self.number)
            facts = SimpleNamespace(
                number=len(self.sent),
                valid=1,
                status=0,
                device_time=time.monotonic(),
                lost=0,
                late=0,
                repeated=0,
                malformed=0,
                restarts=0,
                received_ns=time.monotonic_ns(),
            )
            self.seat.saw(facts, [self.sent[-1]])
            time.sleep(PERIOD)
        return np.diff(self.sent) / PERIOD


@contextmanager
def supervised(rig, folder, **changes):
    with SupervisorClient(settings(rig, **changes), ["robot"], folder) as client:
        yield Loop(Seat(rig, FACTS)), client


@pytest.mark.slow
def test_an_operator_arms_stops_and_resets_and_a_second_supervisor_is_refused(tmp_path):
    rig = f"test-{os.getpid()}"
    with supervised(rig, tmp_path) as (loop, _), Operator(rig) as operator:
        loop.until(lambda: operator.wish("status")["state"] == "SHADOW")
        assert loop.sent[-1] == 0.0
        with pytest.raises(DeviceError, match=r"has a supervisor already, process \d+"):
            take_rig(rig)
        assert "arm the rig first" in operator.wish("engage")["refused"]
        pages = operator.wish("arm", page="page 1", pages=["page 1", "page 2"])["pages"]
        assert [page["refusals"]["engage"] == "" for page in pages.values()] == [True, False]
        assert "page 1 armed the rig" in operator.wish("engage", page="page 2")["refused"]
        assert "refused" not in operator.wish("arm")
        assert operator.wish("engage")["state"] == "BLEND"
        loop.until(lambda: loop.seat.trusted and loop.sent[-1] > 0.01)
        operator.wish("stop")
        velocities = loop.until(lambda: operator.wish("status")["state"] == "SAFE")
        # In each cycle by at most a deceleration of 2 m/s2.
        assert np.abs(np.diff(velocities[-40:])).max() <= 2.0 * PERIOD * (1 + 1e-6)
        assert loop.seat.released is Reason.OPERATOR_STOP
        rest = loop.sent[-1]
        assert operator.wish("reset")["state"] == "SHADOW"
        loop.seat.run_ended(regularly=True)
        loop.until(lambda: operator.wish("status")["state"] == "OFF")
        loop.seat.leave()
    (ring,) = tmp_path.glob("*.robot.csv")  # of the stop, down to rest
    assert ring.name == "1-operator_stop.robot.csv"
    rows = np.genfromtxt(ring, delimiter=",", names=True)
    assert rows["sentdx"][-1] == pytest.approx(rest, abs=1e-5)
    assert "ACTIVE,fault,FALLBACK,operator_stop,operator" in (tmp_path / "changes.csv").read_text()
    with pytest.raises(DeviceError, match=f"rig '{rig}' has no supervisor"):
        Operator(rig)


@pytest.mark.slow
@pytest.mark.parametrize("after_fault", ["stop", "continue"])
def test_the_run_learns_which_limit_stopped_its_rig(tmp_path, after_fault):
    rig = f"test-limit-{os.getpid()}"
    signals = {"robot.x": {"maximum": 0.01}}
    given = {"arm": "automatic", "signals": signals, "after_fault": after_fault}
    with supervised(rig, tmp_path, **given) as (loop, run), Operator(rig) as operator:
        loop.until(lambda: operator.wish("status")["state"] == "SAFE")
        assert loop.seat.released is (
            Reason.WORKSPACE if after_fault == "stop" else Reason.OPERATION
        )
        stop = run.end()
        loop.seat.run_ended(regularly=True)
        loop.seat.leave()
    cause = r"robot\.x: the device is beyond its workspace \(position 0\.01\d* m, limit 0\.01 m\)"
    assert re.fullmatch(cause, run.faults[0])
    assert run.advice == Reason.WORKSPACE.advice
    if after_fault == "continue":
        assert stop is None
        assert run.remarks == [f"the supervisor brought the rig to rest: {run.faults[0]}"]
    else:
        assert (stop.by, stop.reason, stop.is_whole) == ("supervisor", run.faults[0], True)
        assert run.remarks == []


@pytest.mark.slow
@pytest.mark.parametrize("after_fault", ["stop", "continue"])
def test_a_run_that_is_stopped_ends_by_what_its_rig_does_after_a_fault(tmp_path, after_fault):
    """However long it was stopped: the rig is at rest when it goes on."""
    rig = f"test-stopped-{os.getpid()}"
    given = {"arm": "automatic", "after_fault": after_fault, "command_stale": "0.2 s"}
    with supervised(rig, tmp_path, **given) as (loop, run), Operator(rig) as operator:
        loop.until(lambda: operator.wish("status")["state"] == "ACTIVE")
        loop.until(lambda: operator.wish("status")["state"] == "SAFE", stopped=True)
        loop.until(lambda: loop.sent[-1] == loop.sent[-2])  # it goes on, and nothing moves
        assert operator.wish("status")["state"] == "SAFE"
        stop = run.end()
        loop.seat.run_ended(regularly=True)
        loop.seat.leave()
    (cause,) = run.faults
    assert cause.startswith(f"robot: {Reason.COMMAND_STALE.text}")
    if after_fault == "continue":
        assert stop is None
        assert run.remarks == [f"the supervisor brought the rig to rest: {cause}"]
    else:
        assert (stop.by, stop.reason, stop.is_whole) == ("supervisor", cause, True)


@pytest.mark.slow
def test_a_killed_supervisor_leaves_a_device_that_comes_to_rest_and_what_was_seen(tmp_path):
    rig = f"test-killed-{os.getpid()}"
    with supervised(rig, tmp_path, arm="automatic") as (loop, run), Operator(rig) as operator:
        loop.until(lambda: loop.seat.trusted and loop.sent[-1] > 0.005)
        os.kill(operator.wish("status")["pid"], signal.SIGKILL)
        velocities = loop.until(lambda: loop.seat.released)
        assert loop.seat.released is Reason.SUPERVISOR_LOST
        assert np.abs(np.diff(velocities[-40:])).max() <= 2.0 * PERIOD * (1 + 1e-6)
        assert abs(velocities[-1]) <= 100.0 * PERIOD**2  # its last cycle, at the jerk
        stop = run.end()
        assert (stop.by, stop.reason) == ("supervisor", Reason.SUPERVISOR_LOST.text)
        assert (run.faults, run.advice) == ([stop.reason], Reason.SUPERVISOR_LOST.advice)
        loop.seat.leave()
    values = np.genfromtxt(tmp_path / "supervisor_lost.robot.csv", delimiter=",", names=True)
    assert values["sentdx"][-1] == pytest.approx(loop.sent[-1], abs=1e-15)


class Terminal:
    """The console of an operator in a session of its own, on a pseudo terminal."""

    def __init__(self, rig):
        self._mine, self.theirs = pty.openpty()
        os.set_blocking(self._mine, False)
        self._seen = ""
        self.process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "orchestrator", "supervisor", "attend", rig],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            start_new_session=True,
        )
        self.name = f"session {self.process.pid}"

    def said(self, text):
        """Whether it showed a text since it was last asked for one that it had shown."""
        with suppress(BlockingIOError):
            self._seen += os.read(self._mine, 1 << 16).decode()
        _, found, rest = self._seen.partition(text)
        self._seen = rest if found else self._seen
        return bool(found)

    def press(self, key):
        os.write(self._mine, key.encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._mine)
        os.close(self.theirs)


@pytest.fixture
def terminal():
    made = []

    def make(rig):
        made.append(Terminal(rig))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Waiting(threading.Thread):
    """A run before its first step, and how its wait ended."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.error = client, None
        self.start()

    def run(self):
        try:
            self.client.begin()
        except NeverEngagedError as error:
            self.error = str(error)


@pytest.mark.slow
def test_an_operator_with_keys_engages_a_run_that_waits_and_a_second_one_is_told(
    tmp_path, terminal
):
    rig = f"test-keys-{os.getpid()}"
    with supervised(rig, tmp_path) as (loop, client), Operator(rig) as operator:
        run, console = Waiting(client), terminal(rig)
        loop.until(lambda: console.said("the rig is in SHADOW"))
        mine = operator.wish("status")["operator"]
        assert operator.wish("status")["attend"] == [console.name]
        console.press("e")
        loop.until(lambda: console.said("'engage' is refused: arm the rig first"))
        console.press("a")
        loop.until(lambda: console.said("you: arm"))
        assert f"{console.name} armed the rig" in operator.wish("engage")["refused"]
        assert run.is_alive()
        console.press("e")
        loop.until(lambda: not run.is_alive())
        loop.until(lambda: console.said("the rig is in ACTIVE"))
        assert run.error is None
        operator.wish("stop")
        loop.until(lambda: console.said(f"latched: operator {mine}: an operator stopped the rig"))
        loop.until(lambda: operator.wish("status")["state"] == "SAFE")
        assert operator.wish("status")["stopped_by"] == f"stop by operator {mine}"
        console.press("r")
        loop.until(lambda: console.said("you: reset"))
        assert operator.wish("status")["stopped_by"] == ""
        console.press("q")
        loop.until(lambda: console.process.poll() is not None)
        assert console.process.returncode == 0
        assert termios.tcgetattr(console.theirs)[3] & termios.ICANON
        loop.seat.run_ended(regularly=True)
        loop.seat.leave()
    assert f"SHADOW,engage,BLEND,,{console.name}" in (tmp_path / "changes.csv").read_text()


@pytest.mark.slow
def test_a_run_that_waits_is_told_that_its_rig_will_not_be_engaged(tmp_path):
    rig = f"test-never-{os.getpid()}"
    with supervised(rig, tmp_path) as (loop, client), Operator(rig) as operator:
        run = Waiting(client)
        loop.until(lambda: operator.wish("status")["state"] == "SHADOW")
        assert run.is_alive()
        operator.wish("quickstop")
        loop.until(lambda: not run.is_alive())
        assert f"rig '{rig}' was never engaged: operator" in run.error
        assert "an operator stopped the rig by a quick stop" in run.error
        loop.seat.run_ended(regularly=True)
        loop.seat.leave()
