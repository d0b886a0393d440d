"""What an identifier says against its own estimates: they are wrong, and the deviation is not."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from python_blocks.identification.identifier import Identifier
from python_blocks.identification.triple_identifier import TripleIdentifier
from python_blocks.kinematics.differentiator import Differentiator

H = 1e-3
K, C = 4e4, 200.0


def motion(seconds=2.0, amplitude=5e-3, frequency=2.0):
    t = np.arange(0.0, seconds, H)
    w = 2 * np.pi * frequency
    return amplitude * (1 - np.cos(w * t)), amplitude * w * np.sin(w * t)


def force_of(x, v, sigma=1.0):
    return K * x + C * v + np.random.default_rng(1).normal(scale=sigma, size=len(x))


def fed(block, x, v, force):
    """Feed a block; returns whether the stiffness counted as known."""
    known = []
    for n, (block.position, block.velocity, block.force) in enumerate(
        zip(x, v, force, strict=True)
    ):
        block.initialise(0.0) if n == 0 else block.step(n * H - H, H)
        known.append(block.converged)
    return np.array(known)


def test_nothing_is_said_against_a_filter_that_is_told_the_truth():
    x, v = motion()
    block = Identifier()
    assert fed(block, x, v, force_of(x, v))[300:].all()
    assert block.nis == pytest.approx(1.0, abs=0.3)  # 1 within the scatter of 1000 samples
    assert abs(block.trend) < 1.5
    assert block.attenuation_bias < 1e-6
    assert not block.force_late


def test_noise_of_the_position_is_measured_by_the_velocity():
    """The stiffness loses the share that is shown; the integral of the velocity does not."""
    x, v = motion()
    force = force_of(x, v)
    noisy = x + np.random.default_rng(2).normal(scale=1e-5, size=len(x))
    block = Identifier(damping_minimum=-1e9)
    assert not fed(block, noisy, v, force)[500:].any()
    # Differences have a mean square of (5 mm w h)^2 / 2 = 2.0e-9 m^2, their noise 2 sigma^2.
    share = 2 * 1e-5**2 / (1.974e-9 + 2 * 1e-5**2)
    assert block.attenuation_bias == pytest.approx(share, rel=0.1)
    assert 1 - block.stiffness / K == pytest.approx(share, abs=0.01)
    cured = Identifier(integrated=True)
    assert fed(cured, noisy, v, force)[300:].all()
    assert cured.stiffness == pytest.approx(K, rel=0.01)
    assert cured.attenuation_bias == pytest.approx(block.attenuation_bias)


def test_more_noise_than_was_told_shows_in_the_normalised_innovation():
    x, v = motion()
    block = Identifier()
    known = fed(block, x, v, force_of(x, v, sigma=6.0))
    assert block.nis == pytest.approx(36.0, rel=0.3)
    assert not known[1000:].any()  # 36 (1 - exp(-t / 0.5 s)) passes 25 after 0.6 s
    assert fed(Identifier(nis_limit=100.0), x, v, force_of(x, v, sigma=6.0))[1000:].all()


def test_a_filter_that_is_too_sure_to_learn_shows_a_trend():
    x, v = motion()
    sure = Identifier(stiffness_spread=300.0)
    known = fed(sure, x, v, force_of(x, v))
    assert sure.deviation < 0.05 * sure.stiffness  # it believes that it knows
    assert sure.stiffness < 0.8 * K
    assert sure.trend > 3.0
    assert not known[500:].any()


@pytest.mark.parametrize("spread", [1e4, 3e3, 1e3, 300.0, 100.0])
def test_a_small_first_deviation_makes_no_wrong_stiffness_known(spread):
    """What the data alone say counts, not how sure the filter was told to be."""
    x, v = motion(4.0)
    block = Identifier(stiffness_spread=spread, trend_limit=1e9)
    rows = []
    for n, (block.position, block.velocity, block.force) in enumerate(
        zip(x, v, force_of(x, v), strict=True)
    ):
        block.initialise(0.0) if n == 0 else block.step(n * H - H, H)
        rows.append((block.converged, block.stiffness, block.deviation, block.data_deviation))
    known, k, deviation, by_data = np.array(rows).T
    wrong = np.abs(k / K - 1.0)
    assert wrong[known == 1.0].max(initial=0.0) < 0.06
    believed = deviation < 0.05 * k
    if spread <= 1e3:  # it believes in what is more than 10 % off, and the data do not
        assert wrong[believed].max() > 0.1
        assert (by_data[believed & (wrong > 0.1)] > 0.05 * K).all()


def test_the_data_alone_say_what_a_filter_without_a_prior_does():
    """Against least squares of all samples, for a stiffness and damping that do not walk."""
    x, v = motion(0.5)
    force = force_of(x, v)
    block = Identifier(stiffness_spread=500.0, stiffness_walk=0.0, damping_walk=0.0)
    fed(block, x, v, force)
    rows = np.column_stack([np.diff(x), np.diff(v)])
    free, _ = np.linalg.lstsq(rows, np.diff(force))[0]
    variance = 2.0 * np.linalg.inv(rows.T @ rows)[0, 0]
    assert block.data_deviation == pytest.approx(np.hypot(variance**0.5, block.stiffness - free))


def test_samples_without_noise_determine_it_at_once():
    x, v = motion(0.5)
    block = Identifier(noise=1e-9)
    assert fed(block, x, v, K * x + C * v)[20:].all()
    assert block.data_deviation == pytest.approx(block.deviation, rel=0.01)
    assert block.deviation < 50.0  # what it walks by while it moves slowly


def test_without_a_sample_the_data_say_nothing():
    block = Identifier()
    block.initialise(0.0)
    assert block.data_deviation == 1e9
    assert not block.converged


@pytest.mark.parametrize(("samples", "late"), [(0, False), (10, True), (-10, False)])
def test_a_force_later_than_the_motion_looks_like_negative_damping(samples, late):
    x, v = motion()
    force = np.roll(force_of(x, v, 0.1), samples)
    block = Identifier(damping_minimum=-1e9, noise=0.1)
    inside = slice(20, len(x) - 20)
    fed(block, x[inside], v[inside], force[inside])
    assert block.damping == pytest.approx(C - K * samples * H, abs=10.0)
    assert block.force_late == late


def test_one_outlier_is_soon_forgotten():
    x, v = motion()
    force = force_of(x, v)
    force[1000] += 1e9
    block = Identifier()
    known = fed(block, x, v, force)
    assert known[950:].all()
    assert block.nis < 2.0


def test_the_triple_says_the_same():
    x, v = motion()
    noisy = x + np.random.default_rng(2).normal(scale=5e-6, size=len(x))
    identifier, three = Identifier(), TripleIdentifier()
    fed(identifier, noisy, v, force_of(x, v))
    columns = [np.column_stack([part] * 3) for part in (noisy, v, force_of(x, v))]
    fed(three, *columns)
    for name in ("nis", "trend", "attenuation_bias", "force_late", "converged"):
        np.testing.assert_array_equal(getattr(three, name), [float(getattr(identifier, name))] * 3)


def test_differentiator():
    block = Differentiator(position=1.0)
    block.initialise(0.0)
    assert block.velocity == 0.0
    found = []
    for n in range(1, 5):
        block.position = 1.0 + 2e-3 * n**2
        block.step((n - 1) * H, H)
        found.append(block.velocity)
    np.testing.assert_allclose(found, [2.0, 6.0, 10.0, 14.0], rtol=1e-9)  # in the middles


def test_differentiator_behind_a_low_pass(wording):
    """A ramp comes out a time constant late, of the sampled low-pass: keep/(1 - keep) steps."""
    block = Differentiator(position=0.0, smoothing=5e-3)
    block.initialise(0.0)
    for n in range(1, 200):
        block.position = 3.0 * (n * H) ** 2
        block.step(0.0, H)
    keep = np.exp(-0.2)
    late = 0.5 + keep / (1 - keep)
    assert block.velocity == pytest.approx(6.0 * (199 - late) * H, rel=1e-9)
    with wording.raises(DescriptionError):
        Differentiator(smoothing=-1.0).initialise(0.0)


@pytest.mark.parametrize("sigma", [0.0, 1.0])
def test_the_stiffness_is_known_at_a_constant_velocity(sigma):
    """No difference has a part of the damping then: least squares of the stiffness alone."""
    v = np.full(1000, 0.05)
    x = 0.05 * H * np.arange(1000)
    block = Identifier(stiffness_walk=0.0, damping_walk=0.0)
    known = fed(block, x, v, force_of(x, v, sigma))
    assert known[500:].all()
    assert block.stiffness == pytest.approx(K, rel=0.01)
    # Each of 999 differences has twice the variance of a force, (1 N)^2, over 50 um.
    assert block.data_deviation == pytest.approx(np.sqrt(2.0 / 999) / 5e-5, rel=0.02)
