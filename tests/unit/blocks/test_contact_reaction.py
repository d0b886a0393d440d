"""What a contact does to the robot: the opposite force, and the same power."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from python_blocks.kinematics.contact_reaction import ContactReaction


@pytest.mark.parametrize("seed", range(5))
def test_power_at_the_captured_point_is_that_of_the_wrench(seed):
    """-F . v_O = force . v_P + torque . w for every motion of the platform."""
    random = np.random.default_rng(seed)
    attitude = Rotation.random(random_state=seed)
    block = ContactReaction()
    block.captured[:] = random.normal(size=3)
    block.contact[:] = random.normal(size=3)
    block.q[:] = attitude.as_quat()[[3, 0, 1, 2]]
    block.step(0.0, 1e-3)
    np.testing.assert_array_equal(block.force, -block.contact)
    for velocity, w in random.normal(size=(4, 2, 3)):
        captured = velocity + np.cross(w, attitude.apply(block.captured))
        power = block.force @ velocity + block.torque @ w
        assert power == pytest.approx(-block.contact @ captured, abs=1e-12)
