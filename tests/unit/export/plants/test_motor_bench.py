"""Motor bench, rate servo and the arm that both are for: equations, power, friction that sticks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import simulate_fmu

from python_blocks.manipulators.arms import TwoJointArm

RATIO, SHAFT, KT, R = 1570.0, 6.38e-5, 0.061, 2.05
ROTOR = RATIO**2 * SHAFT
Opener = Callable[..., Any]


def test_bench_by_hand(open_model: Opener) -> None:
    # Begun with a voltage, so that it has broken away forward.
    bench = open_model("MotorBench", ripple=0.1, misalignment=0.01, voltage=3.0)
    bench.set(load=-0.01, noise=0.2)
    bench.set_states(shaft_rate=20.0, angle=0.3, rate=15.0, slope=7.0)
    k = KT * (1 + 0.1 * np.cos(7 * 0.3))
    drive = k * (3.0 - k * 20.0) / R
    assert bench.get("drive_torque") == pytest.approx(drive, rel=1e-12)
    push = drive - 0.01 - 0.01 * np.sin(0.3)
    friction = 0.0205 + 2.58e-5 * 20.0
    assert bench.rate("shaft_rate") == pytest.approx((push - friction) / SHAFT, rel=1e-12)
    corner = 2 * np.pi * 50
    slope = corner**2 * (20.0 + 0.2 - 15.0) - np.sqrt(2) * corner * 7.0
    assert bench.rate("slope") == pytest.approx(slope, rel=1e-12)
    # Power: what the amplifiers give is stored or turned into heat.
    stored = bench.slopes(
        "energy", {"shaft_rate": float(bench.rate("shaft_rate")[0]), "angle": 20.0}
    )
    lost = bench.get("dissipation") + bench.get("heating")
    assert lost == pytest.approx(friction * 20.0 + R * (drive / k) ** 2, rel=1e-9)
    given = float((bench.get("supplied") - lost)[0])
    assert float(stored[0]) == pytest.approx(given, rel=1e-9)


def test_servo_by_hand(open_model: Opener) -> None:
    servo = open_model("RigidGearboxServo", rate_command=0.03, rate=0.01)
    servo.set_states(integral=5.0)
    error = RATIO * 0.02
    voltage = 0.020 * error + 0.125 * 5.0
    torque = KT * (voltage - KT * RATIO * 0.01) / R
    assert servo.get("voltage") == pytest.approx(voltage, rel=1e-14)
    assert servo.get("torque") == pytest.approx(RATIO * torque, rel=1e-14)
    assert servo.rate("integral") == pytest.approx(error, rel=1e-14)
    current = torque / KT
    assert servo.get("supplied") == pytest.approx(voltage * current, rel=1e-12)
    servo.set(rate_command=1.0)
    assert servo.get("voltage") == pytest.approx(20.0)
    assert servo.get("motor_torque") == pytest.approx(0.144)


def test_arm_with_servos_is_the_recursive_one(open_model: Opener) -> None:
    """Accelerations as the block's, whose rotors are those that the plant has."""
    commands = {"rate_command": [0.03, 0.03]}  # so that both have broken away
    plant = open_model("ServoArm", **commands)
    plant.set_states(phi=[0.4, -1.1], w=[0.02, -0.03])
    torque = plant.get("torque")
    arm = TwoJointArm(
        link_offset=(0.0, 0.0, 0.0, 0.89, 0.0, 0.0),
        link_mass=(41.7, 26.4),
        link_centre=(0.445, 0.0, 0.0, 0.32, 0.0, 0.0),
        link_inertia=(*[0.0] * 8, 2.78, *[0.0] * 8, 0.9),
        position0_1=0.4,
        position0_2=-1.1,
        velocity0_1=0.02,
        velocity0_2=-0.03,
        rotor_1=ROTOR,
        rotor_2=ROTOR,
        effort_1=torque[0],
        effort_2=torque[1],
    )
    arm.initialise(0.0)
    gains = [getattr(arm, f"acceleration_{n}") for n in (1, 2)]
    np.testing.assert_allclose(plant.rate("w"), gains, rtol=1e-7)  # ROTOR has eight digits there
    assert plant.get("energy") == pytest.approx(arm.energy, rel=1e-7)


def test_friction_holds_a_joint_still_and_balances(plants: Path) -> None:
    """Both joints stop at times; a stuck one stands still, and friction never pulls it."""
    outputs = ["w[1]", "w[2]", "mode[1]", "mode[2]", "friction[1]", "friction[2]"]
    power = ["energy", "supplied", "dissipation"]
    times = np.linspace(0.0, 6.0, 3001)
    names = ["time", "rate_command[1]", "rate_command[2]"]
    commands = np.zeros(len(times), dtype=[(name, float) for name in names])
    commands["time"] = times
    parts = (times // 1.0).astype(int)
    commands["rate_command[1]"] = np.take([0.05, 0.0, -0.05, 0.0, 0.03, 0.03, 0.03], parts)
    commands["rate_command[2]"] = np.take([-0.03, 0.0, 0.0, 0.04, -0.02, 0.0, 0.0], parts)
    found = simulate_fmu(
        str(plants / "ServoArm.fmu"),
        stop_time=6.0,
        output_interval=times[1],
        input=commands,
        start_values={"coulomb[1]": 0.0205, "coulomb[2]": 0.0205},
        output=[*outputs, *power],
        fmi_type="CoSimulation",
    )
    for joint in (1, 2):
        mode, friction = found[f"mode[{joint}]"], found[f"friction[{joint}]"]
        assert {-1.0, 0.0, 1.0} == set(mode)
        stuck = mode == 0.0
        np.testing.assert_array_equal(found[f"w[{joint}]"][stuck], 0.0)
        assert np.abs(friction[stuck]).max() <= 0.0205 * (1 + 1e-9)
        np.testing.assert_allclose(friction[~stuck], 0.0205 * mode[~stuck], rtol=1e-12)
    # Over steps without a jump of command or friction, energy grows by what is given and not lost.
    surplus = found["supplied"] - found["dissipation"]
    smooth = np.diff(parts) == 0
    smooth[1:] &= smooth[:-1]
    for joint in (1, 2):
        smooth &= np.diff(found[f"mode[{joint}]"]) == 0
    grown, mean = np.diff(found["energy"])[smooth], 0.5 * (surplus[1:] + surplus[:-1])[smooth]
    # Power dies down with up to 60 1/s: the rule of trapezes errs by (60 h)^2/12 of it.
    np.testing.assert_allclose(grown, times[1] * mean, atol=1.2e-3 * times[1] * abs(mean).max())
