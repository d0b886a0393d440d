"""Every registered algorithm, executed by the engine, equals the reference in plain Python."""

import numpy as np
import pytest
from oracle.reference import Reference, run_reference
from step_control import FIXED, VARYING
from systems import GROUND, body_at_contact, bonded, mixed

from orchestrator.core.master import Execution, algorithm_names
from orchestrator.core.simunits import block
from orchestrator.core.system import System, TransportDelay

pytestmark = pytest.mark.usefixtures("sample_blocks")
STEPS = 300


def contact(probe):
    system = body_at_contact(
        block("body").with_values({"thrust": 10.0}),
        block("spring_dashpot").with_values({"k": 2510.0, "d": 3.0, **GROUND}),
        names=("chaser", "sheet"),
        motion={"delay": "16 ms"},
        velocity={"delay": "15.7 ms"},
    )
    return (
        system.add("damper", block("virtual_damper"), b=60.0)
        .connect("chaser.velocity", "damper.velocity", delay="1 ns")
        .connect("damper.force", "chaser.virtual_force", delay=0.0)
    )


def arrays(probe):
    return (
        System("arrays")
        .add("a", block("matrix"), u=(0.1, 0.2))
        .add("b", block("matrix"))
        .connect("a.y", "b.u", delay="3.3 ms", factor=0.1, offset=0.7)
    )


def undelayed(probe):
    system = System("undelayed").add("s", block("source"), at=0.05).add("sum", block("sum"))
    system = system.add("x", block("strict_lag"), a=-2.0, x0=1.0).add("k", block("gain"), k=-3.0)
    return (
        system.connect("s.y", "sum.u1")
        .connect("k.y", "sum.u2")
        .connect("sum.y", "x.u")
        .connect("x.y", "k.u")
    )


@pytest.mark.parametrize("make", [contact, arrays, mixed, undelayed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["plain", "mean"])
@pytest.mark.parametrize("algorithm", FIXED)
def test_engine_equals_reference(algorithm, mode, make, probe):
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode, "start": "-0.1 s"}
    engine, reference = (Execution(make(probe), **options) for _ in range(2))
    engine.advance(f"{engine.start_ns + STEPS * 10**6} ns")
    expect_equal(engine, run_reference(reference, STEPS))


@pytest.mark.parametrize("algorithm", FIXED)
def test_steps_that_are_no_whole_nanoseconds_equal_the_reference(algorithm, probe):
    options = {"step": "1/1500 s", "algorithm": algorithm, "delay": "mean", "start": "-0.1 s"}
    engine, reference = (Execution(contact(probe), **options) for _ in range(2))
    engine.advance("0.1 s")
    times, rows = Reference(reference).run(STEPS)
    np.testing.assert_array_equal(engine.recording().time_ns, times)
    expect_equal(engine, rows)


def expect_equal(engine, rows):
    r = engine.recording()
    for column, name in enumerate(r.names):
        whole, _, index = name.partition("[")
        slot = engine.schedule.slots[whole][0] + int(index.rstrip("]") or 0)
        np.testing.assert_array_equal(r.values[:, column], rows[:, slot], err_msg=name)
    assert np.ptp(rows, axis=0).max() > 0  # it moves


def late(probe):
    """The same with a spring that is told everything with a delay."""
    return (
        bonded(probe)
        .add("sheet", block("spring_dashpot"), k=2510.0, d=3.0, position_b=0.0, velocity_b=0.0)
        .connect("chaser.position", "sheet.position_a", delay="16 ms")
        .connect("chaser.velocity", "sheet.velocity_a", delay=TransportDelay.of("15.7 ms"))
        .set("chaser.thrust", 1.0)
    )


@pytest.mark.parametrize("make", [bonded, late], ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["plain", "mean"])
@pytest.mark.parametrize("algorithm", VARYING)
def test_steps_of_varying_length_equal_the_reference(algorithm, mode, make, probe):
    options = {"step": "1 ms", "algorithm": algorithm, "start": "-0.1 s", "delay": mode}
    options["algorithm_options"] = {"shortest": "10 us"}
    engine, reference = (Execution(make(probe), **options) for _ in range(2))
    engine.advance("1.9 s")
    assert engine.time_ns == 1_900_000_000
    r = engine.recording()
    times, rows = Reference(reference).run(10_000, 1_900_000_000)
    np.testing.assert_array_equal(r.time_ns, times)
    assert len(set(np.diff(times))) > 3  # they vary
    for column, name in enumerate(r.names):
        slot = engine.schedule.slots[name][0]
        np.testing.assert_array_equal(r.values[:, column], rows[:, slot], err_msg=name)


@pytest.mark.parametrize("algorithm", algorithm_names())
def test_groups_hold_every_component_once(algorithm, probe):
    schedule = Execution(bonded(probe), step="1 ms", algorithm=algorithm).schedule
    assert sorted(m.name for m in schedule.members) == ["chaser", "damper"]


@pytest.mark.parametrize("algorithm", FIXED)
def test_exact_coupling_leaves_no_numerical_delay(algorithm, probe):
    system = contact(probe).with_delay("damper.force", "chaser.virtual_force", None)
    schedule = Execution(system, step="1 ms", algorithm=algorithm, delay="mean").schedule
    assert [abs(loop.numerical_ns) for loop in schedule.loop_delays] == pytest.approx(
        [0.0] * len(schedule.loop_delays),
        abs=1.0,  # readings are rounded to whole nanoseconds
    )
    assert len(schedule.loop_delays) == 3
