"""Arming of a loop through an FMU that samples: its growth is that of the map over a period."""

import math

import numpy as np
import pytest
from robot_twin import PAIR, TWIN, about
from scipy.linalg import expm

from orchestrator import read_experiment
from orchestrator.export import build_model
from orchestrator.rig.arming.extension import armed
from orchestrator.rig.hardware.twin_file import Dynamics
from orchestrator.study.prepare.prepare import prepare_all
from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader

STEP, PERIOD, MASS, DAMPING, STIFFNESS = 0.004, 0.02, 750.0, 100.0, 2510.0
SENSOR = """
model Sensor "Measures a spring every 20 ms"
  input Real x(unit="m");
  discrete output Real force(unit="N", start=0, fixed=true);
equation
  when sample(0, 0.02) then force = -2510*x; end when;
end Sensor;
"""
PARTS = """
import numpy as np
from scipy.linalg import expm
from orchestrator import Block, Input, Output, State

class Body(Block):
    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    z: np.ndarray = State(start=np.array([0.001, 0.0, 0.0]))

    def start(self, t):
        self.position = float(self.z[0])

    def step(self, t, h):
        self.z[2] = self.force
        rates = [[0.0, 1.0, 0.0], [0.0, -100.0 / 750.0, 1.0 / 750.0], [0.0, 0.0, 0.0]]
        self.z[:] = expm(np.array(rates) * h) @ self.z
        self.position = float(self.z[0])

class Robot(Block):
    dx: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=("dx",))

    def step(self, t, h):
        self.x = self.dx
"""
SYSTEM = """
[system]
name = "rig"
[component.body]
source = "block:parts.py:Body"
[component.robot]
source = "block:parts.py:Robot"
[component.sensor]
source = "Sensor.fmu"
[connections]
"sensor.force -> body.force" = {}
"body.position -> robot.dx" = {}
"robot.x -> sensor.x" = {}
"""
EXPERIMENT = """
title = "A rig"
[defaults]
algorithm = "gauss-seidel"
delay = "plain"
step = "4 ms"
stop = "2 s"
[arming]
delay_reserve = "1 ms"
gain_reserve = 1.01
[case.c]
system = "rig.toml"
devices.robot = { device = "kuka_rsi", axes = ["x"], measured = "displacement" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The system and its parts."""
    folder = tmp_path_factory.mktemp("sampled")
    (folder / "Sensor.mo").write_text(SENSOR)
    build_model("Sensor", folder, folder)
    (folder / "parts.py").write_text(PARTS)
    (folder / "rig.toml").write_text(SYSTEM)
    return folder


def growth(cycles):
    """Growth rate of the map over a period: position, speed, force, and positions of before."""
    rates = np.zeros((3, 3))
    rates[0, 1], rates[1, 1], rates[1, 2] = 1.0, -DAMPING / MASS, 1.0 / MASS
    n = 3 + cycles
    step = np.eye(n, k=-1)
    step[:4] = 0.0
    step[:3, :3] = expm(rates * STEP)
    if cycles:
        step[3, 0] = 1.0
    sample = np.eye(n)
    sample[2] = 0.0
    sample[2, 0 if cycles == 0 else 2 + cycles] = -STIFFNESS
    whole = sample @ np.linalg.matrix_power(step, round(PERIOD / STEP))
    return math.log(np.abs(np.linalg.eigvals(whole)).max()) / PERIOD


@pytest.mark.slow
@pytest.mark.parametrize(
    ("late_ms", "identified_ms", "cycles"), [(0, None, 0), (16, None, 4), (16, 20, 10), (0, 20, 6)]
)
def test_growth_is_that_of_the_map_over_a_period(folder, late_ms, identified_ms, cycles):
    file = folder / "experiment.toml"
    file.write_text(f'{EXPERIMENT}delays = {{ "robot.x -> sensor.x" = "{late_ms} ms" }}\n')
    experiment, reader, settings = read_experiment(file), SystemReader(folder), RunSettings()
    prepared = prepare_all(experiment, ["c"], reader, settings)
    twins = ()
    if identified_ms is not None:
        late = {"delay": about(identified_ms * 1e-3, 1e-4), "transit": about(4e-3)}
        pair = PAIR.model_copy(update={**late, "dynamics": Dynamics(order=0)})
        twins = (TWIN.model_copy(update={"pair": (pair,)}),)
    arming = armed(experiment, prepared, reader, settings, {"c": twins})["c"]
    (line,) = arming.lines
    assert line.growth == pytest.approx(growth(cycles), abs=1e-6)
    assert arming.is_granted == (growth(cycles) < 0.0)
