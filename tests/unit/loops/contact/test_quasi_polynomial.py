import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact import QuasiPolynomial


def test_roots_of_an_undelayed_loop_are_those_of_the_polynomial():
    roots = QuasiPolynomial([1.0, 3.0], [2.0], 0.0).rightmost_roots(5)
    np.testing.assert_allclose(roots, [-5.0])


def test_scalar_loop_reaches_the_axis_at_a_quarter_turn():
    # x' = -k x(t - tau) oscillates at w = k when tau = pi / (2 k)
    margin = QuasiPolynomial([1.0, 0.0], [2.0], 0.5).delay_margin()
    assert margin.delay == pytest.approx(np.pi / 4, rel=1e-14)
    assert margin.additional == pytest.approx(np.pi / 4 - 0.5, rel=1e-13)
    assert margin.frequency == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("delay", [1e-6, 1e-2, 1.0, 1e3])
def test_double_root_is_found_twice_at_any_time_scale(delay):
    # s + exp(-1)/tau exp(-s tau) has the double root -1/tau
    roots = QuasiPolynomial([1.0, 0.0], [np.exp(-1.0) / delay], delay).rightmost_roots(4) * delay
    # A double root is determined to the square root of the machine precision only.
    np.testing.assert_allclose(roots[:2], [-1.0, -1.0], atol=1e-7)
    np.testing.assert_allclose(roots[2:], [-3.0888430 + 7.4614893j, -3.0888430 - 7.4614893j])


def test_triple_root_is_found_three_times():
    # (s^2 + a s + c) + d exp(-s) with f(-1) = f'(-1) = f''(-1) = 0
    d = -2.0 * np.exp(-1.0)
    a = d * np.e + 2.0
    c = a - 1.0 - d * np.e
    quasi = QuasiPolynomial([1.0, a, c], [d], 1.0)
    roots = quasi.rightmost_roots(3)
    np.testing.assert_allclose(roots, [-1.0, -1.0, -1.0], atol=1e-5)
    assert quasi.roots_right_of(-1.5) == 3


def test_crossings_of_a_loop_that_becomes_stable_again():
    p, q = [1.0, 0.2, 4.0], [1.5]
    crossings = QuasiPolynomial(p, q, 0.0).crossings()
    assert [crossing.direction for crossing in crossings] == [1, -1]
    for crossing in crossings:
        for turn in (0, 1, 2):
            at = QuasiPolynomial(p, q, crossing.delay(turn))
            assert abs(at(1j * crossing.frequency)) < 1e-12
    assert QuasiPolynomial(p, q, 0.1).is_stable
    assert not QuasiPolynomial(p, q, 1.0).is_stable
    assert QuasiPolynomial(p, q, 2.0).is_stable


def test_unstable_or_undamped_loop_has_no_margin():
    assert QuasiPolynomial([1.0, 0.0, 0.0], [4.0], 0.1).delay_margin().delay == 0.0
    margin = QuasiPolynomial([1.0, -3.0], [1.0], 0.1).delay_margin()
    assert (margin.delay, margin.additional) == (0.0, -0.1)


def test_loop_that_no_delay_upsets():
    margin = QuasiPolynomial([1.0, 2.0], [1.0], 7.0).delay_margin()
    assert margin.delay == margin.additional == np.inf


coefficient = st.floats(-4.0, 4.0, allow_subnormal=False).map(lambda x: round(x, 3))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    p=st.lists(coefficient, min_size=1, max_size=3),
    q=st.lists(coefficient, min_size=1, max_size=3),
    delay=st.sampled_from([0.0, 1e-3, 0.1, 1.0, 3.0, 10.0]),
)
@example(p=[-1.5, -1.5, 0.844], q=[0.672, -1.5, 0.0], delay=0.1)  # Newton strays
@example(p=[0.5, 2.1, 0.1], q=[-1.067], delay=3e-4)  # a chain of roots far left
@example(p=[-0.4, 0.5, 0.3], q=[0.004], delay=2e-3)  # a real root in that chain
@example(p=[1.296, 0.0], q=[3.125, 0.0], delay=0.1)  # a root at 0
@example(p=[1.5, 0.0], q=[1.5, 0.0], delay=0.1)
def test_no_root_is_missed(p, q, delay):
    """The argument principle counts what Newton's method found, and every root is one."""
    q = q[: len(p)]
    assume(any(q))
    quasi = QuasiPolynomial([1.0, *p], q, delay)
    roots = quasi.rightmost_roots(6)
    gaps = -np.diff(roots.real)
    scale = 1.0 + np.abs(roots[:-1])
    wide = np.flatnonzero(gaps > 1e-3 * scale)
    for index in wide:
        line = 0.5 * (roots.real[index] + roots.real[index + 1])
        assert quasi.roots_right_of(line) == index + 1
    sizes = np.polyval(np.abs(quasi.p), np.abs(roots)) + np.polyval(
        np.abs(quasi.q), np.abs(roots)
    ) * np.exp(-roots.real * delay)
    # Multiple roots (double zeros of the delay-free polynomial) keep half the digits.
    assert np.all(np.abs(quasi(roots)) <= 1e-9 * sizes)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    p=st.lists(st.floats(0.1, 4.0), min_size=2, max_size=2),
    damping=st.floats(-0.05, 3.0),
    excess=st.floats(0.2, 3.0),
)
def test_margin_separates_stable_from_unstable(p, damping, excess):
    # Stable without a delay, and |q(0)| > |p(0)|, so that some delay upsets it.
    q = [damping, p[1] + excess]
    quasi = QuasiPolynomial([1.0, *p], q, 0.0)
    margin = quasi.delay_margin()
    assert 1e-3 < margin.delay < 200.0
    assert QuasiPolynomial([1.0, *p], q, margin.delay * 0.99).is_stable
    root = QuasiPolynomial([1.0, *p], q, margin.delay).rightmost_roots(1)[0]
    assert abs(root.real) < 1e-9
    assert root.imag == pytest.approx(margin.frequency, abs=1e-8)


def test_too_long_a_delay_is_refused_with_advice(wording):
    with wording.raises(DescriptionError):
        QuasiPolynomial([1.0, 0.1, 1e8], [1e3], 1.0).rightmost_roots(2)


@pytest.mark.parametrize(
    ("p", "q", "delay"),
    [
        ([1.0, 0.0], [1.0, 2.0], 1.0),
        ([1.0], [0.0], 1.0),
        ([1.0, np.nan], [1.0], 1.0),
        ([1.0, 0.0], [[1.0]], 1.0),
        ([1.0, 0.0], [1.0], -1.0),
    ],
)
def test_wrong_descriptions_are_refused(p, q, delay, wording):
    with wording.raises(DescriptionError):
        QuasiPolynomial(p, q, delay)


def test_a_root_on_the_line_cannot_be_counted(wording):
    with wording.raises(DescriptionError):
        QuasiPolynomial([1.0, 0.0], [2.0], np.pi / 4).roots_right_of(0.0)
