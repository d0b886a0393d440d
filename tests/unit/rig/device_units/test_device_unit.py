"""A device in the place of a component: a run against a peer on a loopback socket."""

import math
import os
import signal
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scripted_device import Peer

from orchestrator import (
    Block,
    CapabilityError,
    ConnectorMismatchError,
    DescriptionError,
    DeviceError,
    Execution,
    Input,
    Output,
    Parameter,
    StepError,
    System,
    block,
)
from orchestrator.core.master import recordable
from orchestrator.core.simunits import make_unit
from orchestrator.study.prepare.prepare import swap_component

STEP = 0.01


class Rig(Block):
    """What the device replaces."""

    u: float = Input(unit="m")
    y: float = Output(unit="m", depends_on=("u",))
    k: float = Parameter(start=2.0)

    def step(self, t, h):
        self.y = 1.0 + self.k * self.u


class Ramp(Block):
    """Gives the time as a command, but for what it is told."""

    back: float = Input(unit="m")
    u: float = Output(unit="m", depends_on=())
    wrong_at: float = Parameter(start=math.inf)
    wrong: float = Parameter(start=0.0)

    def step(self, t, h):
        self.u = self.wrong if t + h > self.wrong_at else t + h


def system(**values):
    loop = System("loop").add("ramp", block(Ramp), **values).add("rig", block(Rig), k=3.0)
    return loop.connect("ramp.u", "rig.u").connect("rig.y", "ramp.back")


def with_device(peer, settings="", kind="Scripted", **values):
    source = f"device:scripted_device:{kind}?port={peer.port}{settings}"
    return swap_component(system(**values), "rig", source)


def standing(peer):
    """The same with a command that stands, for a machine that is busy for long."""
    rig = with_device(peer, "&stale_after=30&command_stale_after=30")
    return rig.disconnect("ramp.u", "rig.u").set("rig.u", 0.0)


def step_until(run, holds):
    """Step until something holds, on a machine that may do other things meanwhile."""
    deadline = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)
        run.step()


def test_a_device_stands_in_the_place_of_a_block():
    with Peer() as peer:
        with Execution(with_device(peer), step=STEP, stop=1.0) as run:
            run.step(20)
            peer.wait_for(lambda: 0.2 in [round(c, 9) for c in peer.commands])
            time.sleep(0.02)
            run.step()
            assert run.get("rig.y") == pytest.approx(1.0 + 2.0 * 0.2, abs=0.05)
            assert 0.0 < run.get("rig.sample_age") < 0.1
            assert run.get("rig.valid") == 1.0
            assert "component 'rig' was a device: " in run.notes[-1]
        peer.wait_for(lambda: peer.commands[-1] == 0.0)  # its safe state


def test_commands_flow_only_from_the_end_of_the_initialisation():
    with Peer() as peer:
        with Execution(with_device(peer), step=STEP, stop=1.0) as run:
            peer.wait_for(lambda: peer.commands)
            assert set(peer.commands) == {0.0}  # what the ramp has at the start
            run.step(3)
            peer.wait_for(lambda: 0.03 in [round(c, 9) for c in peer.commands])
        assert peer.commands == [*sorted(peer.commands[:-1]), 0.0]


def test_a_device_that_answers_is_answered_each_time():
    with Peer() as peer, Execution(with_device(peer, kind="Answering"), step=STEP) as run:
        peer.wait_for(lambda: len(peer.commands) > 5)  # the run has not begun to step
        run.step(10)
        peer.wait_for(lambda: 0.1 in [round(c, 9) for c in peer.commands])


def test_a_command_beyond_its_range_can_be_clamped_and_counted():
    with Peer() as peer:
        rig = with_device(peer, "&out_of_range=clamp", wrong_at=0.05, wrong=1e9)
        with Execution(rig, step=STEP) as run:
            run.step(8)
            peer.wait_for(lambda: 10.0 in peer.commands)
            assert run.get("rig.clamped") > 0
            (notice,) = run.notices
            assert "outside their range" in notice.what
            assert notice.component == "rig"
            assert notice.time_ns in (50_000_000, 60_000_000)
        assert max(peer.commands) == 10.0


def test_a_command_beyond_its_range_ends_the_run():
    with Peer() as peer:
        rig = with_device(peer, wrong_at=0.05, wrong=1e9)
        with Execution(rig, step=STEP) as run:
            with pytest.raises(StepError, match=r"command 'u' is 1e\+09, beyond its range of -10"):
                run.step(8)
            assert len(run.recording().time_ns) > 4  # what was recorded is kept
        assert max(peer.commands) < 1.0


def test_a_command_that_is_set_keeps_to_its_range():
    """Two doors: that of the run, and that of the engine behind it."""
    with Peer() as peer:
        with Execution(standing(peer), step=STEP) as run:
            run.step(2)
            guarded = next(unit for unit in run.units if unit.name == "rig")
            for value in (10.0, -10.0):
                run.set("rig.u", value)
                peer.wait_for(lambda value=value: value in peer.commands)
            for value in (10.01, -10.01):
                with pytest.raises(DescriptionError, match="command 'u': expected >= -10 and <= "):
                    run.set("rig.u", value)
                assert guarded.native.give(0, value) > 1
            run.step(2)
        assert (min(peer.commands), max(peer.commands)) == (-10.0, 10.0)


def test_what_is_not_finite_never_goes_to_the_wire():
    """The engine refuses outputs of blocks that are not finite; here nothing stands before it."""
    with Peer() as peer:
        unit = make_unit(with_device(peer).components["rig"])
        unit.bind(["u"], ["y"])
        unit.setup(0, None)
        unit.initialise_outputs(0)
        unit.exit_initialisation()
        with pytest.raises(StepError, match="'u' is not finite"):
            unit.set(np.array([math.nan]))
        unit.terminate()
        assert all(map(math.isfinite, peer.commands))


@pytest.mark.parametrize("policy", ["stop", "hold"])
def test_a_silent_device(policy):
    with Peer() as peer:
        rig = with_device(peer, f"&stale_after=0.5&on_stale={policy}&command_stale_after=30")
        with Execution(rig, step=STEP) as run:
            run.step(3)
            peer.silent.set()
            time.sleep(0.6)
            if policy == "stop":
                with pytest.raises(StepError, match=r"sample is .* s old; expected less than 0\.5"):
                    run.step()
                assert len(run.recording().time_ns) == 4
                return
            before = run.get("rig.y")
            run.step(2)
            assert run.get("rig.valid") == 0.0
            assert run.get("rig.sample_age") > 0.5
            assert run.get("rig.y") == pytest.approx(before, abs=0.1)
            (notice,) = run.notices
            assert str(notice).startswith("warning of component 'rig' at ")
            assert "held in 2 steps" in notice.what
            peer.silent.clear()
            step_until(run, lambda: run.get("rig.valid") == 1.0)


def test_faults_of_the_wire_are_counted():
    with Peer() as peer, Execution(standing(peer), step=STEP) as run:
        run.step(3)
        # The peer sends none before its time: these come after the device was opened.
        first = round((time.monotonic() - peer.born) * 1e3) + 500
        again = cache(lambda: peer.sample(first))
        peer.script = {
            first: (again, again),
            first + 1: (),
            first + 3: (b"of another protocol",),
            first + 5: (lambda: peer.sample(first + 5, valid=False),),
            first + 6: (lambda: peer.sample(first + 6, y=math.nan),),
        }
        # What was malformed never counted as a sample: its number is missing as well.
        expected = {"rig.lost": 3.0, "rig.repeated": 1.0, "rig.malformed": 2.0}
        step_until(run, lambda: all(run.get(name) >= expected[name] for name in expected))
        assert {name: run.get(name) for name in expected} == expected


def test_an_error_says_what_came_instead_of_samples():
    with Peer() as peer:
        rig = with_device(peer, "&stale_after=0.5&command_stale_after=30")
        with Execution(rig, step=STEP) as run:
            run.step(3)
            peer.script = dict.fromkeys(range(100_000), (b"\x00" * 3,))
            told = r"stale_after\): .*; datagrams that were not of its protocol: [1-9]\d*"
            time.sleep(0.6)
            with pytest.raises(StepError, match=told):
                run.step()


def test_another_rate_of_undated_samples_is_told_behind_the_run():
    with Peer() as peer:
        # Of the thousand that it sends, a busy machine lets more than fifty through.
        patient = "&rate=20&stale_after=30&command_stale_after=30"
        rig = with_device(peer, patient, kind="Undated")
        with Execution(rig, step=STEP) as run:
            end = time.monotonic() + 60.0
            while "per second, and it is declared to send 20" not in run.notes[-1]:
                assert time.monotonic() < end, run.notes[-1]
                time.sleep(0.1)
                run.step()


def test_a_device_that_does_not_answer_is_told_before_the_run():
    with Peer() as peer:
        peer.silent.set()
        with pytest.raises(DeviceError, match=r"no sample came within 0\.2 s") as caught:
            Execution(with_device(peer, "&connect_timeout=0.2"), step=STEP)
    assert "component 'rig' (device 'scripted_device:Scripted')" in str(caught.value)


def test_another_rate_is_told_before_the_run():
    with Peer() as peer, pytest.raises(DeviceError, match="sends 1000 samples a second") as caught:
        Execution(with_device(peer, "&rate=250"), step=STEP)
    assert "expected 250" in str(caught.value)


def test_another_protocol_is_told_before_the_run():
    with Peer() as peer:
        peer.script = dict.fromkeys(range(10000), (b"\x00" * 3,))
        with pytest.raises(
            DeviceError, match=r"datagrams of another protocol: .*, the last: expected 21 bytes"
        ):
            Execution(with_device(peer, "&connect_timeout=0.3"), step=STEP)


def test_what_an_adapter_says_arrives_whole():
    with Peer() as peer, pytest.raises(DeviceError) as caught:
        Execution(with_device(peer, "&fails=open"), step=STEP)
    assert str(caught.value) == (
        "component 'rig' (device 'scripted_device:Scripted'):"
        " the rig is locked; release its emergency stop"
    )


def test_a_link_that_breaks_ends_the_run_with_its_reason():
    with Peer() as peer, Execution(with_device(peer, "&fails=later"), step=STEP) as run:
        unit = next(unit for unit in run.units if unit.name == "rig")
        deadline = time.monotonic() + 60.0
        while unit._process.error() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        with pytest.raises(StepError, match="its device was lost: the link broke") as caught:
            run.step()
        assert isinstance(caught.value.__cause__, DeviceError)


def test_a_process_that_is_killed_makes_its_samples_stale():
    with Peer() as peer, Execution(with_device(peer, "&stale_after=0.5"), step=STEP) as run:
        run.step()
        os.kill(next(unit.pid for unit in run.units if unit.name == "rig"), signal.SIGKILL)
        time.sleep(0.6)
        with pytest.raises(StepError, match="stale") as caught:
            run.step()
        assert "its process has ended" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("settings", "error", "why"),
    [
        ("&prot=1", DescriptionError, "unknown key 'prot'. Did you mean 'port'?"),
        ("&stale_after=-1", DescriptionError, "'stale_after': expected a number > 0.0, found -1"),
        ("&unit=s", DescriptionError, "'u' is input Real in s there"),
        ("&port=1", DescriptionError, "setting 'port' is there twice"),
        ("&limit=0", DescriptionError, "'u': expected a range, found -0 to 0"),
        ("&port", DescriptionError, "expected NAME[?]key=value"),
    ],
)
def test_a_contract_that_is_broken_is_told_before_a_socket_is_opened(settings, error, why):
    class Nobody:
        port = 9

    with pytest.raises(error, match=why):
        with_device(Nobody, settings)


def test_frames_must_agree_where_both_sides_say_one():
    whole = system()
    rig = whole.components["rig"]
    framed = {**rig.connectors, "u": replace(rig.connectors["u"], frame="world")}
    whole = replace(whole, components={**whole.components, "rig": replace(rig, connectors=framed)})
    source = "device:scripted_device:Scripted?port=9&frame="
    assert swap_component(whole, "rig", f"{source}world").components["rig"].source.is_measured
    with pytest.raises(ConnectorMismatchError, match="in frame 'tool' there, expected 'world'"):
        swap_component(whole, "rig", f"{source}tool")


@pytest.mark.parametrize("algorithm", ["step-doubling", "embedded"])
def test_algorithms_that_go_back_refuse_it_by_name(algorithm):
    with Peer() as peer, pytest.raises(CapabilityError, match="component 'rig' cannot be asked"):
        Execution(with_device(peer), step=STEP, algorithm=algorithm)


def test_options_that_nothing_would_read_are_refused():
    class Nobody:
        port = 9

    rig = with_device(Nobody).with_options("rig", isolation="process", on_failure="hold")
    with pytest.raises(CapabilityError, match=r"'on_stale' says .* takes no on_failure = 'hold'"):
        make_unit(rig.components["rig"])


def test_health_is_recorded_with_the_rest():
    class Nobody:
        port = 9

    names = recordable(with_device(Nobody), None)
    assert {"rig.y", "rig.sample_age", "rig.valid"} <= set(names)
