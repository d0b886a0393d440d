"""A run whose steps begin with the samples of a device."""

import numpy as np
import pytest
from scripted_device import Peer

from orchestrator import (
    Block,
    DeadlineError,
    DescriptionError,
    Execution,
    Input,
    Output,
    RealTime,
    System,
    UnknownNameError,
    block,
)
from orchestrator.core.realtime import Drift
from orchestrator.rig.device_units.sequence import SampleCounter
from orchestrator.rig.devices import Received
from orchestrator.study.prepare.prepare import swap_component

MS = 1_000_000


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


def run(port, clock="rig", settings="", step="1 ms", **more):
    system = System("loop").add("ramp", block(Ramp)).add("rig", block(Rig))
    system = system.connect("ramp.u", "rig.u")
    source = f"device:scripted_device:Answering?port={port}{settings}"
    pace = RealTime(clock=clock, priority=0, lock_memory=False, **more)
    return Execution(swap_component(system, "rig", source), step=step, realtime=pace)


def test_steps_begin_with_the_samples_of_the_device():
    with Peer() as peer, run(peer.port, settings="&stale_after=5.0") as execution:
        before = execution.units[-1].native.facts.number
        execution.step(20)
        taken = execution.units[-1].native.facts
        assert taken.number + taken.lost - before >= 20
        timing = execution.timing
        assert (timing.clock, timing.computing.count) == ("rig", 20)
        assert timing.drift.samples > 2  # moments are kept of the last ticks only
        assert any(note.startswith("'rig' was the clock: its second is") for note in timing.notes)


def test_a_clock_that_falls_silent_ends_the_run_and_is_named():
    with Peer() as peer, run(peer.port, settings="&stale_after=0.3") as execution:
        execution.step(2)
        peer.silent.set()
        told = r"component 'rig', whose samples are the clock .* was silent for 0\.3 s at"
        with pytest.raises(DeadlineError, match=told):
            execution.step(1000)
        assert len(execution.recording().time_ns) >= 3  # what was recorded is kept


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"clock": "rigg"}, UnknownNameError, "no component 'rigg'. Did you mean 'rig'"),
        ({"clock": "ramp"}, DescriptionError, "'ramp'"),
        ({"step": "1500 us"}, DescriptionError, "ticks every 1 ms.*found 1.5 ms"),
    ],
)
def test_what_cannot_be_a_clock_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        run(1, **given)  # before anything is opened


def test_nobody_can_hurry_a_device():
    with pytest.raises(DescriptionError, match="1 beside clock 'rig'"):
        RealTime(clock="rig", factor=2.0)


def ticks(arrivals, rate=1000.0):
    counter, found = SampleCounter(1, rate, None), []
    for sequence, now_ns in arrivals:
        counter.take(Received((0.0,), sequence=sequence), now_ns)
        found.append(counter.ticked_ns)
    return found


def test_lost_samples_tick_too():
    assert ticks([(1, 10 * MS), (4, 13 * MS), (4, 13 * MS), (3, 14 * MS), (5, 15 * MS)]) == [
        (10 * MS,),
        (11 * MS, 12 * MS, 13 * MS),
        (),
        (),
        (15 * MS,),
    ]


def test_a_count_that_jumps_is_no_time_that_has_passed():
    assert [len(t) for t in ticks([(1, 10 * MS), (900_001, 12 * MS)])] == [1, 5]


def test_spans_of_one_clock_by_the_other():
    drift = Drift(250.0, 1.0, 100)
    assert drift.of_computer(0.016) == pytest.approx(0.016004)
    assert drift.of_device(drift.of_computer(0.016)) == pytest.approx(0.016)
    np.testing.assert_allclose(drift.of_device(1.00025), 1.0)
