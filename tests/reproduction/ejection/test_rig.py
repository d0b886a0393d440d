"""Joint 4 of the ejected arm on the emulated line, cycle by cycle without a clock.

The arm is the one on the table, whose joints 1, 2 and 3 are joints 2, 4 and 6 of the arm in space:
it leaves the rail as that one does, and is built in a few seconds.
"""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from orchestrator import (
    Block,
    Input,
    Output,
    Result,
    System,
    build_recipe,
    fmu,
    read_experiment,
    simulate,
    write_ssd,
)
from orchestrator.rig.arming.extension import armed
from orchestrator.study.prepare.prepare import swap_component
from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader
from orchestrator.study.reader import prepared_cases
from python_blocks.kinematics.assumed_arm import ATTITUDES_DEG

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "rig" / "adapters"))
import test_motor_bench as line

EXAMPLE = Path(__file__).parents[3] / "examples" / "ejection"
SYSTEMS = runpy.run_path(str(EXAMPLE / "systems.py"))
FRICTION = runpy.run_path(str(EXAMPLE / "friction.py"))
PARTS = runpy.run_path(str(EXAMPLE / "rig_parts.py"))
RESISTANCE, RATIO = 7.24, 100.0
OPTIONS: dict[str, Any] = {
    "algorithm": "gauss-seidel",
    "delay": "plain",
    "step": "1 ms",
    "early_return": False,
}


class OnTheLine(Block):
    """The adapter on emulated drives: a step is a cycle of the line."""

    motors: ClassVar[line.MotorLine]
    voltage: float = Input(unit="V")
    load: float = Input(unit="N.m")
    angle: float = Output(unit="rad", depends_on=())
    shaft_rate: float = Output(unit="rad/s", depends_on=())
    load_torque: float = Output(unit="N.m", depends_on=())

    def step(self, t: float, h: float) -> None:
        if h > 0.0:
            (found,) = self.motors.cycles(1, (self.voltage, self.load))
            _, self.angle, self.shaft_rate, _, self.load_torque = found.values


@pytest.fixture(scope="module")
def plants(arms: tuple[Path, ...]) -> Path:
    """Folder of the arm on the table and of the bench."""
    folder = arms[0].parent
    build_recipe(EXAMPLE / "plants" / "BrakedBench.toml", folder)
    return folder


@pytest.fixture
def motors(monkeypatch: pytest.MonkeyPatch) -> line.MotorLine:
    """Two drives on a shaft, braked over a resistor."""
    drives = [each | {"velocity_limit": 150.0} for each in line.DRIVES]
    more = {"drives": drives, "resistance": RESISTANCE}
    monkeypatch.setattr(line, "SETTINGS", line.SETTINGS | more)
    OnTheLine.motors = line.MotorLine(monkeypatch)
    OnTheLine.motors.device.open()
    return OnTheLine.motors


def attitude(number: int) -> dict[str, float]:
    angles = np.radians(ATTITUDES_DEG[number - 1]).tolist()
    return {f"phi0[{i}]": angle for i, angle in enumerate(angles, 1)}


def on_bench(plants: Path, number: int) -> System:
    system: System = SYSTEMS["bench"]("PlanarArm", 2, plants)
    start = attitude(number)
    for name, value in start.items():
        system = system.set(f"arm.{name}", value)
    return system.set("gear.zero", start["phi0[2]"])


def release(result: Result) -> list[float]:
    names = ("release_time", "release_speed", "release_phi[1]", "release_phi[2]")
    return [float(result[f"arm.{name}"][-1]) for name in names]


def test_the_arm_on_the_line_leaves_the_rail_as_the_simulated_one(
    plants: Path, motors: line.MotorLine
) -> None:
    """Attitude 3: the same with the bench simulated, and with friction and rotor in the arm.

    The gear twists by what friction and rotor take, 9 N.m over 2000 N.m/rad at most: 4.5 mrad.
    """
    system = on_bench(plants, 3)
    rig = swap_component(system, "joint4", f"block:{__name__}:OnTheLine")
    found, simulated = (simulate(one, stop="0.3 s", **OPTIONS) for one in (rig, system))
    own = {"static[2]": 2.05, "coulomb[2]": 2.05, "viscous[2]": 5.4, "rotor[2]": 0.638}
    alone = System("table").add("arm", fmu(plants / "PlanarArm.fmu"), **attitude(3), **own)
    result = simulate(alone, step="1 ms", stop="0.3 s")
    assert release(found) == pytest.approx(release(simulated), abs=5e-4)
    assert release(found) == pytest.approx(release(result), abs=1e-3)
    assert np.abs(found["arm.phi[2]"] - result["arm.phi[2]"]).max() < 4.5e-3
    assert np.abs(found["arm.rate[2]"]).max() > 0.4  # it is in motion
    assert np.abs(found["gear.load"]).max() < 0.144


def test_friction_is_found_from_a_slow_torque(motors: line.MotorLine) -> None:
    slow = PARTS["SlowTorque"]()
    rows = []
    for n in range(4000):
        slow.step(1e-3 * n, 1e-3)
        (got,) = motors.cycles(1, (0.0, slow.torque))
        rows.append((1e-3 * (n + 1), got.values[1], got.values[2], got.values[4]))
    found = FRICTION["fit"](*np.array(rows).T)
    braking = line.KT**2 / RESISTANCE
    assert found.inertia == pytest.approx(line.J, rel=0.02)
    assert found.coulomb == pytest.approx(line.COULOMB, rel=0.02)
    assert found.viscous == pytest.approx(line.VISCOUS + braking, rel=0.02)
    assert found.static == pytest.approx(line.COULOMB, rel=0.02)
    joint = found.behind(RATIO)
    assert (joint.coulomb, joint.viscous) == pytest.approx((2.05, 5.4), rel=0.02)


def test_a_shaft_that_never_turns_has_no_friction_to_find() -> None:
    still = np.zeros(10)
    with pytest.raises(ArithmeticError, match="does not break away"):
        FRICTION["fit"](np.arange(10.0), still, still, still)


@pytest.fixture
def example(tmp_path: Path, plants: Path) -> Path:
    """The rig's files for the arm on the table."""
    folder = tmp_path / "plants" / "build"
    folder.parent.mkdir()
    shutil.copytree(plants, folder)
    shutil.copy(EXAMPLE / "rig_parts.py", tmp_path)
    write_ssd(SYSTEMS["bench"]("PlanarArm", 2, folder), tmp_path / "bench.ssd", connectors=False)
    for name in ("rig.toml", "rig_refused.toml"):
        text = (EXAMPLE / name).read_text()
        for old, new in (("[2]", "[1]"), ("[4]", "[2]"), ("[6]", "[3]")):
            text = text.replace(f"phi0{old}", f"phi0{new}").replace(f"phi{old}", f"phi{new}")
        text = text.replace("rate0[4]", "rate0[2]").replace("rate[4]", "rate[2]")
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "case", "granted", "margin"),
    [
        ("rig.toml", "line_3", True, 6.25e-3),
        ("rig_refused.toml", "stiff", False, -3.52e-3),
        ("rig_refused.toml", "slow", False, -5.72e-3),
    ],
)
def test_arming_grants_what_is_stable_and_refuses_what_is_not(
    example: Path, file: str, case: str, granted: bool, margin: float
) -> None:
    settings = RunSettings(only=(case,))
    experiment, reader = read_experiment(example / file), SystemReader(example)
    experiment, cases, _ = prepared_cases(experiment, reader, settings)
    (found,) = armed(experiment, cases, reader, settings).values()
    assert found.is_granted is granted
    (load,) = (one.margins for one in found.lines if one.margins is not None)
    assert load.delay.value == pytest.approx(margin, abs=0.4e-3)
