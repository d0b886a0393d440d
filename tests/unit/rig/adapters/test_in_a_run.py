"""Every adapter that is shipped, in the place of a component of a run, with its emulator."""

import time

import numpy as np
import pytest

from orchestrator import Block, Execution, Input, Output, System, block
from orchestrator.rig.devices.conformance import EmulatorProcess, bench_of
from orchestrator.rig.devices.registry import write_address
from orchestrator.study.prepare.prepare import swap_component
from python_blocks.kinematics.rotation import Floats

STEP = 0.004
WANTED = 0.0005  # m
UR_START = (0.0, -1.5707963, 1.5707963, 0.0, 1.5707963, 0.0)  # rad


class Wants(Block):
    """Gives one command."""

    u: float = Output(unit="m", depends_on=(), start=WANTED)

    def step(self, t, h):
        self.u = WANTED


class Axis(Block):
    """What a device with an axis replaces."""

    x_set: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.x = self.x_set


class Robot(Block):
    """What the robot replaces."""

    dx: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.x = self.dx


class Motor(Block):
    """What a drive under position commands replaces."""

    motor_position_set: float = Input(unit="m")
    motor_position: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.motor_position = self.motor_position_set


class Hexapod(Block):
    """What a hexapod replaces."""

    dx: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.x = self.dx


class WantsSix(Block):
    """Gives the same command to six joints."""

    u: Floats = Output(unit="rad", shape=(6,), depends_on=(), start=(WANTED,) * 6)

    def step(self, t, h):
        self.u[:] = WANTED


class Arm(Block):
    """What a robot led by its joints replaces."""

    dq: Floats = Input(unit="rad", shape=(6,))
    q: Floats = Output(unit="rad", shape=(6,), depends_on=())

    def step(self, t, h):
        self.q[:] = self.dq


class Sensor(Block):
    """What the sensor replaces."""

    fx: float = Output(unit="N", depends_on=())

    def step(self, t, h):
        self.fx = 0.0


class Sink(Block):
    """Takes a force."""

    f: float = Input(unit="N")

    def step(self, t, h):
        pass


def moved(kind, command, measured="x"):
    system = System("loop").add("wants", block(Wants)).add("rig", block(kind))
    return system.connect("wants.u", f"rig.{command}"), f"rig.{measured}"


SYSTEMS = {
    "udp": lambda: moved(Axis, "x_set"),
    "shm": lambda: moved(Axis, "x_set"),
    "dcp": lambda: moved(Axis, "x_set"),
    "kuka_rsi": lambda: moved(Robot, "dx"),
    "canopen_cia402": lambda: moved(Motor, "motor_position_set", "motor_position"),
    "pi_gcs": lambda: moved(Hexapod, "dx"),
    "ur_rtde": lambda: (
        System("led")
        .add("wants", block(WantsSix))
        .add("rig", block(Arm))
        .connect("wants.u", "rig.dq"),
        "rig.q",
    ),
    "ati_net_ft": lambda: (
        System("felt")
        .add("rig", block(Sensor))
        .add("sink", block(Sink))
        .connect("rig.fx", "sink.f"),
        "rig.fx",
    ),
}
#: What is measured when the command has come through: the robot begins at 1 m; noise of 0.01 N.
EXPECTED = {
    "udp": pytest.approx(WANTED, abs=1e-12),
    "shm": pytest.approx(WANTED, abs=1e-12),
    "dcp": pytest.approx(WANTED, abs=1e-12),
    "kuka_rsi": pytest.approx(1.0 + WANTED, abs=1e-9),
    "canopen_cia402": pytest.approx(WANTED, abs=2e-6),  # two increments
    "pi_gcs": pytest.approx(WANTED, abs=1e-9),
    "ur_rtde": pytest.approx(np.array(UR_START) + WANTED, abs=1e-12),
    "ati_net_ft": pytest.approx(0.0, abs=0.05),
}

#: Settings beyond those of the bench.
MORE = {
    "kuka_rsi": {"axes": ["x"], "timeout_cycles": 2000},
    "pi_gcs": {"axes": ["x"]},
    "canopen_cia402": {
        "drives": [
            {
                "name": "motor",
                "node": 1,
                "mode": "csp",
                "axis": "linear",
                "position_scale": 1e-6,
                "torque_scale": 1e-3,
                "velocity_limit": 1.0,
                "torque_limit": 1.0,
                "quick_stop_deceleration": 10.0,
            }
        ]
    },
}
NAMES = [n if n == "kuka_rsi" else pytest.param(n, marks=pytest.mark.slow) for n in SYSTEMS]


@pytest.mark.alone
@pytest.mark.parametrize("name", NAMES)
def test_a_run_leads_the_device(name):
    bench = bench_of(name)
    wiring = bench.wiring()
    system, measured = SYSTEMS[name]()
    settings = {
        **wiring.settings,
        "stale_after": 5.0,
        "command_stale_after": 5.0 if name != "canopen_cia402" else 0.1,
        **MORE.get(name, {}),
    }  # a busy machine is not what is tried
    with EmulatorProcess(bench.emulator, wiring.arguments):
        rig = swap_component(system, "rig", f"device:{write_address(name, settings)}")
        with Execution(rig, step=STEP) as run:
            end = time.monotonic() + 20.0
            run.step()
            while run.get(measured) != EXPECTED[name] and time.monotonic() < end:
                time.sleep(0.01)
                run.step()
            assert run.get(measured) == EXPECTED[name]
            assert run.get("rig.valid") == 1.0
            assert run.get("rig.lost") == 0.0 or bench.newest_only
            assert run.get("rig.sample_age") < 5.0
