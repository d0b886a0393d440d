import numpy as np
import pytest
from scipy.linalg import expm, logm, matrix_balance

from orchestrator.loops.state_space import balanced, exponential, logarithm


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 40.0])
def test_exponentials_are_those_of_scipy(size):
    matrix = size * np.random.default_rng(1).normal(size=(7, 7))
    expected = expm(matrix)
    assert np.abs(exponential(matrix) - expected).max() <= 1e-12 * np.abs(expected).max()


def test_the_exponential_of_a_stiff_loop_keeps_its_slow_part():
    """An axis of 1 Hz beside one of 1 MHz: squared 36 times, it would lose 10 digits."""
    slow, fast = (np.array([[0.0, 1.0], [-w * w, -0.02 * w]]) for w in (6.28, 6.28e6))
    whole = np.block([[slow, np.zeros((2, 2))], [np.zeros((2, 2)), fast]]) * 1e-3
    assert exponential(whole)[:2, :2] == pytest.approx(expm(slow * 1e-3), rel=1e-9)


@pytest.mark.parametrize("size", [0.03, 0.2])
def test_logarithms_near_the_identity_are_those_of_scipy(size):
    scale = np.diag([1.0, 1e3, 1e-3, 1.0, 10.0])  # units of signals
    away = size * np.random.default_rng(2).uniform(-0.5, 0.5, size=(5, 5))
    matrix = np.eye(5) + scale @ away @ np.linalg.inv(scale)
    found = np.linalg.inv(scale) @ logarithm(matrix) @ scale
    assert found == pytest.approx(np.real(logm(np.eye(5) + away)), abs=1e-14)


def test_logarithms_far_from_it_are_scipys():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert logarithm(turn) == pytest.approx(0.5 * np.pi * turn, abs=1e-14)


def test_balancing_scales_as_far_as_lapack_does():
    draw = np.random.default_rng(3)
    scale = np.diag(10.0 ** draw.uniform(-6.0, 6.0, 8))
    matrix = scale @ draw.normal(size=(8, 8)) @ np.linalg.inv(scale)
    values = balanced(matrix)
    assert np.linalg.norm(values) <= 1.05 * np.linalg.norm(matrix_balance(matrix, permute=False)[0])
    assert np.diag(values) == pytest.approx(np.diag(matrix), abs=0.0)
