"""The shaft that the emulated drives turn."""

import math

import pytest

from hw_adapters.canopen_cia402.servo import Tuning
from hw_adapters.canopen_cia402.shaft import Shaft


@pytest.mark.parametrize("viscous", [0.0, 2e-4])
def test_the_emulated_shaft_obeys_its_equation(viscous):
    shaft, t = Shaft(1e-3, viscous, 0.01, velocity=1.0), 0.1
    for _ in range(800):
        shaft.step(0.05, t / 800)
    b = viscous / 1e-3
    if viscous:
        end = 0.04 / viscous
        expected = end + (1.0 - end) * math.exp(-b * t)
        path = end * t + (1.0 - end) * -math.expm1(-b * t) / b
    else:
        expected, path = 1.0 + 40.0 * t, t + 20.0 * t * t
    assert (shaft.velocity, shaft.position) == pytest.approx((expected, path), rel=1e-12)


def test_the_emulated_shaft_sticks_and_slides_back_never_by_friction():
    shaft = Shaft(1e-3, 0.0, 0.01, velocity=0.5)
    for _ in range(1000):
        shaft.step(0.005, 1e-4)
    assert shaft.velocity == 0.0
    # 15 N.m per kg m2 of it against the motion: it stops after v2 / (2 a), half a step exact
    assert shaft.position == pytest.approx(0.5**2 / (2 * 5.0), abs=0.5 * 1e-4)
    at = shaft.position
    shaft.step(0.0099, 1.0)
    assert shaft.position == at


def test_bent_couplings_pull_the_shaft_once_in_a_turn_and_keep_their_energy():
    shaft, m = Shaft(1e-3, misalignment=0.02, velocity=20.0), 0.02
    rates, angles = [], []
    for _ in range(40_000):
        shaft.step(0.0, 1e-5)
        rates.append(shaft.velocity)
        angles.append(shaft.position)
    stored = [0.5e-3 * w * w + m * (1.0 - math.cos(x)) for w, x in zip(rates, angles, strict=True)]
    assert stored == pytest.approx([0.5e-3 * 20.0**2] * len(stored), rel=1e-3)
    assert min(rates) == pytest.approx(math.sqrt(400.0 - 2.0 * 2.0 * m / 1e-3), rel=1e-3)


def test_bent_couplings_below_friction_do_not_turn_it():
    shaft = Shaft(1e-3, coulomb=0.02, misalignment=0.019, position=0.5 * math.pi)
    shaft.step(0.0, 1.0)
    assert (shaft.position, shaft.velocity) == (0.5 * math.pi, 0.0)
    shaft.step(-0.002, 1e-3)
    assert shaft.velocity < 0.0


def test_the_torque_of_a_motor_varies_as_it_turns():
    tuning = Tuning(1e-3, ripple=0.05, segments=7)
    assert tuning.torque_at(0.0) == 1.05
    assert tuning.torque_at(math.pi / 7.0) == pytest.approx(0.95)
    assert Tuning(1e-3).torque_at(0.3) == 1.0
