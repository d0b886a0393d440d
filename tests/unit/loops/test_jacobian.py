import numpy as np
import pytest

from orchestrator.loops.block_model import jacobian


def test_smooth_functions_to_ten_digits():
    def function(x):
        return np.array([np.sin(x[0]) * x[1], np.exp(x[1]), x[0] ** 3])

    found = jacobian(function, np.array([0.7, -0.4]), np.array([1.0, 1.0]))
    exact = [[np.cos(0.7) * -0.4, np.sin(0.7)], [0.0, np.exp(-0.4)], [3 * 0.49, 0.0]]
    assert found.matrix == pytest.approx(np.array(exact), abs=1e-10)
    assert found.kinks == ()


@pytest.mark.parametrize(("at", "kinks"), [(0.0, (0,)), (0.5, ()), (-0.5, ())])
def test_a_contact_that_is_just_open_is_told(at, kinks):
    found = jacobian(lambda x: np.maximum(x, 0.0), np.array([at]), np.array([1.0]))
    assert found.kinks == kinks


def test_rounding_is_no_kink():
    found = jacobian(lambda x: 1e6 + 1e-3 * x, np.array([0.0]), np.array([1.0]))
    assert found.kinks == ()
