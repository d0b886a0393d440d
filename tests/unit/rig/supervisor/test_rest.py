"""The way to rest: its end, its limits, its length."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import DescriptionError
from orchestrator.rig.supervisor.rest_profile import RestProfile, blending_weight


@given(st.floats(-2, 2), st.floats(-8, 8), st.floats(0.1, 10), st.floats(1, 1000), st.floats(-1, 1))
def test_it_ends_at_rest_within_its_limits_and_without_a_jump(v, a, most, jerk, x):
    profile = RestProfile(x, v, a, most, jerk)
    times = np.linspace(0.0, profile.duration, 200)
    positions, velocities, accelerations = np.array([profile.at(t) for t in times]).T
    assert (positions[0], velocities[0], accelerations[0]) == pytest.approx((x, v, a), abs=1e-12)
    end = profile.at(profile.duration * (1.0 - 1e-12))
    assert end[1:] == pytest.approx((0.0, 0.0), abs=1e-7)  # rounding of sums of three parts
    h = times[1] - times[0]
    assert np.abs(accelerations).max() <= max(most, abs(a)) * (1 + 1e-9)
    assert np.abs(np.diff(accelerations)).max() <= jerk * h * (1 + 1e-9) + 1e-12
    # Position and velocity are the integrals of what follows: trapezoid, exact to jerk h^3 / 12.
    swept = np.diff(positions) - h * (velocities[1:] + velocities[:-1]) / 2
    assert np.abs(swept).max() <= jerk * h**3 / 6 + 1e-12


@pytest.mark.parametrize(
    ("v", "length"),
    [
        (0.5, 0.5 / 2 + 2 / 100),  # a trapezoid: v/A + A/J
        (0.01, 2 * math.sqrt(0.01 / 100)),  # a triangle: 2 sqrt(v/J)
    ],
)
def test_its_length_is_the_closed_form_from_a_constant_velocity(v, length):
    profile = RestProfile(0.0, v, 0.0, 2.0, 100.0)
    assert profile.duration == pytest.approx(length, rel=1e-12)
    # It is symmetric about its middle, so the mean velocity is v / 2.
    assert profile.at(1.0)[0] == pytest.approx(v * length / 2, rel=1e-12)


def test_limits_of_zero_are_refused(wording):
    with wording.raises(DescriptionError):
        RestProfile(0.0, 1.0, 0.0, 0.0, 1.0)
    with wording.raises(DescriptionError):
        RestProfile(0.0, 1.0, 0.0, 1.0, 0.0)


def test_blending_begins_and_ends_without_velocity_and_acceleration():
    h = 1e-4
    assert (blending_weight(-1), blending_weight(0), blending_weight(0.5)) == (0, 0, 0.5)
    assert (blending_weight(1), blending_weight(2)) == (1, 1)
    assert blending_weight(h) == pytest.approx(10 * h**3, rel=1e-3)
    assert 1 - blending_weight(1 - h) == pytest.approx(10 * h**3, rel=1e-3)
