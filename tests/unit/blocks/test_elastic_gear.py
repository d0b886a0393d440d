"""A compliant gear between a motor's shaft and a joint."""

from __future__ import annotations

import pytest

from python_blocks.manipulators.elastic_gear import ElasticGear


def test_what_it_does_to_the_shaft_it_does_to_the_joint() -> None:
    """Torques of k and d at the joint; power into both sides is what the damper takes."""
    gear = ElasticGear(zero=0.5, k=2000.0, d=90.0, load_limit=1.0)
    gear.joint, gear.joint_rate, gear.shaft, gear.shaft_rate = 0.503, 0.2, 0.1, 15.0
    gear.initialise(0.0)
    twist, twisting = 0.002, 0.05
    assert gear.twist == pytest.approx(twist)
    assert gear.torque == pytest.approx(-(2000.0 * twist + 90.0 * twisting))
    assert gear.load == pytest.approx(-gear.torque / 100.0)
    power = gear.load * gear.shaft_rate + gear.torque * gear.joint_rate
    rate_of_energy = 2000.0 * twist * twisting
    assert power == pytest.approx(-rate_of_energy - 90.0 * twisting**2)
    assert gear.energy == pytest.approx(0.5 * 2000.0 * twist**2)
    assert not gear.notices()


def test_a_load_beyond_the_motor_is_cut_on_both_sides_and_told() -> None:
    gear = ElasticGear(k=2000.0, d=0.0)
    gear.initialise(0.0)
    gear.joint = 0.01  # 0.2 N.m at the shaft
    gear.step(0.4, 0.001)
    gear.joint = -0.02
    gear.step(0.401, 0.001)
    assert (gear.load, gear.torque, gear.clamped) == pytest.approx((-0.144, 14.4, True))
    (notice,) = gear.notices()
    assert notice.time_ns == 401_000_000
    assert "0.2 N.m were asked for, load_limit is 0.144 N.m" in notice.what
