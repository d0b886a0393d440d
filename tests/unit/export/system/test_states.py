"""Saved states, resets and several instances of an exported system."""

import numpy as np
import pytest

from orchestrator.checks.inspection import check_fmu
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import Jitter, JitterKind, System, TransportDelay, Variation
from orchestrator.export.system import export_system
from orchestrator.study import simulate


@pytest.fixture(params=[(2, "cs"), (3, "cs"), (2, "me")])
def nested(driven, tmp_path, request):
    """A system that holds an exported one with a delay that varies: much to remember."""
    jitter = Variation(jitter=Jitter(JitterKind.UNIFORM, 4_000_000), seed=3)
    system = driven(delay=TransportDelay(16_000_000, variation=jitter))
    fmi, interface = request.param
    system = system.with_options("chaser", interface=interface)
    path = export_system(system, tmp_path / "driven.fmu", fmi=fmi, step="1 ms")
    return System("outer").add("it", fmu(path), push=12.0)


def test_a_checkpoint_repeats_the_rest_bit_by_bit(nested):
    with Execution(nested, step="1 ms") as run:
        run.advance("0.1 s")
        kept = run.save()
        stored = kept.stored()
        run.advance("0.3 s")
        whole = run.recording().values
        run.restore(kept)
        run.advance("0.3 s")
        np.testing.assert_array_equal(run.recording().values, whole)
    with Execution(nested, step="1 ms") as execution:
        execution.restore(stored)
        execution.advance("0.3 s")
        np.testing.assert_array_equal(execution.recording().values, whole)


def test_an_algorithm_may_repeat_its_steps(nested):
    """Fixed-point iteration goes back to saved states in every step."""
    once = simulate(nested, step="1 ms", stop="0.2 s", algorithm="jacobi")
    twice = simulate(nested, step="1 ms", stop="0.2 s", algorithm="fixed-point")
    np.testing.assert_array_equal(once.values, twice.values)


@pytest.mark.parametrize("fmi", [2, 3])
def test_the_checks_for_foreign_fmus_pass(driven, tmp_path, fmi):
    path = export_system(driven(), tmp_path / "x.fmu", fmi=fmi, step="1 ms")
    results = check_fmu(path)
    assert [r for r in results if r.outcome == "failed"] == []
    passed = {r.name.rpartition(": ")[2] for r in results if r.outcome == "passed"}
    assert {"saved state", "saved in every mode", "reset in every mode"} <= passed


def test_states_are_not_declared_where_an_fmu_inside_has_none(make_fmu, tmp_path):
    poor = make_fmu(lambda text: text.replace('canGetAndSetFMUstate="true"', ""), name="Poor")
    system = System("poor").add("a", fmu(poor), u=1.0, n=0, flag=False)
    path = export_system(system, tmp_path / "x.fmu", step="1 ms")
    can = fmu(path)
    assert can.connectors
    with (
        Execution(System("outer").add("it", can), step="1 ms") as run,
        pytest.raises(Exception, match=r"canGetAndSetFMUstate is not true"),
    ):
        run.save()
