"""Waveform mode follows inputs of FMI 3.0 units by intermediate update, whoever made them."""

import numpy as np
import pytest
from oracle.reference import run_reference
from systems import body_at_contact

from orchestrator import simulate
from orchestrator.core.coupling import remarks
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System
from orchestrator.export import build_recipe

pytestmark = pytest.mark.usefixtures("sample_blocks")


@pytest.fixture(scope="module")
def files(plants, tmp_path_factory):
    """Body and contact as FMUs of both versions."""
    folder = tmp_path_factory.mktemp("fmi3")
    found = {}
    for name in ("Chaser", "SpringDashpot"):
        recipe = plants.parent / f"{name}.toml"
        found[name, 2] = plants / f"{name}.fmu"
        found[name, 3] = build_recipe(recipe, folder, fmi=("3.0",)).path
    return found


def oscillator(files, version, **options):
    body = fmu(files["Chaser", version]).with_values({"m": 20.0, "v0": 0.1})
    spring = {"k": 2000.0, "d": 150.0, "latched": True}
    contact = fmu(files["SpringDashpot", version]).with_values(spring)
    system = body_at_contact(body, contact, name="oscillator", motion={"delay": "40 ms"})
    return system.with_options("body", **options) if options else system


WAVEFORM = {"step": "4 ms", "stop": "1 s", "algorithm": "gauss-seidel", "delay": "waveform"}


def test_both_versions_follow_alike(files):
    """One is given derivatives, the other asks for values: the same cubic but for rounding."""
    two, three = (simulate(oscillator(files, v), **WAVEFORM)["body.position"] for v in (2, 3))
    np.testing.assert_allclose(three, two, rtol=0.0, atol=1e-13 * np.abs(two).max())
    held = simulate(oscillator(files, 3), **WAVEFORM | {"delay": "mean"})["body.position"]
    assert np.abs(held - three).max() > 1e-6  # it does make a difference


def test_where_a_unit_runs_changes_nothing(files):
    rows = [
        simulate(oscillator(files, 3, **options), **WAVEFORM)["body.position"]
        for options in ({}, {"isolation": "process"})
    ]
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi", "waveform"])
def test_engine_equals_reference(files, algorithm):
    options = {"step": "3 ms", "algorithm": algorithm, "delay": "waveform"}
    one, two = (Execution(oscillator(files, 3), **options) for _ in range(2))
    one.advance("90 ms")
    rows = run_reference(two, 30)
    found = one.recording()
    for i, name in enumerate(found.names):
        np.testing.assert_array_equal(found.values[:, i], rows[:, one.schedule.slots[name][0]])


def foreign(c_fmu, change=lambda text: text, **values):
    """Integrate a delayed ramp with a unit of another tool."""
    return (
        System("foreign")
        .add("source", block("strict_lag"), a=0.9, b=0.5, x0=1.0)
        .add("asker", fmu(c_fmu("asker3", change)), **values)
        .connect("source.y", "asker.u", delay="40 ms")
        .connect("asker.x", "source.u", factor=-0.1)
    )


@pytest.mark.parametrize("parts", [1, 3])
def test_a_unit_of_another_tool_is_given_what_it_asks_for(c_fmu, parts):
    """Simpson's rule is exact for the cubic, on any number of parts."""
    run = Execution(foreign(c_fmu, parts=parts), **{k: WAVEFORM[k] for k in ("step", "delay")})
    assert [plan.order for plan in run.schedule.plans] == [3]
    run.advance("0.4 s")
    assert run.notices == ()
    execution = Execution(foreign(c_fmu, parts=7), step="4 ms", delay="waveform")
    execution.advance("0.4 s")
    assert run.get("asker.x") == pytest.approx(execution.get("asker.x"), rel=1e-13)


def test_a_unit_that_does_not_ask_is_told_of(c_fmu):
    run = Execution(foreign(c_fmu, parts=0), step="4 ms", delay="waveform")
    run.advance("0.4 s")
    (notice,) = run.notices
    assert notice.component == "asker"
    assert "did not ask for its inputs within its step" in notice.what


@pytest.mark.parametrize(
    "said", ["providesIntermediateUpdate", "intermediateUpdate"], ids=["the unit", "the input"]
)
def test_what_is_not_offered_is_held(c_fmu, said):
    """And treated as every unit that holds is: the mean of its loop stays as declared."""
    change = lambda text: text.replace(f' {said}="true"', "")  # noqa: E731
    run = Execution(foreign(c_fmu, change), step="4 ms", delay="waveform")
    schedule = run.schedule
    assert [plan.order for plan in schedule.plans] == [0]
    told = remarks(schedule.plans, schedule.loop_delays, schedule.step_ns, schedule.mode)
    assert any("source.y -> asker.u" in text for text in told)
