"""The loops of the rigs in six degrees of freedom: all are reported, with the delays they have."""

import logging

import pytest
from reproduction.famdc.example import FOLDER

from orchestrator import read_system
from orchestrator.core.coupling import DelayMode
from orchestrator.core.master import compile_schedule
from orchestrator.core.simunits import resolve
from orchestrator.loops import probe_loop

STEP = 1_000_000


# Ways around the components, and rings of ports; a count that follows lines one by one agrees.
@pytest.mark.parametrize(
    ("file", "ways", "rings"), [("SystemStructure", 9, 1010), ("spatial_guarded", 34, 13903)]
)
@pytest.mark.parametrize("mode", list(DelayMode))
def test_every_loop_is_reported_and_measured(file, ways, rings, mode, plants, caplog):
    rig = resolve(read_system(FOLDER / f"{file}.ssd")).flat().closed()
    with caplog.at_level(logging.WARNING):
        schedule = compile_schedule(rig, "gauss-seidel", STEP, mode, ())
    assert not caplog.records  # none is left out
    assert len({frozenset(delay.components) for delay in schedule.loop_delays}) == ways
    assert sum(delay.ring_count for delay in schedule.loop_delays) == rings
    for delay in schedule.loop_delays:
        for ring in delay.loops:
            measured = probe_loop(rig, schedule, delay, ring).measured_ns
            assert measured == pytest.approx(delay.total_ns, abs=1000)  # of second order in w H
