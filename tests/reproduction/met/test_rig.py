"""Joint 1 on the emulated line, cycle by cycle without a clock, against the simulated bench.

The run is as on the rig, but that each of its steps makes the line go through its cycles, so that
no pause of a machine is in it.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from orchestrator import Block, Input, Output, read_experiment, read_system, simulate
from orchestrator.core.recording import Result
from orchestrator.core.system import System
from orchestrator.rig.arming.extension import armed
from orchestrator.study.prepare.prepare import swap_component
from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader
from orchestrator.study.reader import prepared_cases

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "rig" / "adapters"))
from test_motor_bench import MotorLine

EXAMPLE = Path(__file__).parents[3] / "examples" / "met"
CYCLE, LAG = 1e-3, 0.5e-3
OPTIONS: dict[str, Any] = {"algorithm": "gauss-seidel", "delay": "plain", "early_return": False}
TWO_RATES: dict[str, Any] = {"step": "10 ms", "rates": {"arm": 4}}
STOP = "2.2 s"
pytestmark = pytest.mark.usefixtures("plants")


class OnTheLine(Block):
    """The adapter on emulated drives: a step is as many cycles of the line as it lasts."""

    line: ClassVar[MotorLine]
    voltage: float = Input(unit="V")
    load: float = Input(unit="N.m")
    rate: float = Output(unit="rad/s", depends_on=())

    def step(self, t: float, h: float) -> None:
        if h > 0.0:
            found = self.line.cycles(round(h / CYCLE), (self.voltage, self.load))
            self.rate = found[-1].values[0]


def system() -> System:
    return read_system(EXAMPLE / "SystemStructure.ssd").disconnect(
        "tachometer.rate", "servo1.noise"
    )


def on_the_line(noise: float, seed: int = 1) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        OnTheLine.line = MotorLine(patch, noise, seed=seed)
        OnTheLine.line.device.open()
        rig = swap_component(system(), "servo1", f"block:{__name__}:OnTheLine")
        return simulate(rig, stop=STOP, **OPTIONS, **TWO_RATES)


def share(result: Result, joint: int) -> np.ndarray:
    """Rate of a joint over the commanded one, %."""
    return np.asarray(result["motion.velocity" if joint == 1 else "arm.velocity_2"]) / 0.03 * 100.0


@pytest.fixture(scope="module")
def still(plants: Path) -> Result:
    """On the line, without noise."""
    return on_the_line(0.0)


def test_the_line_is_the_bench_but_for_its_delay(still: Result) -> None:
    """A torque acts a cycle late, and half a cycle and the lag of the current later in the mean.

    So joint 1 is late by that, and differs at most by the steepest slope times it; what a drive
    rounds (0.2 mN.m of 20 mN.m friction) is 0.2 V/V of the torque balance, some 0.4 % of the rate.
    """
    found, simulated = still, simulate(system(), stop=STOP, **OPTIONS, **TWO_RATES)
    late = 1.5 * CYCLE + LAG
    slope = np.max(np.gradient(share(simulated, 1), simulated.time))
    off = np.abs(share(found, 1) - share(simulated, 1)).max()
    assert off < late * slope + 0.4
    at = dict(zip(np.round(found.time, 9).tolist(), share(found, 1).tolist(), strict=True))
    assert at[1.0] == pytest.approx(80.0, abs=1.5)
    assert at[2.0] == pytest.approx(96.2, abs=0.5)
    assert np.abs(share(found, 2) - share(simulated, 2)).max() < 0.1


def noise_of(sigma: float) -> tuple[float, float]:
    """Standard deviations of what is read, rad/s, and of joint 2, % of its command.

    As ``derived_ripple`` of ``test_experiment.py``, but that a draw is held for a cycle: the filter
    has a bandwidth of noise of ``pi f_c / (2 sqrt 2)`` to either side, and two samples that are
    10 ms apart have next to nothing in common.
    """
    h, arm, ratio, corner = 0.01, 0.04, 1570.0, 50.0
    read = sigma * math.sqrt(CYCLE * math.pi * corner / math.sqrt(2.0))
    rotor = ratio**2 * 6.38e-5
    m12, m22 = 11.12208, 3.60336 + rotor
    pole = 1.0 - ratio**2 * (0.020 + 0.061) * 0.061 / 2.05 * arm / m22
    acceleration = math.sqrt(2.0) * read / (h * ratio)
    joint2 = m12 / m22 * arm / 2.0 * acceleration * math.sqrt(2.0 / (1.0 - pole))
    return read, 100.0 / 0.03 * joint2


def test_the_noise_of_the_tachometer_is_as_far_as_they_agree(still: Result) -> None:
    result = on_the_line(0.5)
    read, joint2 = noise_of(0.5)
    late = result.time >= 1.0
    one, two = (np.std((share(result, j) - share(still, j))[late]) for j in (1, 2))
    # 120 samples of one seed: a tenth; the loop of the servo adds to what is read
    assert one == pytest.approx(read / (1570.0 * 0.03) * 100.0, rel=0.4)
    assert 0.6 * joint2 < two < 1.6 * joint2


def test_both_rates_are_armed_with_nothing_opened(plants: Path) -> None:
    file = EXAMPLE / "rig.toml"
    settings = RunSettings(only=("substituted",))
    experiment, reader = read_experiment(file), SystemReader(file.parent)
    experiment, cases, _ = prepared_cases(experiment, reader, settings)
    (found,) = armed(experiment, cases, reader, settings).values()
    assert found.is_granted
    voltage, load = (line for line in found.lines if line.margins is not None)
    assert voltage.margins is not None
    assert voltage.margins.delay.value == pytest.approx(0.533, abs=0.01)
    # the load turns against the drive motor by J_eff/(N^2 J + J_eff): so much more is the end of it
    assert load.gain == pytest.approx(4.157, abs=0.02)
