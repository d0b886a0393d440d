"""What emulators have in common: faults that repeat, and exact dynamics."""

import math
import subprocess
import sys
from argparse import ArgumentTypeError
from importlib import import_module

import numpy as np
import pytest
from scipy.signal import StateSpace, lsim

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faults import Faults, read_faults
from hw_adapters.emulation.faulty_sender import FaultySender, sender_of
from hw_adapters.emulation.options import address, not_negative, positive
from hw_adapters.emulation.program import option_parser
from hw_adapters.emulation.tracking import Tracking
from hw_adapters.kuka_rsi import emulator as kuka_rsi
from hw_adapters.ur_rtde import emulator as ur_rtde
from orchestrator.core.diagnostics import DescriptionError

MS = 1_000_000


class Clock:
    """Stands in for the machine's: it goes when it is told to."""

    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now


def sent(faults, count=200, seed=0):
    sender, passed = FaultySender(read_faults(faults), seed, EventLog(None, ()), Clock()), []
    for n in range(count):
        sender.send(passed.append, b"datagram %04d" % n)
    return passed


def numbers(datagrams):
    return [int(d[9:]) for d in datagrams]


def test_without_faults_all_passes_as_it_is():
    assert numbers(sent([])) == list(range(200))


@pytest.mark.parametrize("fault", ["drop:0.3", "duplicate:0.3", "reorder:0.3", "malformed:0.3"])
def test_a_seed_repeats_the_faults_and_another_does_not(fault):
    assert sent([fault], seed=3) == sent([fault], seed=3) != sent([fault], seed=4)


def test_shares_are_those_that_were_asked_for():
    lost = 2000 - len(sent(["drop:0.3"], 2000))
    assert lost == pytest.approx(600, abs=4 * (2000 * 0.3 * 0.7) ** 0.5)
    assert len(sent(["duplicate:1"], 50)) == 100
    assert sent(["drop:1"], 50) == []
    assert all(len(d) < len(b"datagram 0000") for d in sent(["malformed:1"], 50))


def test_what_is_overtaken_comes_after_the_next_and_nothing_is_lost():
    found = numbers(sent(["reorder:0.4"], 300))
    assert found != sorted(found)
    assert max(abs(n - i) for i, n in enumerate(found)) == 1
    assert len(set(found)) >= 299  # the last one may still be held


def test_late_datagrams_leave_when_they_are_due():
    clock, passed = Clock(), []
    sender = FaultySender(Faults(late_ms=5.0), 0, EventLog(None, ()), clock)
    sender.send(passed.append, b"a")
    sender.flush()
    assert passed == []
    assert sender.due == pytest.approx(50.005)
    clock.now += 0.006
    sender.flush()
    assert (passed, sender.due) == ([b"a"], None)


@pytest.mark.parametrize(
    ("fault", "first"),
    [
        ("restart-after:1", 0.0),
        ("restart-on:1", 500.0),
        ("restart-ahead:1", 40_500.0),
        ("restart-back:1", 0.0),
    ],
)
def test_a_count_begins_again_goes_on_jumps_or_goes_back_at_a_restart(fault, first):
    clock = Clock()
    sender = FaultySender(read_faults([fault]), 0, EventLog(None, ()), clock)
    assert not sender.restarts()
    clock.now += 1.0
    assert sender.restarts()
    assert sender.count_after_restart(500.0, 0.0, 1000.0) == first


def test_before_a_restart_a_device_may_be_silent():
    clock, passed = Clock(), []
    faults = read_faults(["restart-on:1", "restart-pause:0.5"])
    sender = FaultySender(faults, 0, EventLog(None, ()), clock)
    for seconds, silent in ((0.9, False), (1.1, True), (1.4, True), (1.6, False)):
        clock.now = 50.0 + seconds
        assert (sender.dead, sender.restarts()) == (silent, seconds > 1.5)
        sender.send(passed.append, b"a")
    assert len(passed) == 2


def test_what_has_no_count_cannot_go_on_with_it():
    completed = subprocess.run(
        [sys.executable, "-m", "hw_adapters.pi_gcs.emulator", "--fault", "restart-on:1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode
    assert "no fault restart-on: it has no count that could go on" in completed.stderr


def test_a_dead_device_sends_nothing_and_a_restart_happens_once():
    clock, passed = Clock(), []
    faults = read_faults(["dead-after:2", "restart-after:1"])
    sender = FaultySender(faults, 0, EventLog(None, ()), clock)
    assert (sender.restarts(), sender.dead) == (False, False)
    clock.now += 1.5
    assert (sender.restarts(), sender.restarts()) == (True, False)
    clock.now += 1.0
    sender.send(passed.append, b"a")
    assert (sender.dead, passed) == (True, [])


@pytest.mark.parametrize("lag", [(None, None), (15.0, None), (15.0, 0.7)])
def test_a_device_that_is_restarted_stands_where_it_was(lag):
    axis = Tracking(1, 2 * MS, *lag)
    axis.command(0, np.array([1.0]))
    axis.advance(12 * MS)
    axis.command(12 * MS, np.array([2.0]))
    place = axis.position
    axis.stand()
    axis.advance(500 * MS)
    assert axis.position == pytest.approx(place, rel=1e-14)
    axis.command(500 * MS, np.array([2.0]))
    axis.advance(2500 * MS)
    assert axis.position == pytest.approx([2.0])


WANTED = np.arange(6.0)


def made(emulator, arguments, monkeypatch):
    """Return what an emulator's program serves, without its loop."""
    found = []
    monkeypatch.setattr(emulator, "emulate", lambda kind, options, _: found.append((kind, options)))
    emulator.main(arguments)
    ((kind, options),) = found
    return kind(options, EventLog(None, ()))


def test_a_robot_of_rtde_that_is_restarted_stands_where_it_was(monkeypatch):
    server = made(ur_rtde, [], monkeypatch)
    server._robot._tracking.command(0, WANTED)
    server._cycle()
    for _ in range(20):
        server._cycle()
    before = server._robot.position
    server._sender.strike(Faults(restart_after_s=0.0))
    server._cycle()
    server.close()
    assert server._robot.position == pytest.approx(before)
    assert before - server._setup.start == pytest.approx(WANTED)


def test_a_robot_of_rsi_that_is_restarted_stands_where_it_was(monkeypatch):
    device = made(kuka_rsi, ["--peer", "127.0.0.1:9"], monkeypatch)
    cells = " ".join(f'{name}="{value}"' for name, value in zip("XYZABC", WANTED, strict=True))
    for _ in range(20):
        answer = f'<Sen Type="t"><RKorr {cells}/><IPOC>{device._controller.ipoc}</IPOC></Sen>'
        assert device._controller.take(answer.encode()) == "answer"
        device._end_cycle()
    before = device._controller.pose
    device._sender.strike(Faults(restart_after_s=0.0))
    device._end_cycle()
    device.close()
    assert device._controller.pose == pytest.approx(before)
    assert before - device._setup.start == pytest.approx(WANTED)
    assert f'X="{before[0]:.4f}"' in device._frame().decode()


def test_faults_that_are_not_known_are_told_together():
    with pytest.raises(DescriptionError) as error:
        read_faults(["drop:2", "rorder:0.1", "late", "wrong-status:1", "dead-after:-1,drop:0.1"])
    texts = error.value.problems
    assert len(texts) == 5
    assert "fault 'drop:2': expected a share from 0 to 1" in texts[0]
    assert "Did you mean 'reorder'" in texts[1]
    assert read_faults(["drop:0.1,late:3", "wrong-status"]) == Faults(
        drop=0.1, late_ms=3.0, wrong_status=True
    )


@pytest.mark.parametrize("text", ["nowhere", ":80", "host:0", "host:65536", "host:x"])
def test_addresses_that_are_none_are_refused(text):
    with pytest.raises(Exception, match="expected HOST:PORT"):
        address(text)
    assert address("10.0.0.1:80") == ("10.0.0.1", 80)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "x"])
def test_numbers_that_are_not_positive_are_refused(text):
    with pytest.raises(Exception, match="expected a number > 0"):
        positive(text)


@pytest.mark.parametrize("name", ["dcp", "kuka_rsi", "shm", "udp", "ur_rtde"])
def test_a_delay_below_zero_is_refused(name, capsys):
    needed = {"shm": ["--name", "x"], "udp": ["--peer", "h:1"], "kuka_rsi": ["--peer", "h:1"]}
    main = import_module(f"hw_adapters.{name}.emulator").main
    with pytest.raises(SystemExit, match="2"):
        main([*needed.get(name, []), "--delay", "-0.1"])
    assert "--delay: expected a number >= 0, found '-0.1'" in capsys.readouterr().err


def test_a_delay_of_zero_is_one():
    assert not_negative("0") == 0.0
    for text in ("nan", "inf", "x"):
        with pytest.raises(ArgumentTypeError, match="expected a number >= 0"):
            not_negative(text)


@pytest.mark.parametrize(
    ("bandwidth", "damping", "system"),
    [
        (5.0, None, lambda w: StateSpace([[-w]], [[w]], [[1.0]], [[0.0]])),
        (
            5.0,
            0.7,
            lambda w: StateSpace(
                [[0.0, 1.0], [-w * w, -1.4 * w]], [[0.0], [w * w]], [[1.0, 0.0]], [[0.0]]
            ),
        ),
    ],
)
def test_positions_are_those_of_the_delayed_lag(bandwidth, damping, system):
    """Commands each 4 ms, a delay of 17.3 ms, against SciPy on a grid of 0.1 ms."""
    draws = np.random.default_rng(1).normal(size=40)
    axis, positions, rates = Tracking(1, 17_300_000, bandwidth, damping), [], []
    for n in range(400):
        if n % 4 == 0 and n // 4 < len(draws):
            axis.command(n * MS, np.array([draws[n // 4]]))
        axis.advance(n * MS)
        positions.append(axis.position[0])
        rates.append(axis.velocity[0])
    grid = np.arange(4000) * 1e-4
    at = np.floor((grid * 1e4 - 173 + 1e-6) / 40).astype(int)
    wanted = np.where(at < 0, 0.0, draws[np.clip(at, 0, len(draws) - 1)])
    _, expected, _ = lsim(system(2 * np.pi * bandwidth), wanted, grid, interp=False)
    assert positions == pytest.approx(expected[::10], abs=1e-9)
    slope = np.gradient(expected, 1e-4)[::10]
    smooth = np.abs(np.diff(wanted, prepend=0.0))[::10] == 0.0
    if damping is not None:
        assert np.asarray(rates)[smooth] == pytest.approx(slope[smooth], abs=0.5)


def test_without_a_lag_the_position_is_the_delayed_command():
    axis = Tracking(2, 3 * MS)
    axis.command(0, np.array([1.0, -2.0]))
    axis.advance(3 * MS - 1)
    assert axis.position.tolist() == [0.0, 0.0]
    axis.advance(3 * MS)
    assert axis.position.tolist() == [1.0, -2.0]
    assert axis.velocity.tolist() == [0.0, 0.0]


def test_a_burst_holds_datagrams_back_and_sends_them_in_order() -> None:
    sender, passed = FaultySender(read_faults(["burst:3"]), 0, EventLog(None, ())), []
    for number in range(7):
        sender.send(passed.append, bytes([number]))
        assert len(passed) == (number + 1) // 3 * 3
    assert passed == [bytes([number]) for number in range(6)]


def test_values_freeze_saturate_or_are_no_numbers() -> None:
    def said(fault: str) -> list[list[float]]:
        sender = FaultySender(read_faults([fault]), 0, EventLog(None, ()))
        return [sender.values((x, -x), 50.0) for x in (1.0, 2.0)]

    assert said("freeze") == [[1.0, -1.0], [1.0, -1.0]]
    assert said("saturated") == [[50.0, -50.0], [50.0, -50.0]]
    assert all(math.isnan(x) for values in said("nan") for x in values)


def test_a_value_drifts_from_the_moment_of_the_fault_on() -> None:
    clock = Clock()
    sender = FaultySender(Faults(), 0, EventLog(None, ()), clock)
    clock.now += 5.0
    sender.strike(read_faults(["drift:-0.5"]))
    assert sender.values((1.0, 2.0), 50.0) == [1.0, 2.0]
    clock.now += 4.0
    assert sender.values((1.0, 2.0), 50.0) == [-1.0, 2.0]
    assert sender.values((1.0, 2.0), 50.0, drifting=1, scale=1000.0) == [1.0, -1998.0]


@pytest.mark.parametrize("text", ["drift", "drift:0", "drift:nan", "drift:inf", "drift:fast"])
def test_a_drift_needs_a_rate(text, wording):
    with wording.raises(DescriptionError):
        read_faults([text])


def test_other_faults_strike_later_and_count_from_then() -> None:
    clock = Clock()
    sender = FaultySender(Faults(), 0, EventLog(None, ()), clock)
    clock.now += 5.0
    sender.strike(read_faults(["dead-after:1", "wrong-status", "clock-jump:2"]))
    assert (sender.dead, sender.wrong_status, sender.clock_jump_s) == (False, True, 2.0)
    clock.now += 1.0
    assert sender.dead


def test_what_follows_slower_does_so_for_commands_from_then_on():
    axis = Tracking(1, 8 * MS)
    for at, slower in ((0, 0), (4, 6 * MS)):
        axis.slower_ns = slower
        axis.command(at * MS, np.array([1.0 + at]))
    found = []
    for at in (7, 8, 17, 18):
        axis.advance(at * MS)
        found.append(axis.position[0])
    assert found == [0.0, 1.0, 1.0, 5.0]
    assert FaultySender(read_faults(["slower:6"]), 0, EventLog(None, ()), Clock()).slower_ms == 6.0


@pytest.mark.parametrize("given", [["--fault", "slower:8"], ["--strike-after", "3"]])
def test_an_emulator_that_follows_nothing_refuses_to_do_so_slower(given, wording):
    options = option_parser("udp", "").parse_args(given)
    with wording.raises(DescriptionError):
        sender_of(options, EventLog(None, ()))


def test_a_count_that_runs_over_begins_so_long_before_that():
    def first(*faults):
        return FaultySender(read_faults(faults), 0, EventLog(None, ()), Clock()).first(
            7, 2**32, 500
        )

    assert first() == 7
    assert first("wrap-after:2") == 2**32 - 1000
    assert first("wrap-after:0") == 0


@pytest.mark.parametrize(
    ("option", "wraps"),
    [
        ("--fault", False),
        ("--on-signal", True),
    ],
)
def test_what_cannot_run_over_or_only_later_is_refused(option, wraps, wording):
    options = option_parser("udp", "").parse_args([option, "wrap-after:2"])
    with wording.raises(DescriptionError):
        sender_of(options, EventLog(None, ()), wraps=wraps)


WAITS = """
import os, signal, time
from hw_adapters.emulation.program import Waiting
with Waiting() as waiting:
    signal.signal(signal.SIGUSR1, lambda *_: None)
    os.kill(os.getpid(), signal.SIGUSR1)
    end, count = time.monotonic() + 0.2, 0
    while time.monotonic() < end:
        waiting.wait([], end)
        count += 1
print(count)
"""


def test_after_a_signal_it_waits_as_before() -> None:
    """Else an emulator takes a whole processor, which of real time lets go of nothing else."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", WAITS], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) <= 4
