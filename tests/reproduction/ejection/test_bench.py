"""Joint 4 on a motor bench: simulated against an independent engine, and on the emulated line."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from reproduction.ejection.reference import Ejection

from orchestrator import (
    Block,
    Input,
    Output,
    Parameter,
    Result,
    System,
    read_system,
    simulate,
)
from orchestrator.arming import Reserve, arm
from orchestrator.arming.advice import Knobs
from orchestrator.experiment.prepare.swap import swap_component
from orchestrator.linearisation import linear_system
from orchestrator.simunits import resolve
from python_blocks.kinematics.assumed_arm import ATTITUDES_DEG

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "adapters"))
from test_motor_bench import COULOMB, KT, VISCOUS, J, MotorLine

EXAMPLE = Path(__file__).parents[3] / "examples" / "ejection"
RATIO, CIRCUIT = 75.0, 4.0
CYCLE = 1e-3
OPTIONS: dict[str, Any] = {"algorithm": "gauss-seidel", "delay": "plain", "early_return": False}
STOP = 1.0


class Joint4(Block):
    """The adapter on emulated drives: a step is a cycle of the line."""

    line: ClassVar[MotorLine]
    R: float = Parameter(start=CIRCUIT, unit="Ohm")
    voltage: float = Input(unit="V")
    load: float = Input(unit="N.m")
    angle: float = Output(unit="rad", depends_on=())
    shaft_rate: float = Output(unit="rad/s", depends_on=())

    def step(self, t: float, h: float) -> None:
        if h > 0.0:
            (found,) = self.line.cycles(round(h / CYCLE), (self.voltage, self.load))
            self.angle, self.shaft_rate = found.values[1], found.values[2]


@pytest.fixture(scope="module")
def bench(plants: Path, arms: tuple[Path, ...]) -> System:
    """The system of the example, in attitude 1."""
    assert plants
    assert arms
    return attitude(resolve(read_system(EXAMPLE / "bench.ssd")), 1)


def attitude(system: System, number: int) -> System:
    for joint, angle in enumerate(np.radians(ATTITUDES_DEG[number - 1]), start=1):
        system = system.set(f"arm.phi0[{joint}]", float(angle))
    return system


def run(system: System) -> Result:
    return simulate(system, step="1 ms", stop=f"{STOP} s", **OPTIONS)


@pytest.fixture(scope="module")
def simulated(bench: System) -> Result:
    return run(bench)


def reference(number: int) -> tuple[Ejection, np.ndarray]:
    """The arm with the rotor and the friction of the shaft at joint 4, rigidly geared."""
    coulomb = RATIO * COULOMB
    brake = RATIO**2 * (VISCOUS + KT**2 / CIRCUIT)
    found = Ejection(
        number,
        static=(4.0, coulomb, 4.0),
        coulomb=(2.0, coulomb, 2.0),
        viscous=(5.4, brake, 5.4),
        rotor=(0.0, RATIO**2 * J, 0.0),
    )
    return found, found.run(STOP)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_simulated_bench_is_the_joint_of_an_independent_engine(
    bench: System, number: int
) -> None:
    """But for the windup of the spring, at most some 6 N m / 2000 N m/rad, on the way there.

    The speed is off by the share that the windup holds back: 3 mrad of the 110 mrad that joint 4
    goes until the release, of the tenth of the speed that it gives.
    """
    found = run(attitude(bench, number))
    ours, state = reference(number)
    assert ours.release is not None
    time, velocity, angles = ours.release
    windup = np.abs(found["coupling.windup"]).max()
    assert windup < 4e-3
    assert found["arm.release_time"][-1] == pytest.approx(time, abs=5e-4)
    assert found["arm.release_speed"][-1] == pytest.approx(velocity[1], rel=2e-3)
    assert found["arm.release_phi[2]"][-1] == pytest.approx(angles[1], abs=windup)
    assert found["arm.phi[2]"][-1] == pytest.approx(state[4], abs=3.0 * windup)
    assert found["arm.w[2]"][-1] == pytest.approx(state[8], abs=0.01)


def test_momentum_is_kept_by_the_arm_whatever_the_bench_does(simulated: Result) -> None:
    """The torque of the coupling is an inner one: it changes neither momentum after the release."""
    after = simulated.time > simulated["arm.release_time"][-1] + 1e-3
    for name in ("arm.momentum[1]", "arm.momentum[3]", "arm.angular_momentum[2]"):
        values = simulated[name][after]
        assert np.abs(values - values[0]).max() < 1e-8


def test_the_line_is_the_simulated_bench_but_for_its_delay(
    bench: System, simulated: Result
) -> None:
    """Torques act up to 2.5 cycles later, and have steps of 0.2 mN.m of 20 mN.m."""
    with pytest.MonkeyPatch.context() as patch:
        Joint4.line = MotorLine(patch, resistance=CIRCUIT)
        Joint4.line.device.open()
        found = run(swap_component(bench, "joint4", f"block:{__name__}:Joint4"))
    late = 2.5 * CYCLE + 0.5e-3
    fastest = np.abs(simulated["arm.rate[2]"]).max()
    off = np.abs(found["arm.phi[2]"] - simulated["arm.phi[2]"]).max()
    assert off < late * fastest
    for name, most in (("arm.release_time", 5e-4), ("arm.release_speed", 1e-3)):
        assert found[name][-1] == pytest.approx(simulated[name][-1], abs=most)
    assert math.degrees(found["arm.w[2]"][-1] - simulated["arm.w[2]"][-1]) < 0.1


@pytest.mark.parametrize(("damping", "lack"), [(40.0, ""), (400.0, "delay margin")])
def test_it_is_armed_unless_the_coupling_is_too_stiff_for_the_line(
    bench: System, damping: float, lack: str
) -> None:
    """As ``rig.toml``: the springs make the bent arm buckle, which is its own and no delay's."""
    system = bench.set("coupling.damping", damping)
    linear = linear_system(
        system, step="1 ms", at="0.15 s", algorithm="gauss-seidel", delay="plain"
    )
    found = arm(linear, ["joint4"], Reserve(4e-3, 1.25, own_growth=2.0), Knobs())
    assert found.is_granted == (not lack)
    assert lack in found.refusal()
    line = next(each for each in found.lines if each.margins is not None)
    assert line.growth == pytest.approx(1.607, abs=0.02)
    if not lack:
        assert line.margins is not None
        assert line.margins.delay.value == pytest.approx(10.6e-3, abs=0.2e-3)
