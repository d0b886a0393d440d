"""Modes as they are stepped stand beside the characteristic roots that they are, not the next."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from orchestrator.loops import StateSpace
from orchestrator.loops.delayed_loop import DelayedLoop
from orchestrator.loops.loop_account import _paired

SLOW, QUICK, FASTER = -0.1 + 10j, -0.2 + 20j, -0.3 + 50j


@pytest.fixture
def oscillators():
    """Three that do not act on each other: their roots are those of their matrices."""
    parts = [[[s.real, s.imag], [-s.imag, s.real]] for s in (SLOW, QUICK, FASTER)]
    names = tuple(f"x{i}" for i in range(6))
    matrix, out = block_diag(*parts), np.eye(6)
    space = StateSpace(matrix, np.zeros((6, 1)), out, np.zeros((6, 1)), names, ("u",), names)
    return DelayedLoop.closed(space, {0.01: np.zeros((1, 6))})


def test_by_nearness_where_steps_change_the_order(oscillators):
    """The quick one is damped less than the slow one by its steps, and comes first."""
    sampled = [-0.05 + 20.1j, -0.12 + 10j, -0.3 + 50j]
    found = _paired(oscillators, sampled, 0.01)
    np.testing.assert_allclose(found, [QUICK, SLOW, FASTER], rtol=1e-9)


def test_a_frequency_above_half_of_the_samples_is_told_folded(oscillators):
    """At 0.1 s samples show 50 rad/s at 20 pi - 50 = 12.83 rad/s, the others as they are."""
    folded = complex(-0.3, 2 * np.pi / 0.1 - 50.0)
    sampled = [-0.09 + 10j, -0.2 + 20j, folded]
    found = _paired(oscillators, sampled, 0.1)
    np.testing.assert_allclose(found, [SLOW, QUICK, FASTER], rtol=1e-9)


def test_two_that_are_shifted_do_not_take_the_root_of_one_alike(oscillators):
    """The first lies nearer to the slow root than to its own, which another one is alike to."""
    sampled = [0.5 + 14j, -0.1 + 10.01j]
    found = _paired(oscillators, sampled, 0.01)
    np.testing.assert_allclose(found, [QUICK, SLOW], rtol=1e-9)
