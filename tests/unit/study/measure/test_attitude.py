"""Angles from quaternions, against SciPy's rotations."""

import numpy as np
from scipy.spatial.transform import Rotation

from orchestrator.study.measure import cardan_angles


def test_angles_are_those_of_scipy_whatever_the_length_and_sign():
    random = np.random.default_rng(7)
    angles = random.uniform(-1.5, 1.5, size=(200, 3))
    turned = Rotation.from_euler("xyz", angles)  # about fixed axes
    q = turned.as_quat()[:, [3, 0, 1, 2]] * random.choice([-2.0, 0.5, 3.0], size=(200, 1))
    found = [cardan_angles(row[None])[0] for row in q]
    np.testing.assert_allclose(found, angles, atol=1e-12)


def test_small_turns_are_the_rotation_vector():
    vector = np.array([[1e-5, -2e-5, 3e-5]])
    q = Rotation.from_rotvec(vector).as_quat()[:, [3, 0, 1, 2]]
    np.testing.assert_allclose(cardan_angles(q), vector, atol=1e-9)  # of second order


def test_turning_on_does_not_jump():
    turn = np.linspace(0.0, 4 * np.pi, 400)
    zero = np.zeros_like(turn)
    q = np.column_stack([np.cos(turn / 2), zero, zero, np.sin(turn / 2)])
    np.testing.assert_allclose(cardan_angles(q), np.column_stack([zero, zero, turn]), atol=1e-12)
