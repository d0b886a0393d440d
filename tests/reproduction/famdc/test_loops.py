"""The loops of the rig in six degrees of freedom: all are reported, with the delays they have."""

import logging

import pytest
from reproduction.famdc.example import FOLDER

from orchestrator import read_system
from orchestrator.coupling import DelayMode
from orchestrator.master import compile_schedule, probe_loop
from orchestrator.simunits import resolve

STEP = 1_000_000


@pytest.fixture
def rig(plants):
    return resolve(read_system(FOLDER / "SystemStructure.ssd")).flat().closed()


@pytest.mark.parametrize("mode", list(DelayMode))
def test_every_loop_is_reported_and_measured(rig, mode, caplog):
    with caplog.at_level(logging.WARNING):
        schedule = compile_schedule(rig, "gauss-seidel", STEP, mode, ())
    assert not caplog.records  # none is left out
    assert len(schedule.loop_delays) == 15
    # Nine ways around the components; counted signal by signal before they are known to be alike.
    assert len({frozenset(delay.components) for delay in schedule.loop_delays}) == 9
    assert sum(delay.ring_count for delay in schedule.loop_delays) == 1010
    for delay in schedule.loop_delays:
        for ring in delay.loops:
            measured = probe_loop(rig, schedule, delay, ring).measured_ns
            assert measured == pytest.approx(delay.total_ns, abs=1000)  # of second order in w H
