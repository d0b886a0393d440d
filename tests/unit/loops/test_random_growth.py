"""Growth of random loops, predicted by the map of one period, against their runs."""

import importlib

import pytest


@pytest.fixture
def predicted_growth(request, monkeypatch):
    monkeypatch.syspath_prepend(str(request.config.rootpath / "benchmarks"))
    return importlib.import_module("predicted_growth")


@pytest.mark.parametrize("seed", [1, 12, 19])
def test_the_growth_of_a_random_loop_is_predicted(predicted_growth, seed):
    """The fit leaves 1e-10 to 1e-9; 50 seeds: python benchmarks/predicted_growth.py."""
    case = predicted_growth.Case.of(seed)
    found = predicted_growth.growth_of(case)
    assert found.error < 1e-7
