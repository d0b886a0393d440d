"""The model-based corrector, with a body and a contact as FMUs that give derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmark_problems import oscillator
from benchmark_problems.exact import free
from oracle.probing import probe_delays
from oracle.reference import run_reference
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator import Compensation, Execution, Extrapolation, simulate
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits import resolve
from orchestrator.loops import linear_system
from orchestrator.loops.step_choice import StepReference, choose_step
from orchestrator.study.measure import fit_growth

M, K, D = 100.0, 5.0e4, 100.0


def rig(plants, motion=Compensation.CORRECTOR, force=Compensation.NEPCE, way=None):
    """A body at a contact that stays closed; compensations of both ways of the loop."""
    return body_at_contact(
        plant(plants, "Chaser", m=M, v0=0.05, **UNPUSHED),
        plant(plants, "Compliance", k=K, d=D, latched=True, **GROUND),
        names=("body", "wall"),
        motion={"compensation": motion, "extrapolation": way},
        force={"compensation": force},
    )


def peak_error(system, step, algorithm="jacobi"):
    """Return the largest error of the position by its largest value."""
    with Execution(system, step=step, algorithm=algorithm, record=["body.position"]) as run:
        run.advance("0.5 s")
        found = run.recording()
    matrix = np.array([[0.0, 1.0], [-K / M, -D / M]])
    right = free(matrix, (0.0, 0.05), found.time_ns / 1e9)[:, 0]
    return np.abs(found.values[:, 0] - right).max() / np.abs(right).max()


@pytest.mark.parametrize("way", [None, "linear", "quadratic"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_the_engine_equals_the_reference(algorithm, way, plants):
    system = rig(plants, way=way)
    engine, reference = (Execution(system, step="2 ms", algorithm=algorithm) for _ in range(2))
    engine.step(100)
    rows = run_reference(reference, 100)
    found = engine.recording()
    for column, name in enumerate(found.names):
        slot = engine.schedule.slots[name][0]
        np.testing.assert_array_equal(found.values[:, column], rows[:, slot], err_msg=name)


@pytest.mark.parametrize("way", [None, "linear", "quadratic"])
def test_jacobi_is_of_second_order_through_a_feed_through(way, plants):
    """Held against the matrix exponential; without the correction held inputs give the first."""
    errors = [peak_error(rig(plants, way=way), step) for step in ("2 ms", "1 ms")]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    nepce = rig(plants, motion=Compensation.NEPCE, way=way)
    plain = [peak_error(nepce, step) for step in ("2 ms", "1 ms")]
    # An input that is predicted with its slope is nearly right at the end of the step.
    assert np.log2(plain[0] / plain[1]) == pytest.approx(2.0 if way else 1.0, abs=0.2)
    assert errors[1] < (1.0 if way else 0.1) * plain[1]


def test_an_output_belongs_to_the_motion_at_the_end_of_the_step(plants):
    """The recorded force is that of the recorded motion, where the target held another."""
    names = ["body.position", "body.velocity", "wall.force_a"]
    with Execution(rig(plants), step="2 ms", algorithm="jacobi", record=names) as run:
        run.step(50)
        found = run.recording()
    x, v, force = (found.values[:, found.names.index(name)] for name in names)
    np.testing.assert_allclose(force, -(K * x + D * v), atol=1e-9 * np.abs(force).max())


def test_it_leaves_no_delay_in_the_loop(plants):
    system = resolve(rig(plants))
    for probed in probe_delays(system, step_ns=1_000_000, algorithm_name="jacobi", frequency=0.5):
        assert probed.predicted_ns == 0.0
        assert probed.measured_ns == pytest.approx(0.0, abs=1e3)


def test_units_without_derivatives_are_refused_by_name(wording):
    lines = (
        replace(line, compensation=Compensation.CORRECTOR)
        for line in oscillator.by_force().connections
    )
    system = replace(oscillator.by_force(), connections=tuple(lines))
    with wording.raises(DescriptionError):
        Execution(system, step="10 ms", algorithm="jacobi")


@pytest.mark.parametrize("way", [None, "linear"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_the_map_of_a_period_has_it(algorithm, way, plants):
    """Growth and frequency are those of a run."""
    system = rig(plants, way=way)
    linear = linear_system(system, step="2 ms", algorithm=algorithm)
    (account,) = linear.loop_accounts()
    run = simulate(system, stop="2 s", step="2 ms", algorithm=algorithm)
    fit = fit_growth(run.time, run["body.position"], start=0.2)
    mode = account.modes[0].sampled
    assert mode.real == pytest.approx(fit.sigma, rel=1e-9)
    assert mode.imag == pytest.approx(fit.omega, rel=1e-9)
    assert abs(mode - account.modes[0].exact) > 5e-3  # it is not that of continuous time


def test_a_step_is_chosen_with_it(plants):
    """All lines are compensated, so modes alone decide: margins would put a delay on one."""
    linear = linear_system(rig(plants), step="2 ms", algorithm="jacobi")
    choice = choose_step(StepReference.of(linear, length_ns=3_000_000_000), 0.05)
    assert choice.step_ns is not None
    for factor, inside in ((1, True), (2, False)):
        step = f"{factor * choice.step_ns} ns"
        run = simulate(rig(plants), stop="2.4 s", step=step, algorithm="jacobi")
        fit = fit_growth(run.time, run["body.position"], start=0.2)
        share = max(abs(fit.sigma / -0.5 - 1.0), abs(fit.omega / np.sqrt(K / M - 0.25) - 1.0))
        assert (share <= 0.05) is inside


def test_a_map_needs_what_the_outputs_are_at_once(plants, wording):
    linear = linear_system(rig(plants), step="2 ms", algorithm="jacobi")
    sampled = replace(linear.models["wall"], continuous=None)
    linear = replace(linear, models={**linear.models, "wall": sampled})
    with wording.raises(CapabilityError):
        linear.period_map()


def test_it_goes_with_every_order(plants):
    orders = {None, "linear", "quadratic"}
    found = {rig(plants, way=order).connections[0].extrapolation for order in orders}
    assert found == {None, Extrapolation.LINEAR, Extrapolation.QUADRATIC}
