import numpy as np
import pytest
from scipy.special import lambertw

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact import ContactLoop
from orchestrator.loops.delayed_loop import DelayedLoop
from orchestrator.loops.state_space import StateSpace


def space(a, b, c, d):
    a, b, c, d = map(np.array, (a, b, c, d))
    names = [tuple(str(i) for i in range(n)) for n in (len(a), b.shape[1], len(c))]
    return StateSpace(a.astype(float), b.astype(float), c.astype(float), d.astype(float), *names)


def test_one_integrator_with_a_delay_has_the_roots_of_lambert():
    """x' = -k x(t - h): s h = W(-k h), branch by branch."""
    loop = DelayedLoop.closed(space([[0]], [[1]], [[1]], [[0]]), {0.5: np.array([[-2.0]])})
    exact = sorted(
        {complex(w.real, abs(w.imag)) for w in (lambertw(-1.0, k) / 0.5 for k in range(4))},
        key=lambda s: -s.real,
    )
    found = loop.roots(4)
    assert len(found) == 4
    assert np.array(found) == pytest.approx(np.array(exact), rel=1e-11)


@pytest.mark.parametrize(("b", "delay"), [(20.0, 0.016), (60.0, 0.016), (60.0, 0.04), (5.0, 0.2)])
def test_a_contact_loop_has_the_roots_of_its_quasi_polynomial(b, delay):
    k, m = 2510.0, 750.0
    loop = DelayedLoop.closed(
        space([[0, 1], [0, 0]], [[0], [1 / m]], [[k, b]], [[0]]), {delay: np.array([[-1.0]])}
    )
    assert loop.roots(1)[0] == pytest.approx(ContactLoop(m, k, b, delay).rightmost_root, rel=1e-11)


def test_two_delays_and_feed_through_are_one_delay_of_their_sum():
    """The force of a spring that is late twice, through a component without states."""
    k, m = 2510.0, 750.0
    split = space([[0, 1], [0, 0]], [[0, 0], [1 / m, 0]], [[1, 0.02], [0, 0]], [[0, 0], [0, -k]])
    gains = {0.01: np.array([[0.0, 0.0], [1.0, 0.0]]), 0.006: np.array([[0.0, 1.0], [0.0, 0.0]])}
    whole = space([[0, 1], [0, 0]], [[0], [1 / m]], [[k, 0.02 * k]], [[0]])
    one = DelayedLoop.closed(whole, {0.016: np.array([[-1.0]])})
    assert DelayedLoop.closed(split, gains).roots(2) == pytest.approx(one.roots(2), rel=1e-10)


def test_a_guess_far_to_the_left_is_no_root_and_no_warning():
    """Warnings are errors in tests; exp(-s delay) is beyond all numbers there."""
    loop = DelayedLoop.closed(space([[0]], [[1]], [[1]], [[0]]), {0.5: np.array([[-49.0]])})
    assert [loop.polished(guess) for guess in (-1e4, -1e5 + 3e3j)] == [None, None]


def test_without_delays_the_roots_are_eigenvalues():
    a = np.array([[0.0, 1.0], [-9.0, -0.2]])
    loop = DelayedLoop.closed(space(a, [[0], [1]], [[1, 0]], [[0]]), {0.0: np.array([[-7.0]])})
    exact = np.linalg.eigvals(a + np.array([[0.0, 0.0], [-7.0, 0.0]]))
    assert loop.roots(1)[0] == pytest.approx(exact[np.argmax(exact.imag)], rel=1e-12)


def test_a_ring_of_gain_one_without_a_delay_is_refused(wording):
    with wording.raises(DescriptionError):
        DelayedLoop.closed(
            space(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[1]]),
            {0.0: np.array([[1.0]])},
        )
