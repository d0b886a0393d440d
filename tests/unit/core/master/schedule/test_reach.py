"""Times that are as far as 64 bits go: refused with a message, and right up to there."""

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import REACH_NS, Fault, Jitter, System, TransportDelay, Variation
from orchestrator.core.system.delay import DelayTrace

pytestmark = pytest.mark.usefixtures("sample_blocks")
FAR = r"farther than 2305843009 s \(73 years\)"


def ring(delay="1 s"):
    system = System("s").add("a", block("integrator")).add("b", block("integrator"))
    return system.connect("a.y", "b.u", delay=delay).connect("b.y", "a.u", delay=delay)


@pytest.mark.parametrize(
    "options",
    [
        {"step": "4e9 s"},
        {"step": "9.2e9 s"},
        {"step": "1e9 s", "rates": {"a": 4}},
        {"step": "1 s", "start": "9.2e9 s"},
        {"step": "1 s", "start": "-9.2e9 s"},
        {"step": "1 s", "stop": "9.2e9 s"},
        {"step": "4e9 s", "algorithm": "step-doubling"},
        {"step": "1 s", "faults": [Fault.of("bias", "a.y", "-9.2e9 s", value=1.0)]},
        {"step": "1e9 s", "faults": [Fault.of("delay-step", "a.y", "1 s", delay="9.2e9 s")]},
    ],
)
def test_times_of_a_run_out_of_reach(options, wording):
    with wording.raises(DescriptionError):
        Execution(ring("1e9 s" if "1e9" in options["step"] else "2 s"), **options)


@pytest.mark.parametrize(
    "delay",
    [
        TransportDelay(9_200_000_000 * 10**9),
        TransportDelay(0, variation=Variation(Jitter("gamma", 9 * 10**17))),
        TransportDelay(0, variation=Variation(trace=DelayTrace((0, 10**9), (0, 9 * 10**18)))),
        TransportDelay(0, variation=Variation(trace=DelayTrace((-9 * 10**18, 0), (0, 0)))),
    ],
    ids=["nominal", "jitter", "trace", "time of the trace"],
)
def test_a_delay_out_of_reach(delay, wording):
    with wording.raises(DescriptionError):
        Execution(ring(delay), step="1e9 s")


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "step-doubling"])
def test_a_run_does_not_go_out_of_reach(algorithm, wording):
    """Every step of 1e9 s is exact there: nothing acts on the integrators."""
    system = System("s").add("a", block("integrator"), u=0.0)
    with Execution(system, step="1e9 s", algorithm=algorithm) as run:
        with wording.raises(DescriptionError):
            run.advance("3e9 s")
        with wording.raises(DescriptionError):
            run.step(10)
        assert 0 <= run.recording().time_ns[-1] <= REACH_NS


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "step-doubling"])
@pytest.mark.parametrize("start", [-2_300_000_000, 2_300_000_000])
def test_the_ends_of_reach(algorithm, start):
    """Steps of 1 s have room there; delays reach back beyond the beginning."""
    options = {"shortest": "1 s"} if algorithm == "step-doubling" else {}
    made = {"start": start, "algorithm": algorithm, "algorithm_options": options}
    with Execution(ring("1000 s"), step="1 s", **made) as run:
        run.advance(start + 20)
        times = run.recording().time_ns
        assert (times[0], times[-1]) == (start * 10**9, (start + 20) * 10**9)
