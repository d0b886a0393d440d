"""Friction along a contact: regularised, and with stick."""

import numpy as np
import pytest

from orchestrator.core.simunits.registry import block_class


def slide(block, mass, load, h=1e-4, seconds=1.0, speed=0.0):
    """A body under a load and the block's friction; position and speed over time."""
    x, v, rows = 0.0, speed, []
    for i in range(round(seconds / h)):
        block.velocity = v
        block.step(i * h, h)
        v += h * (load + block.force) / mass
        x += h * v
        rows.append((x, v, block.force, block.dissipated))
    return np.array(rows).T


def test_regularised_friction_creeps_as_it_says():
    block = block_class("regularised_friction")(mu=0.2, normal=100.0, slip=1e-3)
    _, v, force, _ = slide(block, 1.0, 10.0)
    assert v[-1] == pytest.approx(1e-3 * 10.0 / np.sqrt(20.0**2 - 10.0**2), rel=1e-6)
    block.velocity = -7.1e-3
    block.step(0.0, 0.0)
    assert 0.99 * 20.0 < block.force < 20.0
    assert force[-1] == pytest.approx(-10.0)


def test_sticking_friction_bears_a_load_at_rest():
    """Below mu N/2, so that it does not overshoot mu N: it comes to rest at F/k."""
    block = block_class("sticking_friction")(mu=0.2, normal=100.0, k=1e5, d=200.0)
    x, v, _, _ = slide(block, 1.0, 9.0)
    assert block.stuck
    assert abs(v[-1]) < 1e-12
    assert x[-1] == pytest.approx(9.0 / 1e5, rel=1e-9)


def test_sticking_friction_stops_a_body_and_takes_its_energy():
    """From 0.5 m/s with mu N/m = 20 m/s2: v^2/(2 a) = 6.25 mm, then it swings on the spring."""
    block = block_class("sticking_friction")(mu=0.2, normal=100.0, k=1e6, d=2000.0)
    x, v, force, taken = slide(block, 1.0, 0.0, h=1e-5, seconds=0.1, speed=0.5)
    assert np.abs(force).max() == pytest.approx(20.0)
    # Further by the stretch of the spring, 2 mu N/k at most; the step holds the velocity.
    assert x[-1] == pytest.approx(0.5**2 / 40.0, abs=4e-5)
    assert abs(v[-1]) < 1e-9
    assert taken[-1] == pytest.approx(0.125, rel=2e-3)
    block.normal = -1.0
    block.velocity = 1.0
    block.step(0.0, 1e-5)
    assert block.force == 0.0
