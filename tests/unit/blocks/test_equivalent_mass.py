"""Equivalent mass: the attitudes of the ejection example, limits, gradient, and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator import DescriptionError
from python_blocks.kinematics.assumed_arm import attitude, seven_joint_arm
from python_blocks.kinematics.equivalent_mass import (
    EquivalentMass,
    equivalent_mass,
    equivalent_mass_gradient,
)

PLANE = (2, 4, 6)
FIXED = {1: 0.0, 3: 0.0, 5: 0.0, 7: 0.0}


# From an independent prototype with the same assumed arm; 3 and 4 from this one with all digits of
# a NumPy evaluation of Eq 7 with explicit Jacobians.
@pytest.mark.parametrize(
    ("number", "expected"), [(1, 41.392), (2, 41.621), (3, 31.919), (4, 36.172), (5, 116.1)]
)
def test_attitudes_in_the_plane(number, expected):
    arm, phi = seven_joint_arm(), attitude(number)
    assert equivalent_mass(arm, phi, PLANE) == pytest.approx(expected, abs=1e-3)
    merged = arm.with_locked(FIXED)  # three joints, links put together
    assert equivalent_mass(merged, phi[1::2]) == pytest.approx(expected, abs=1e-3)
    free = equivalent_mass(arm, phi)
    assert free <= equivalent_mass(arm, phi, PLANE) <= equivalent_mass(arm, phi, (4,)) <= 116.1001
    assert equivalent_mass(arm, phi, ()) == pytest.approx(116.1, abs=1e-12)


def test_it_is_force_by_acceleration():
    arm, phi = seven_joint_arm(), np.linspace(-1.0, 1.0, 7)
    direction = np.array([0.6, 0.0, 0.8])
    matrix = arm.inertia_matrix(phi)
    rail = np.vstack([np.r_[direction, np.zeros(10)], np.hstack([np.zeros((7, 6)), np.eye(7)])])
    force = np.r_[5.0, np.zeros(7)]
    acceleration = np.linalg.solve(rail @ matrix @ rail.T, force)[0]
    found = equivalent_mass(arm, phi, direction=direction)
    assert found == pytest.approx(5.0 / acceleration, rel=1e-12)


def test_the_gradient_is_that_of_differences():
    arm, phi, step = seven_joint_arm(), np.linspace(0.9, -0.8, 7), 1e-5
    values = equivalent_mass_gradient(arm, phi)
    ends = [[equivalent_mass(arm, phi + s * e) for s in (step, -step)] for e in np.eye(7)]
    slopes = np.array([(a - b) / (2 * step) for a, b in ends])
    np.testing.assert_allclose(values, slopes, atol=1e-7)  # the differences' own error


def test_links_that_are_put_together_at_an_angle():
    arm = seven_joint_arm()
    phi = np.array([0.3, -0.5, 0.7, 1.1, -0.9, 0.4, 0.2])
    merged = arm.with_locked({1: 0.3, 3: 0.7, 5: -0.9, 7: 0.2})
    free = [0, 1, 2, 3, 4, 5, 7, 9, 11]
    matrix = arm.inertia_matrix(phi)[np.ix_(free, free)]
    np.testing.assert_allclose(merged.inertia_matrix(phi[1::2]), matrix, atol=1e-12)


def test_the_block_has_the_same_figures():
    block = EquivalentMass(free=(0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0))
    block.phi[:] = attitude(2)
    block.step(0.0, 0.01)
    assert block.mass == equivalent_mass(seven_joint_arm(), attitude(2), PLANE)
    expected = equivalent_mass_gradient(seven_joint_arm(), attitude(2), PLANE)
    np.testing.assert_array_equal(block.gradient, expected)


def test_bad_chains_are_told_with_their_links(wording):
    arm = seven_joint_arm()
    mass, inertia = arm.mass.copy(), arm.inertia.copy()
    mass[3], inertia[5, 0, 0], inertia[6, 0, 1] = 0.0, -1.0, 0.5
    with pytest.raises(DescriptionError) as raised:
        replace(arm, mass=mass, inertia=inertia)
    text = str(raised.value)
    assert "link 3: expected a mass > 0 kg, found 0" in text
    assert "link 5: expected a positive definite inertia, found the principal moment -1" in text
    assert "link 6: expected a symmetric inertia" in text
    with wording.raises(DescriptionError):
        replace(arm, axis=arm.axis * [[1], [2], [1], [1], [1], [1], [1]])
    with wording.raises(DescriptionError):
        replace(arm, center=arm.center[1:])


def test_bad_attitudes_and_joints(wording):
    arm = seven_joint_arm()
    with wording.raises(DescriptionError):
        equivalent_mass(arm, [0.0, 0.0])
    with wording.raises(DescriptionError):
        equivalent_mass(arm, np.zeros(7), (2, 8))
