import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study.measure import fit_growth


def oscillation(t, sigma, omega, amplitude=0.02, phase=0.4, offset=3e-3):
    return offset + amplitude * np.exp(sigma * t) * np.cos(omega * t + phase)


@pytest.mark.parametrize("step", [1e-3, 8e-3])
@pytest.mark.parametrize("sigma", [0.0134, -0.0134, 0.0])
def test_clean_data(sigma, step):
    t = np.arange(0.0, 60.0, step)
    fit = fit_growth(t, oscillation(t, sigma, 1.83))
    # Asked 1e-7; clean data leaves rounding only.
    assert fit.sigma == pytest.approx(sigma, abs=1e-11)
    assert fit.omega == pytest.approx(1.83, abs=1e-11)
    assert fit.offset == pytest.approx(3e-3, abs=1e-11)
    assert fit.amplitude == pytest.approx(0.02, abs=1e-11)
    assert fit.phase == pytest.approx(0.4, abs=1e-9)
    assert fit.residual_rms < 1e-12
    assert fit.sigma_error < 1e-11
    assert fit.frequency == pytest.approx(1.83 / (2 * np.pi))


@pytest.mark.parametrize("sigma", [4.0, 8.0, 15.0])
def test_growth_by_many_decades(sigma):
    """Only its end counts: e^120 is more than the fit and its first guess can hold."""
    t = np.arange(0.0, 8.0, 1e-3)
    fit = fit_growth(t, oscillation(t, sigma, 27.0) + np.exp(0.5 * sigma * t))
    assert fit.sigma == pytest.approx(sigma, rel=1e-6)
    assert fit.omega == pytest.approx(27.0, rel=1e-6)
    assert fit.start > 3.0


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    sigma=st.floats(-0.15, 0.15),
    omega=st.floats(0.35, 40.0),
    phase=st.floats(-3.0, 3.0),
    offset=st.floats(-10.0, 10.0),
)
def test_any_rate_frequency_phase_and_offset(sigma, omega, phase, offset):
    """From two periods in the record to hundreds, decaying to 1e-4 or growing as much."""
    t = np.linspace(5.0, 65.0, 7501)
    fit = fit_growth(t, oscillation(t - 5.0, sigma, omega, 1.0, phase, offset))
    assert fit.sigma == pytest.approx(sigma, abs=1e-7)
    assert fit.omega == pytest.approx(omega, abs=1e-7)


@pytest.mark.parametrize(("sigma", "omega", "span"), [(0.05, 1.83, 60.0), (-0.02, 7.0, 20.0)])
def test_standard_errors_are_those_of_scipys_least_squares(sigma, omega, span):
    t = np.linspace(0.0, span, 1500)
    noisy = oscillation(t, sigma, omega) + np.random.default_rng(3).normal(0.0, 1e-3, t.size)
    fit = fit_growth(t, noisy)
    found, covariance = curve_fit(oscillation, t, noisy, (sigma, omega, 0.02, 0.4, 3e-3))
    errors = np.sqrt(np.diag(covariance))
    assert (fit.sigma, fit.omega) == pytest.approx(found[:2], rel=1e-5)
    assert (fit.sigma_error, fit.omega_error) == pytest.approx(errors[:2], rel=1e-3)
    assert (fit.amplitude, fit.phase, fit.offset) == pytest.approx(found[2:], rel=1e-4)


@pytest.mark.slow
def test_standard_errors_tell_the_spread():
    """Over 60 seeds, errors divided by their standard errors have a spread of 1 (+- 4 sigma)."""
    t = np.arange(0.0, 60.0, 8e-3)
    clean = oscillation(t, 0.0134, 1.83)
    pulls = []
    for seed in range(60):
        noisy = clean + np.random.default_rng(seed).normal(0.0, 2e-3, t.size)
        fit = fit_growth(t, noisy)
        assert fit.residual_rms == pytest.approx(2e-3, rel=0.05)
        pulls.append([(fit.sigma - 0.0134) / fit.sigma_error, (fit.omega - 1.83) / fit.omega_error])
    np.testing.assert_allclose(np.std(pulls, axis=0), 1.0, atol=4.0 / np.sqrt(2 * 60))


@pytest.mark.slow
def test_noise_as_large_as_the_signal():
    t = np.arange(0.0, 60.0, 1e-3)
    x = oscillation(t, -0.0134, 1.83) + np.random.default_rng(1).normal(0.0, 0.02, t.size)
    fit = fit_growth(t, x)
    assert abs(fit.sigma + 0.0134) < 4.0 * fit.sigma_error
    assert fit.sigma_error < 1e-3


def test_uneven_times_and_a_transient_left_out():
    t = np.sort(np.random.default_rng(2).uniform(0.0, 60.0, 5000))
    x = oscillation(t, 0.0134, 1.83) + np.where(t < 3.0, 1.0, 0.0)
    fit = fit_growth(t, x, start=3.0)
    assert fit.sigma == pytest.approx(0.0134, abs=1e-10)
    assert fit.start >= 3.0
    assert fit.amplitude == pytest.approx(0.02 * np.exp(0.0134 * fit.start), rel=1e-9)


@pytest.mark.parametrize(
    ("t", "x"),
    [
        (np.arange(500.0), np.full(500, 9.81)),
        (np.arange(500.0), np.zeros(500)),
        (np.linspace(0.0, 5.0, 500), np.cos(1.83 * np.linspace(0.0, 5.0, 500))),
        (np.linspace(0.0, 5.0, 500), np.linspace(0.0, 5.0, 500)),
        (np.arange(5.0), np.arange(5.0)),
        (np.arange(50.0), np.arange(40.0)),
        (np.arange(50.0), np.r_[np.nan, np.arange(49.0)]),
        (np.zeros(50), np.arange(50.0)),
    ],
)
def test_unusable_data_is_refused(t, x, wording):
    with wording.raises(DescriptionError):
        fit_growth(t, x)
