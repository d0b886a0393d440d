"""The scheme of 0.02 s: exact for a rigid body, else off by what its equivalent mass leaves out."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from python_blocks.kinematics.assumed_arm import attitude

SCRIPT = Path(__file__).parents[3] / "examples" / "ejection" / "recursive.py"
recursive = runpy.run_path(str(SCRIPT))["recursive"]


def test_a_rigid_body_has_a_closed_form() -> None:
    found = recursive(attitude(5)[1::2])
    omega = np.sqrt(2 * 812.7 / 116.1)
    assert found.release_time == pytest.approx(np.pi / 2 / omega, abs=1e-12)
    assert found.release_speed == pytest.approx(0.086 * omega, abs=1e-12)
    assert (found.rest_time, found.spin) == (found.release_time, 0.0)


# Time and speed of the full dynamics, as in test_ejection.py.
@pytest.mark.parametrize(("number", "time", "speed"), [(1, 0.2591, 0.5071), (2, 0.2542, 0.5307)])
def test_what_leaving_friction_out_of_the_mass_costs(
    number: int, time: float, speed: float
) -> None:
    found = recursive(attitude(number)[1::2])
    assert 0.01 < 1.0 - found.release_time / time < 0.045
    assert 0.02 < 1.0 - found.release_speed / speed < 0.045
