"""Steps that are proposed for shipped systems, against runs with them and with twice them."""

import importlib

import pytest


@pytest.fixture
def chosen_steps(request, monkeypatch, plants):
    monkeypatch.syspath_prepend(str(request.config.rootpath / "benchmarks"))
    return importlib.import_module("chosen_steps")


@pytest.mark.parametrize(
    ("name", "tolerance", "algorithm"),
    [
        ("capture_axis", 0.05, "gauss-seidel"),
        ("axial_uncompensated", 0.2, "jacobi"),
        ("capture_axis, chaser every 6.4 ms", 0.01, "gauss-seidel"),
    ],
)
def test_growth_and_peak_with_the_step_and_twice_it(chosen_steps, name, tolerance, algorithm):
    """The whole table: python benchmarks/chosen_steps.py."""
    (row,) = chosen_steps.rows(name, tolerance, (algorithm,))
    once, twice = row.runs
    assert twice.step_ms == 2.0 * once.step_ms
    for run in row.runs:
        assert run.measured == pytest.approx(run.predicted, rel=5e-3)
    assert once.measured <= tolerance
    assert twice.measured > tolerance
    assert 1.5 * once.peak < twice.peak
