import numpy as np
import pytest
from scipy.signal import StateSpace as Reference
from scipy.signal import cont2discrete, lsim

from orchestrator.loops.state_space import StateSpace, of_transition

A = np.array([[0.0, 1.0], [-4.0, -0.3]])
B = np.array([[0.0, 0.5], [1.0, 0.0]])
C = np.array([[1.0, 0.2]])
D = np.array([[0.0, 0.7]])


def space():
    return StateSpace(A, B, C, D, ("x1", "x2"), ("u", "v"), ("y",))


def test_a_step_with_held_inputs_is_scipys():
    whole = space().transition(0.1, order=0)
    a, b, *_ = cont2discrete((A, B, C, D), 0.1)
    assert whole[:2, :2] == pytest.approx(a, abs=1e-14)
    assert whole[:2, 2:] == pytest.approx(b, abs=1e-14)
    # The output is that of the end of the step.
    assert whole[2:] == pytest.approx(np.hstack([C @ a, C @ b + D]), abs=1e-14)


def test_a_step_along_straight_inputs_is_scipys():
    whole = space().transition(0.1, order=1)
    begin, slope, x0 = np.array([0.3, -1.0]), np.array([2.0, 5.0]), np.array([0.1, 0.4])
    t = np.linspace(0.0, 0.1, 2001)
    _, y, x = lsim(Reference(A, B, C, D), begin + np.outer(t, slope), t, X0=x0)
    after = whole @ [*x0, *begin, *slope]
    # lsim takes its inputs as straight between samples, too.
    assert after == pytest.approx([*x[-1], y[-1]], rel=1e-10)


def test_the_model_of_a_step_is_the_one_that_makes_it():
    found = of_transition(space().transition(0.1, order=0), 0.1, ("x1", "x2"), ("u", "v"), ("y",))
    for given, back in zip((A, B, C, D), (found.a, found.b, found.c, found.d), strict=True):
        assert back == pytest.approx(given, abs=1e-12)


def test_a_state_that_is_forgotten_has_no_rate():
    whole = np.array([[0.0, 1.0], [1.0, 0.0]])  # the input of the step before
    assert of_transition(whole, 0.1, ("x",), ("u",), ("y",)) is None
