"""A device that falls silent and is back, with ``on_stale = "hold"``: the run goes on with it."""

import threading
import time

import pytest
from scripted_device import Peer

from orchestrator import Block, DeadlineError, Execution, Input, Output, RealTime, System, block
from orchestrator.experiment.prepare.swap import swap_component


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


def rig(peer, kind, settings):
    system = System("loop").add("ramp", block(Ramp)).add("rig", block(Rig))
    system = system.connect("ramp.u", "rig.u")
    source = f"device:scripted_device:{kind}?port={peer.port}&on_stale=hold{settings}"
    return swap_component(system, "rig", source)


def paced(peer, settings):
    pace = RealTime(clock="rig", priority=0, lock_memory=False)
    return Execution(rig(peer, "Answering", settings), step="1 ms", realtime=pace)


def test_a_device_that_counts_anew_is_gone_on_with():
    with Peer() as peer, Execution(rig(peer, "Scripted", "&stale_after=0.2"), step=0.01) as run:
        run.step(3)
        peer.wait_for(lambda: peer.commands)
        before = run.get("rig.lost")
        peer.silent.set()
        time.sleep(0.3)
        run.step(2)
        assert run.get("rig.valid") == 0.0
        peer.anew.set()
        peer.silent.clear()
        peer.wait_for(lambda: not peer.anew.is_set())
        time.sleep(0.05)
        run.step()
        assert run.get("rig.valid") == 1.0
        assert run.get("rig.sample_age") < 0.2
        assert run.units[-1].native.facts.restarts == 1
        peer.wait_for(lambda: peer.commands[-1] == pytest.approx(0.06))
        time.sleep(0.02)
        run.step()
        # It follows its commands again; a peer that is quick has answered that of this step, too.
        followed = [pytest.approx(1.0 + 2.0 * command) for command in (0.06, 0.07)]
        assert run.get("rig.y") in followed
        assert run.get("rig.lost") == before  # what was not sent is not lost


def test_a_clock_that_is_back_goes_on_where_it_was():
    """Simulated time stands while nothing ticks, and is not made up for."""
    with Peer() as peer, paced(peer, "&stale_after=0.1&connect_timeout=20") as run:
        gone = threading.Timer(0.1, peer.silent.set)
        back = threading.Timer(0.4, lambda: (peer.anew.set(), peer.silent.clear()))
        begin = time.monotonic()
        gone.start()
        back.start()
        run.step(300)
        assert time.monotonic() - begin > 0.4
        back.join()
        assert run.time == pytest.approx(0.3)
        facts = run.units[-1].native.facts
        assert facts.restarts == 1
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
