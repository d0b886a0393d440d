import numpy as np
import pytest

from orchestrator.loops.multipliers import multipliers


def test_simple_ones_are_known_to_rounding():
    found = multipliers(np.diag([0.5, 1.0, -0.9]))
    assert found.values == pytest.approx([1.0, -0.9, 0.5])
    assert found.uncertainty[0] < 1e-14
    assert np.isnan(found.uncertainty[1:]).all()  # far from 1: nobody asks


def test_a_body_that_floats_is_a_double_one_and_says_so():
    """Position and speed of a free body, seen through a coordinate change of its own."""
    turned = np.linalg.qr(np.random.default_rng(4).normal(size=(2, 2)))[0]
    found = multipliers(turned @ [[1.0, 0.001], [0.0, 1.0]] @ turned.T)
    off = np.abs(found.values - 1.0)
    assert off.max() > 1e-10  # the square root of rounding
    assert np.all(off <= 30.0 * found.uncertainty)


def test_nothing_has_none():
    assert multipliers(np.zeros((0, 0))).values.size == 0


def test_a_stiff_scaling_changes_no_bound():
    """Units of signals are a scaling of the numbers: what is known of multipliers is the same."""
    inner = np.array([[1.0, 0.001, 0.0], [-0.1, 0.9999, 2e-4], [0.3, 0.0, 0.999]])
    scale = np.diag([1.0, 1e7, 1e-5])
    plain, scaled = multipliers(inner), multipliers(scale @ inner @ np.linalg.inv(scale))
    assert scaled.values == pytest.approx(plain.values, abs=1e-11)
    assert scaled.uncertainty == pytest.approx(plain.uncertainty, rel=3.0, abs=0.0, nan_ok=True)


@pytest.mark.parametrize("other", [1.0, 1.0 + 2.0**-51, 1.0 + 2.0**-50])
def test_multipliers_that_differ_by_rounding_alone_have_bounds(other):
    """Where one is as far from another as the shift of the inverse iteration."""
    found = multipliers(np.diag([1.0, other, 1.0 - 2.0**-52, 0.5]))
    assert np.all(found.uncertainty[:3] < 1e-14)
