"""Ten million steps: the grid of times does not drift, and memory does not grow."""

import resource

import numpy as np
import pytest
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import seconds

pytestmark = pytest.mark.usefixtures("sample_blocks")
STEPS = 10_000_000
#: About a third of a millisecond: neither a binary fraction of a second nor a round decimal one.
STEP_NS = 333_333
START_NS = -7
EVERY = 100_000


def resident_kb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.slow
def test_ten_million_steps(plants):
    """A mass on a spring, both FMUs, with a delay, and a block that tells the time."""
    system = body_at_contact(
        plant(plants, "Chaser", v0=0.1, **UNPUSHED),
        plant(plants, "Compliance", **GROUND),
        names=("mass", "spring"),
        motion={"delay": "2 ms"},
    ).add("clock", block("source"))
    with Execution(
        system,
        step=f"{STEP_NS} ns",
        start=f"{START_NS} ns",
        record=["mass.position", "clock.time"],
        every=EVERY,
    ) as execution:
        execution.step(STEPS // 100)  # everything that is allocated once is allocated
        before = resident_kb()
        execution.step(STEPS - STEPS // 100)
        assert resident_kb() - before < 4096  # rows of the recording: 100 of 24 bytes
        expected = START_NS + STEP_NS * np.arange(0, STEPS + 1, EVERY)
        result = execution.recording()
    np.testing.assert_array_equal(result.time_ns, expected)
    told = result.values[:, result.names.index("clock.time")]
    # The block adds two times that are rounded to doubles: half a unit in the last place each.
    np.testing.assert_allclose(told, [seconds(int(ns)) for ns in expected], rtol=3e-16, atol=1e-20)
    position = result.values[:, result.names.index("mass.position")]
    assert np.isfinite(position).all()
    assert np.ptp(position) > 0
