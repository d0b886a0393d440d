"""A device that falls silent and is back, with ``on_stale = "hold"``, or was started anew."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from scripted_device import Peer

from orchestrator import (
    Block,
    DeadlineError,
    Execution,
    Input,
    Output,
    RealTime,
    StepError,
    System,
    block,
)
from orchestrator.rig.device_units.following import JumpCheck, ShownCommand
from orchestrator.rig.device_units.io_loop import _Link
from orchestrator.rig.device_units.ledger import CommandLedger
from orchestrator.rig.device_units.sequence import SampleCounter
from orchestrator.rig.devices import DeviceConnectors, Received
from orchestrator.study.prepare.prepare import swap_component


class Ramp(Block):
    """Gives the time as a command."""

    u: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.u = t + h


class Rig(Block):
    """What the device replaces."""

    u: float = Input(unit="m")
    y: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.y = self.u


def rig(peer, kind, settings, policy="hold"):
    system = System("loop").add("ramp", block(Ramp)).add("rig", block(Rig))
    system = system.connect("ramp.u", "rig.u")
    source = f"device:scripted_device:{kind}?port={peer.port}&on_stale={policy}{settings}"
    return swap_component(system, "rig", source)


def paced(peer, settings):
    pace = RealTime(clock="rig", priority=0, lock_memory=False)
    return Execution(rig(peer, "Answering", settings), step="1 ms", realtime=pace)


@pytest.mark.parametrize("policy", ["hold", "stop"])
def test_a_device_that_was_started_anew_is_not_commanded_any_more(policy):
    """Its first sample is not answered yet; the run ends by name, or holds what it had last."""
    with Peer() as peer:
        system = rig(peer, "Answering", "&stale_after=30&command_stale_after=30", policy)
        with Execution(system, step=0.01) as run:
            run.step(3)
            peer.wait_for(lambda: peer.commands and peer.commands[-1] > 0.0)
            peer.silent.set()
            peer.settle()
            peer.commands.clear()
            peer.anew.set()
            peer.silent.clear()
            peer.wait_for(lambda: run.units[-1].exception() is not None)
            assert peer.commands == []
            why = "started again: the device was restarted"
            if policy == "stop":
                with pytest.raises(StepError, match=rf"'rig'.*{why}"):
                    run.step()
            else:
                run.step()
                assert run.get("rig.valid") == 0.0
                assert why in str(run.units[-1].notices())


def test_a_device_that_says_nothing_but_hears_is_brought_to_rest():
    """A drive whose measurements are lost turned for 3 s, until it was closed."""
    with Peer() as peer:
        with Execution(rig(peer, "Unasked", "&stale_after=30"), step=0.01) as run:
            run.step(5)
            peer.wait_for(lambda: peer.commands and peer.commands[-1] == pytest.approx(0.05))
            peer.silent.set()
            peer.settle()
            peer.commands.clear()
        ramp = [command for command in peer.commands if command > 0.0]
        assert len(ramp) > 5
        assert ramp == sorted(ramp, reverse=True)
        assert peer.commands[-1] == 0.0


def test_a_clock_that_is_back_goes_on_where_it_was():
    """Simulated time stands while nothing ticks, and is not made up for."""
    with Peer() as peer, paced(peer, "&stale_after=0.1&connect_timeout=20") as run:
        gone = threading.Timer(0.1, peer.silent.set)
        back = threading.Timer(0.4, peer.silent.clear)
        begin = time.monotonic()
        gone.start()
        back.start()
        run.step(300)
        assert time.monotonic() - begin > 0.4
        back.join()
        assert run.time == pytest.approx(0.3)
        assert run.get("rig.valid") == 1.0
        drift = run.timing.drift
        assert drift.silences >= 1  # which is not taken for a slow clock: tests/unit/engine
        assert drift.silent > 0.2
        assert any("it was silent" in note for note in run.timing.notes)


def test_a_clock_that_does_not_come_back_ends_the_run_after_connect_timeout():
    with Peer() as peer, paced(peer, "&stale_after=0.05&connect_timeout=1.0") as run:
        run.step(2)
        peer.silent.set()
        begin = time.monotonic()
        with pytest.raises(DeadlineError, match=r"'rig'.* was silent for 1 s"):
            run.step(1000)
        assert time.monotonic() - begin > 1.0
        assert len(run.recording().time_ns) >= 3


def test_answers_that_came_too_late_are_told_to_the_gate():
    """Of two cycles one answer was late: it may be that of the frame which did not come."""
    link, counter, told = object.__new__(_Link), SampleCounter(1, 250.0, None), []
    link.ledger, link.counter = CommandLedger(4e-3, 0.1, (0.0,)), counter
    link.gate = SimpleNamespace(
        take_back=lambda: told.append(counter.facts.number - 1), stopping=True
    )
    link.block, link._command = SimpleNamespace(commands_given=0), np.zeros(1)
    ports = DeviceConnectors((), (), 250.0)
    link._jumps, link._shown = JumpCheck(ports), ShownCommand(ports)
    for number, (sequence, late) in enumerate([(1, 7), (2, 7), (3, 8), (5, 9), (6, 9), (8, 11)]):
        received = Received((0.0,), None, sequence, late_answers=late)
        gap = counter.gap(received)
        counter.take(received, number * 4_000_000)
        link._look_at_commands(received, gap, number * 4_000_000)
        link.ledger.send(number, number * 4_000_000, (0.0,))
    assert told == [2, 5]
