"""Arms as blocks, and what stands between a motor on a bench and an arm."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from orchestrator import DescriptionError, StepError
from python_blocks.manipulators.arms import TwoJointArm
from python_blocks.manipulators.load_command import LoadCommand
from python_blocks.manipulators.partial_arm import PartialArm
from python_blocks.manipulators.rate_controller import RateController
from python_blocks.manipulators.shaft_filters import ShaftAccelerometer, ShaftKalman, ShaftObserver
from python_blocks.manipulators.shaft_motion import ShaftMotion

ARM: dict[str, Any] = {
    "link_offset": (0.0, 0.0, 0.0, 0.89, 0.0, 0.0),
    "link_mass": (41.7, 26.4),
    "link_centre": (0.445, 0.0, 0.0, 0.32, 0.0, 0.0),
    "link_inertia": (*[0.0] * 8, 2.78, *[0.0] * 8, 0.9),
    "tool": (0.64, 0.0, 0.0),
}
RATIO, SHAFT = 1570.0, 6.38e-5


def swing(h: float) -> TwoJointArm:
    """Let an arm swing for a second, without torques."""
    arm = TwoJointArm(**ARM, velocity0_1=1.0, velocity0_2=-3.0)
    arm.initialise(0.0)
    for n in range(round(1.0 / h)):
        arm.step(n * h, h)
    return arm


def test_modified_euler_is_of_second_order_and_keeps_the_energy_so() -> None:
    coarse, middle, fine = (swing(h) for h in (8e-3, 4e-3, 2e-3))
    # Against the finest: (16 - 1)/(4 - 1) = 5 where the error goes with the square.
    errors = [arm.position_2 - fine.position_2 for arm in (coarse, middle)]  # type: ignore[attr-defined]
    assert errors[0] / errors[1] == pytest.approx(5.0, rel=0.05)
    start = TwoJointArm(**ARM, velocity0_1=1.0, velocity0_2=-3.0)
    start.initialise(0.0)
    assert fine.energy == pytest.approx(start.energy, rel=2e-4)


def test_given_motion_is_taken_over_and_its_torque_told() -> None:
    """The torque that is told, given back as torque, makes the same motion."""
    arm = TwoJointArm(**ARM, torque_joints="2", acceleration_joints="1", effort_2=3.0)
    names = ("given_position_1", "given_velocity_1", "given_acceleration_1")
    for name, value in zip(names, (0.3, 0.5, -2.0), strict=True):
        setattr(arm, name, value)
    arm.initialise(0.0)
    got = {name: getattr(arm, name) for name in arm.connectors}
    assert (got["position_1"], got["velocity_1"], got["acceleration_1"]) == (0.3, 0.5, -2.0)
    told = got["inertia_1"] * -2.0 + got["bias_1"]
    assert got["joint_effort_1"] == pytest.approx(told, rel=1e-12)
    free = TwoJointArm(
        **ARM, position0_1=0.3, velocity0_1=0.5, effort_1=got["joint_effort_1"], effort_2=3.0
    )
    free.initialise(0.0)
    assert free.acceleration_1 == pytest.approx(-2.0, rel=1e-12)  # type: ignore[attr-defined]
    assert free.acceleration_2 == pytest.approx(got["acceleration_2"], rel=1e-12)  # type: ignore[attr-defined]
    place = 0.89 * np.array([np.cos(0.3), np.sin(0.3)]) + 0.64 * np.array(
        [np.cos(0.3), np.sin(0.3)]
    )
    np.testing.assert_allclose(free.tip, [*place, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("torque", "motion", "told"),
    [
        ("1 2", "1", "joint 1: expected torque or acceleration to be given, both are"),
        ("1", "", "joint 2: expected torque or acceleration to be given, neither is"),
        ("1 2 3", "", "joint 3: expected one with a number from 1 to 2"),
        ("one 2", "", "torque_joints: expected numbers of joints, found ['one']"),
    ],
)
def test_torque_or_motion(torque: str, motion: str, told: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        TwoJointArm(**ARM, torque_joints=torque, acceleration_joints=motion).initialise(0.0)
    assert told in str(caught.value)


def test_a_sliding_joint_has_the_units_of_one(wording) -> None:
    class Crane(PartialArm, joints="RT"):
        """A boom with a trolley."""

    units = {name: connector.unit for name, connector in Crane.connectors.items()}
    assert (units["effort_1"], units["position_1"], units["rotor_1"]) == ("N.m", "rad", "kg.m2")
    assert (units["effort_2"], units["position_2"], units["rotor_2"]) == ("N", "m", "kg")
    with wording.raises(DescriptionError):

        class Wrong(PartialArm, joints="RX"):
            """Not an arm."""


def test_the_load_makes_the_shaft_accelerate_as_the_joint_would() -> None:
    """Eq 5, 6 and 9: what the shaft does with the load is what rotor and arm would do."""
    load = LoadCommand(voltage=3.0, rate=20.0, inertia=16.3, bias=-4.0)
    load.initialise(0.0)
    drive = 0.061 * (3.0 - 0.061 * 20.0) / 2.05
    assert load.drive_torque == pytest.approx(drive, rel=1e-14)
    shaft = (load.drive_torque + load.load) / SHAFT
    joint = (RATIO * drive - -4.0) / (RATIO**2 * SHAFT + 16.3)
    assert shaft / RATIO == pytest.approx(joint, rel=1e-12)
    assert not load.notices()


def test_a_saturated_load_is_told_with_its_first_time(wording) -> None:
    load = LoadCommand(inertia=16.3, current_limit=0.1)
    load.initialise(0.0)
    for n, voltage in enumerate((1.0, 20.0, 1.0, 20.0)):
        load.voltage = voltage
        load.step(0.01 * n, 0.01)
    assert load.saturated
    assert abs(load.load) == pytest.approx(0.0072)
    (notice,) = load.notices()
    assert notice.time_ns == 20_000_000
    asked = 16.3 / (RATIO**2 * SHAFT + 16.3) * 0.061 * 20.0 / 2.05 / 0.072
    assert f"-{asked:.4g} A were asked for, current_limit is 0.1 A" in notice.what
    load.inertia = -200.0
    with wording.raises(StepError):
        load.step(0.04, 0.01)


def test_controller_sums_and_limits() -> None:
    controller = RateController(command=0.03, rate=40.0)
    controller.initialise(0.0)
    assert controller.voltage == pytest.approx(0.02 * 7.1)
    controller.step(0.0, 0.01)
    assert controller.voltage == pytest.approx(0.02 * 7.1 + 0.125 * 0.071)
    controller.command = 1.0
    controller.step(0.01, 0.01)
    assert controller.voltage == 20.0
    assert controller.limited


def test_motions_of_a_shaft_that_speeds_up() -> None:
    """All find a constant acceleration; the difference at once, the filters after a while."""
    h, gain = 0.01, 300.0
    load, drive = -0.02, SHAFT * gain + 0.01  # with a friction of -0.01 + 0.02 N.m in between
    blocks = [ShaftMotion(), ShaftKalman(), ShaftObserver(), ShaftAccelerometer()]
    for block in blocks:
        block.initialise(0.0)
        for n in range(1, 201):
            block.rate = gain * n * h
            if isinstance(block, ShaftObserver):
                block.drive_torque, block.load = drive, load
            if isinstance(block, ShaftAccelerometer):
                block.measured = gain
            block.step((n - 1) * h, h)
        assert block.velocity == pytest.approx(600.0 / RATIO, rel=1e-4)
        assert block.acceleration == pytest.approx(gain / RATIO, rel=1e-4)
        assert block.angle == pytest.approx(0.5 * gain * 4.0 / RATIO, rel=6e-3)  # sums of samples


def test_noise_of_the_acceleration() -> None:
    """A difference makes sqrt(2)/h of it; the filters less, as their covariance says."""
    h, sigma = 0.01, 0.5
    samples = np.random.default_rng(18).normal(0.0, sigma, 20_000)
    found = {}
    for block in (ShaftMotion(), ShaftKalman(noise=sigma, wander=1e3)):
        block.initialise(0.0)
        shown = []
        for n, rate in enumerate(samples):
            block.rate = float(rate)
            block.step(n * h, h)
            shown.append(block.acceleration)
        found[type(block)] = np.std(shown[1000:]) * RATIO
        if isinstance(block, ShaftKalman):
            # The estimate's own variance holds the wander, too, which is not there.
            assert found[ShaftKalman] < sqrt(block.p_aa)
    assert found[ShaftMotion] == pytest.approx(sqrt(2.0) * sigma / h, rel=0.03)
    assert found[ShaftKalman] < 0.2 * found[ShaftMotion]
