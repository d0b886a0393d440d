"""Every registered algorithm, executed by the engine, equals the reference in plain Python."""

import numpy as np
import pytest

from orchestrator.master import Execution, algorithm_names
from orchestrator.master.reference import run_reference
from orchestrator.simunits import block, fmu
from orchestrator.system import System

pytestmark = pytest.mark.usefixtures("toys")
STEPS = 300


def contact(probe):
    return (
        System("contact")
        .add("chaser", block("body"), thrust=10.0)
        .add("sheet", block("spring_dashpot"), k=2510.0, d=3.0, position_b=0.0, velocity_b=0.0)
        .add("damper", block("virtual_damper"), b=60.0)
        .connect("chaser.position", "sheet.position_a", delay="16 ms")
        .connect("chaser.velocity", "sheet.velocity_a", delay="15.7 ms")
        .connect("chaser.velocity", "damper.velocity", delay="1 ns")
        .connect("sheet.force_a", "chaser.force")
        .connect("damper.force", "chaser.virtual_force", delay=0.0)
    )


def arrays(probe):
    return (
        System("arrays")
        .add("a", block("matrix"), u=(0.1, 0.2))
        .add("b", block("matrix"))
        .connect("a.y", "b.u", delay="3.3 ms", factor=0.1, offset=0.7)
    )


def mixed(probe):
    return (
        System("mixed")
        .add("plant", fmu(probe), n=3)
        .add("types", block("typed"), flag=True)
        .add("gain", block("gain"), k=-0.3)
        .connect("plant.y", "gain.u", delay="2 ms")
        .connect("gain.y", "plant.u", offset=1.0)
        .connect("plant.m", "types.n", delay="1 ms")
        .connect("types.not_flag", "plant.flag")
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
@pytest.mark.parametrize("mode", ["plain", "exact"])
@pytest.mark.parametrize("algorithm", algorithm_names())
def test_engine_equals_reference(algorithm, mode, make, probe):
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode, "start": "-0.1 s"}
    engine, reference = (Execution(make(probe), **options) for _ in range(2))
    engine.advance(f"{engine.start_ns + STEPS * 10**6} ns")
    rows = run_reference(reference, STEPS)
    r = engine.recording()
    for column, name in enumerate(r.names):
        whole, _, index = name.partition("[")
        slot = engine.schedule.slots[whole][0] + int(index.rstrip("]") or 0)
        np.testing.assert_array_equal(r.values[:, column], rows[:, slot], err_msg=name)
    assert np.ptp(rows, axis=0).max() > 0  # it moves


@pytest.mark.parametrize("algorithm", algorithm_names())
def test_groups_hold_every_component_once(algorithm, probe):
    schedule = Execution(contact(probe), step="1 ms", algorithm=algorithm).schedule
    assert sorted(m.name for m in schedule.members) == ["chaser", "damper", "sheet"]


@pytest.mark.parametrize("algorithm", algorithm_names())
def test_exact_coupling_leaves_no_numerical_delay(algorithm, probe):
    system = contact(probe).with_delay("damper.force", "chaser.virtual_force", None)
    schedule = Execution(system, step="1 ms", algorithm=algorithm, delay="exact").schedule
    assert [abs(loop.numerical_ns) for loop in schedule.loops] == pytest.approx(
        [0.0] * len(schedule.loops),
        abs=1.0,  # readings are rounded to whole nanoseconds
    )
    assert len(schedule.loops) == 3
