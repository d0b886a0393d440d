from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact import ContactLoop, pade_coefficients, pade_phase

loops = st.builds(
    ContactLoop,
    mass=st.floats(10.0, 2000.0),
    stiffness=st.just(0.0),
    damping=st.floats(5.0, 300.0),
    delay=st.floats(1e-3, 0.05),
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(loop=loops)
def test_exact_limit_separates_stable_from_unstable(loop):
    limit = loop.stiffness_limit_exact
    if limit == 0.0:
        assert loop.damping * loop.delay / loop.mass >= np.pi / 2
        return
    for factor in (0.01, 0.5, 1.0 - 1e-6):
        below = ContactLoop(loop.mass, factor * limit, loop.damping, loop.delay)
        assert below.is_stable
    above = ContactLoop(loop.mass, (1.0 + 1e-6) * limit, loop.damping, loop.delay)
    assert not above.is_stable


@settings(max_examples=20, deadline=None)
@given(loop=loops, order=st.integers(1, 5))
def test_pade_limit_separates_stable_from_unstable_polynomials(loop, order):
    """The limit by the all-pass phase agrees with the eigenvalues of the polynomial."""
    limit = loop.stiffness_limit_pade(order)
    if limit == 0.0:
        return
    numerator, denominator = pade_coefficients(order, 1.0)

    def growth(stiffness: float) -> float:
        # time counted in delays: m/h^2 z^2 D(z) + (K + b/h z) N(z)
        open_loop = np.convolve([loop.mass / loop.delay**2, 0.0, 0.0], denominator)
        feedback = np.convolve([loop.damping / loop.delay, stiffness], numerator)
        return float(np.max(np.roots(np.polyadd(open_loop, feedback)).real))

    # 1e-4: np.roots resolves real parts to about 1e-12 of the largest root.
    assert growth(limit * (1.0 - 1e-4)) < 0.0 < growth(limit * (1.0 + 1e-4))


@settings(max_examples=50, deadline=None)
@given(loop=loops)
def test_first_order_pade_is_equation_12(loop):
    assert loop.stiffness_limit_pade(1) == pytest.approx(
        loop.stiffness_limit_closed_form, rel=1e-9, abs=1e-6
    )


def test_pade_limits_converge_to_the_exact_one():
    loop = ContactLoop(750.0, 0.0, 200.0, 1.0)  # b h / m = 0.27: far from the delay-free loop
    errors = [abs(loop.stiffness_limit_pade(n) - loop.stiffness_limit_exact) for n in range(1, 7)]
    # Up to the phase error of Pade, of order (w h)^(2 n + 1): each order gains a factor > 10.
    assert all(late < 0.1 * early or late < 1e-10 for early, late in pairwise(errors))
    assert loop.stiffness_limit_pade(20) == pytest.approx(loop.stiffness_limit_exact, rel=1e-12)


def test_limits_at_the_edges():
    assert ContactLoop(750.0, 1.0, 0.0, 0.016).stiffness_limit_exact == 0.0
    assert ContactLoop(750.0, 1.0, 0.0, 0.016).stiffness_limit_closed_form == 0.0
    assert ContactLoop(750.0, 1.0, 20.0, 0.0).stiffness_limit_exact == np.inf
    assert ContactLoop(750.0, 1.0, 20.0, 0.0).stiffness_limit_closed_form == np.inf
    assert ContactLoop(1.0, 1.0, 200.0, 0.016).stiffness_limit_closed_form == 0.0
    assert ContactLoop(1.0, 1.0, 200.0, 0.016).stiffness_limit_exact == 0.0


def test_undelayed_loop_is_the_damped_oscillator():
    loop = ContactLoop(2.0, 50.0, 4.0, 0.0)
    assert loop.rightmost_root == pytest.approx(-1.0 + 1j * np.sqrt(24.0), rel=1e-12)
    assert loop.delay_margin.additional == loop.delay_margin.delay


def test_wrong_values_are_raised_together():
    with pytest.raises(DescriptionError) as caught:
        ContactLoop(0.0, -1.0, np.nan, 0.1)
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("order", range(1, 9))
def test_pade_is_an_all_pass_with_the_delay_s_series(order):
    numerator, denominator = pade_coefficients(order, 0.3)
    w = np.linspace(0.1, 5.0, 7)
    ratio = np.polyval(numerator, 1j * w) / np.polyval(denominator, 1j * w)
    np.testing.assert_allclose(np.abs(ratio), 1.0, rtol=1e-13)
    near = 0.05 / 0.3
    error = np.polyval(numerator, near) / np.polyval(denominator, near) - np.exp(-0.05)
    assert abs(error) < max(0.05 ** (2 * order + 1), 1e-15)
    assert pade_phase(order, 0.05) == pytest.approx(0.05, abs=max(0.05 ** (2 * order + 1), 1e-15))


def test_pade_refuses_order_zero(wording):
    with wording.raises(DescriptionError):
        pade_coefficients(0, 0.1)
