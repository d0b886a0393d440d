from __future__ import annotations

import numpy as np
import pytest

from python_blocks.identification.identifier import Identifier
from python_blocks.identification.triple_identifier import TripleIdentifier

H = 1e-3
K, C = 4e4, 200.0


def motion(seconds, amplitude=5e-3, frequency=3.0):
    """Deformation and its rate, every millisecond, from a start at rest."""
    t = np.arange(0.0, seconds, H)
    w = 2 * np.pi * frequency
    return amplitude * (1 - np.cos(w * t)), amplitude * w * np.sin(w * t)


def fed(block, x, v, force):
    """Feed a block with samples; returns rows of its outputs."""
    block.position, block.velocity, block.force = x[0], v[0], force[0]
    block.initialise(0.0)
    rows = []
    for n in range(1, len(x)):
        block.position, block.velocity, block.force = x[n], v[n], force[n]
        block.step(n * H - H, H)
        rows.append(
            (block.stiffness, block.damping, block.converged, block.excited, block.wrong_sign)
        )
    return np.array(rows, dtype=float)


def test_it_is_the_kalman_filter_of_equation_26():
    """Against matrices written out, without watch and gate."""
    random = np.random.default_rng(26)
    x, v = motion(0.5)
    force = K * x + C * v + random.normal(size=len(x))
    rows = fed(Identifier(gate=1e9, amplitude=0.0, damping_minimum=-1e9), x, v, force)
    Y, P = np.array([10.0, 10.0]), np.diag([1e10, 1e6])
    for n in range(1, len(x)):
        step = np.array([x[n] - x[n - 1], v[n] - v[n - 1]])
        P = P + np.diag([1e2, 1e-2])
        gain = P @ step / (step @ P @ step + 2.0)
        Y = Y + gain * (force[n] - force[n - 1] - step @ Y)
        P = (np.eye(2) - np.outer(gain, step)) @ P
        # The block bounds the stiffness from below, at 0.
        np.testing.assert_allclose(rows[n - 1, :2], [max(Y[0], 0.0), Y[1]], rtol=1e-6, atol=1e-6)


def test_clean_force_gives_exact_values_at_once():
    x, v = motion(0.2)
    rows = fed(Identifier(noise=1e-6), x, v, K * x + C * v)
    # Two samples determine two parameters; the start at rest makes the first ones weak.
    np.testing.assert_allclose(rows[20:, 0], K, rtol=1e-6)
    np.testing.assert_allclose(rows[20:, 1], C, rtol=1e-4)
    assert rows[-1, 2] == rows[-1, 3] == 1.0


def test_a_small_spread_is_slow_to_learn():
    """P0 too small breaks the method: the filter believes its first estimates."""
    random = np.random.default_rng(1)
    x, v = motion(0.4)
    force = K * x + C * v + random.normal(size=len(x))
    wide = fed(Identifier(), x, v, force)
    narrow = fed(Identifier(stiffness_spread=10.0, damping_spread=1.0), x, v, force)
    assert abs(wide[-1, 0] / K - 1) < 0.02
    assert abs(narrow[-1, 0] / K - 1) > 0.2


def test_small_motion_freezes_what_is_known():
    x, v = motion(1.0)
    x2, v2 = motion(1.0, amplitude=2e-5)
    x, v = np.concatenate([x, x[-1] + x2]), np.concatenate([v, v2])
    force = K * x + C * v + np.random.default_rng(3).normal(size=len(x))
    rows = fed(Identifier(window=0.1), x, v, force)
    assert rows[900, 3] == 1.0
    assert rows[-1, 3] == 0.0  # the motion is forgotten
    assert np.ptp(rows[1600:, 0]) == 0.0
    assert abs(rows[-1, 0] / K - 1) < 0.02


def test_another_contact_is_learned_after_a_reset():
    x, v = motion(2.0, amplitude=0.02)
    stiff = np.where(np.arange(len(x)) < 1000, K, 3 * K)
    force = np.concatenate([[0.0], np.cumsum(stiff[1:] * np.diff(x))]) + C * v
    force += np.random.default_rng(4).normal(size=len(x))
    block = Identifier(stiffness_walk=0.1, damping_walk=0.01, gate=10.0)
    rows = fed(block, x, v, force)
    assert block.resets == 1
    assert abs(rows[990, 0] / K - 1) < 0.02
    assert abs(rows[-1, 0] / (3 * K) - 1) < 0.02
    patient = Identifier(stiffness_walk=0.1, damping_walk=0.01, gate=1e9)
    assert abs(fed(patient, x, v, force)[-1, 0] / (3 * K) - 1) > 0.1  # what a reset is for


def test_single_outliers_are_left_out():
    x, v = motion(1.0)
    force = K * x + C * v + np.random.default_rng(5).normal(size=len(x))
    struck = force.copy()
    struck[500::50] += 2e4
    block = Identifier()
    rows = fed(block, x, v, struck)
    assert block.rejected == 20  # each is a change there and a change back
    assert block.resets == 0
    assert abs(rows[-1, 0] / K - 1) < 0.02
    assert abs(fed(Identifier(gate=1e9), x, v, struck)[-1, 0] / K - 1) > 0.05


def test_the_wrong_sign_is_seen():
    x, v = motion(0.3)
    rows = fed(Identifier(), x, v, -K * x - C * v + np.random.default_rng(6).normal(size=len(x)))
    assert rows[-1, 4] == 1.0
    assert rows[-1, 0] == 0.0  # bounded from below
    right = fed(Identifier(), x, v, K * x + C * v)
    assert not right[:, 4].any()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_force_that_is_no_number_teaches_nothing(wrong):
    x, v = motion(0.4)
    force = K * x + C * v
    force[200:220] = wrong
    block = Identifier()
    rows = fed(block, x[:220], v[:220], force[:220])
    assert block.sensor_lost
    assert np.isfinite(rows).all()
    assert np.ptp(rows[200:, 0]) == 0.0
    block.position, block.velocity, block.force = x[220], v[220], force[220]
    block.step(0.22, H)
    assert not block.sensor_lost


def test_a_force_that_stands_still_in_motion_is_lost():
    x, v = motion(0.3)
    force = K * x + C * v
    force[100:] = force[99]
    block = Identifier()
    block.initialise(0.0)
    lost = []
    for n in range(200):
        block.position, block.velocity, block.force = x[n], v[n], force[n]
        block.step(n * H, H)
        lost.append(block.sensor_lost)
    assert np.flatnonzero(lost)[0] == 100 + block.stuck_samples - 1
    assert all(lost[104:])


def test_triple_is_three_singles():
    random = np.random.default_rng(7)
    x, v = motion(0.3)
    block = TripleIdentifier()
    block.initialise(0.0)
    singles = [Identifier() for _ in range(3)]
    for single in singles:
        single.initialise(0.0)
    for n in range(len(x)):
        for i, single in enumerate(singles):
            single.position = block.position[i] = (i + 1) * x[n]
            single.velocity = block.velocity[i] = (i + 1) * v[n]
            single.force = block.force[i] = K * single.position + random.normal()
            single.step(n * H, H)
        block.step(n * H, H)
    for name in ("stiffness", "damping", "deviation", "data_deviation", "converged", "rejected"):
        assert getattr(block, name).tolist() == [float(getattr(s, name)) for s in singles]
