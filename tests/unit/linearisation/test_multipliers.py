import numpy as np
import pytest

from orchestrator.linearisation.multipliers import multipliers


def test_simple_ones_are_known_to_rounding():
    found = multipliers(np.diag([0.5, 1.0, -0.9]))
    assert found.values == pytest.approx([1.0, -0.9, 0.5])
    assert found.uncertainty.max() < 1e-14


def test_a_body_that_floats_is_a_double_one_and_says_so():
    """Position and speed of a free body, seen through a coordinate change of its own."""
    turned = np.linalg.qr(np.random.default_rng(4).normal(size=(2, 2)))[0]
    found = multipliers(turned @ [[1.0, 0.001], [0.0, 1.0]] @ turned.T)
    off = np.abs(found.values - 1.0)
    assert off.max() > 1e-10  # the square root of rounding
    assert np.all(off <= 30.0 * found.uncertainty)


def test_nothing_has_none():
    assert multipliers(np.zeros((0, 0))).values.size == 0
