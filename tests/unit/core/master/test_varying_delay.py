"""Declared delays where the steps differ in length: a ramp tells when a line was read."""

import numpy as np
import pytest

from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import DelayTrace, System, TransportDelay, Variation

pytestmark = pytest.mark.usefixtures("sample_blocks")
DELAY = 16e-3


@pytest.mark.parametrize("algorithm", ["step-doubling", "embedded"])
@pytest.mark.parametrize(("mode", "place"), [("mean", 1.0), ("plain", 0.0)])
def test_a_delayed_ramp(algorithm, mode, place):
    """The mean acts at once and is read at t + H - tau; plain holds the sample before t - tau."""
    system = (
        System("ramp")
        .add("clock", block("source"))
        .add("gain", block("gain"))
        .add("lag", block("strict_lag"), a=-40.0, x0=1.0)
        .add("back", block("gain"), k=0.5)
        .connect("clock.time", "gain.u", delay=DELAY)
        .connect("lag.y", "back.u")
        .connect("back.y", "lag.u")
    )
    with Execution(system, step="1 ms", algorithm=algorithm, delay=mode) as execution:
        execution.advance("0.5 s")
        result = execution.recording()
    times = result.time_ns / 1e9
    lengths = np.diff(times)
    assert lengths.max() > 3 * lengths.min()  # they vary
    if algorithm == "step-doubling":  # what is recorded was read in the second half
        lengths = lengths / 2
    read = result.values[1:, result.names.index("gain.y")]
    wanted = times[1:] - (1.0 - place) * lengths - DELAY
    later = wanted > lengths.max()  # after what stood before the start
    assert later.sum() > 20
    if mode == "mean":
        # whole nanoseconds, and sums of doubles
        np.testing.assert_allclose(read[later], wanted[later], atol=2e-9)
    else:
        late = wanted[later] - read[later]
        assert (late > -1e-12).all()
        assert (late <= lengths.max() + 1e-12).all()


def test_a_recorded_delay_that_is_interpolated_grows_from_row_to_row():
    """A sample of t arrives at t + d(t), d = 10 ms + 0.4 t: at T that of (T - 10 ms) / 1.4."""
    trace = DelayTrace((0, 100_000_000), (10_000_000, 50_000_000), interpolated=True)
    system = System("s").add("clock", block("source")).add("gain", block("gain"))
    delay = TransportDelay(0, variation=Variation(trace=trace))
    system = system.connect("clock.time", "gain.u", delay=delay)
    with Execution(system, step="1 ms", algorithm="jacobi", delay="plain") as execution:
        execution.advance("0.1 s")
        result = execution.recording()
    times = result.time_ns[20:] / 1e9
    read = result.values[20:, result.names.index("gain.y")]
    assert np.abs(read - (times - 0.01) / 1.4).max() <= 2.5e-3  # held, over steps of 1 ms
