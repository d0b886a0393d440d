"""Event mode of the engine equals the reference in plain Python, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from oracle.reference import Reference

from orchestrator.core.master import Execution, algorithm_names
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import Compensation, System

pytestmark = pytest.mark.usefixtures("sample_blocks")
ECCO = "ecco"  # needs power bonds, which these units have not
ALGORITHMS = [name for name in algorithm_names() if name != ECCO]


def mixed(c_fmu, *, delay=None, fixed_steps=False):
    """Ticks off the grid, a foreseen jump, early returns, and a block between them."""

    def equal_steps(text):
        return text.replace(' canHandleVariableCommunicationStepSize="true"', "")

    change = equal_steps if fixed_steps else str
    system = (
        System("events")
        .add("counter", fmu(c_fmu("counter3")))
        .add("jumper", fmu(c_fmu("jumper3")), at=0.0333)
        .add("relay", fmu(c_fmu("relay3")))
        .add("lag", block("strict_lag"), a=-2.0, x0=1.0)
        .add("early", fmu(c_fmu("early3")), level=0.0577)
        .add("source", fmu(c_fmu("source3", change)), period=0.0173)
        .connect("source.tick", "relay.in")
        .connect("source.count", "relay.value")
        .connect("relay.out", "counter.tick")
        .connect("relay.next", "counter.value")
        .connect("jumper.y", "lag.u")
        .connect("lag.y", "jumper.u")
        .connect("jumper.sum", "early.u", factor=10.0)
        .add("listener", block("gain"), k=3.0)
        .connect("early.x", "listener.u")
    )
    if delay is None:
        return system
    return system.add("late", block("gain"), k=2.0).connect("jumper.y", "late.u", delay=delay)


def expect_equal(make, algorithm, stop_ns, **options):
    engine, reference = (
        Execution(make(), step="5 ms", algorithm=algorithm, **options) for _ in range(2)
    )
    engine.advance(f"{stop_ns} ns")
    r = engine.recording()
    times, rows = Reference(reference).run(10_000 if reference.schedule.varies else 60, stop_ns)
    np.testing.assert_array_equal(r.time_ns, times)
    for column, name in enumerate(r.names):
        slot = engine.schedule.slots[name][0]
        np.testing.assert_array_equal(r.values[:, column], rows[:, slot], err_msg=name)
    return engine.event_statistics(), r


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_engine_equals_reference(algorithm, c_fmu):
    found, r = expect_equal(lambda: mixed(c_fmu), algorithm, 300_000_000)
    last = dict(zip(r.names, r.values[-1].tolist(), strict=True))
    assert last["counter.count"] == 18  # ticks at 0, 0.0173, .., 0.2941
    assert last["counter.last"] == 19
    assert last["jumper.jumps"] == 1
    varies = algorithm in {"embedded", "step-doubling"}
    assert (found.early_returns > 0, found.late) == (not varies, 0)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_compensations_begin_anew_after_events(algorithm, c_fmu):
    def make():
        system = mixed(c_fmu)
        ends = {"jumper", "lag"}
        lines = (
            replace(line, compensation=Compensation.NEPCE)
            if {line.source.component, line.target.component} == ends
            else line
            for line in system.connections
        )
        return replace(system, connections=tuple(lines))

    found, r = expect_equal(make, algorithm, 300_000_000)
    assert found.early_returns > 0
    _, held = expect_equal(lambda: mixed(c_fmu), algorithm, 300_000_000)
    assert np.abs(r.values - held.values).max() > 1e-6


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("mode", ["plain", "mean"])
def test_with_a_delayed_line(algorithm, mode, c_fmu):
    make = lambda: mixed(c_fmu, delay="7.3 ms")  # noqa: E731
    found, _ = expect_equal(make, algorithm, 300_000_000, delay=mode)
    assert found.instants > 17
    assert found.late == 0


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "newton"])
def test_with_a_unit_that_takes_equal_steps_only(algorithm, c_fmu):
    found, _ = expect_equal(lambda: mixed(c_fmu, fixed_steps=True), algorithm, 300_000_000)
    assert (found.split_steps, found.early_returns) == (0, 0)
    assert found.late > 17
    assert 0 < found.latest_ns < 5_000_000  # less than one step


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "embedded"])
def test_a_ring_in_which_a_unit_returns_early(algorithm, c_fmu):
    def ring():
        return (
            System("ring")
            .add("early", fmu(c_fmu("early3")), level=0.0577, rate=1.5)
            .add("jumper", fmu(c_fmu("jumper3")), at=0.0333)
            .connect("early.x", "jumper.u")
            .connect("jumper.sum", "early.u", factor=60.0)
        )

    found, r = expect_equal(ring, algorithm, 300_000_000)
    assert r.values[-1, r.names.index("early.met")] == 2  # x is 0.45 at the end
    # Where it is repeated with other inputs it may not, and has its events at the end of the step.
    schedule = Execution(ring(), step="5 ms", algorithm=algorithm).schedule
    assert (found.early_returns > 0) == (not schedule.varies and not schedule.loops)
