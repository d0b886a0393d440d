"""Two motors on one emulated line as a joint: its law, its tachometer, and what it refuses."""

import math
from dataclasses import replace

import numpy as np
import pytest
from canopen_bench import COUNTS, Bench, FakeBus, drive
from scipy.linalg import expm

from hw_adapters.canopen_cia402 import adapter
from hw_adapters.canopen_cia402.emulated_drive import EmulatedDrive
from hw_adapters.canopen_cia402.emulated_line import EmulatedLine
from hw_adapters.canopen_cia402.motor_bench import MotorBench, MotorBenchSettings
from hw_adapters.canopen_cia402.servo import Plate, Tuning
from hw_adapters.canopen_cia402.shaft import Shaft
from hw_adapters.canopen_cia402.tachometer import CutTachometer, Tachometer
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, read_settings

R, KT = 2.05, 0.061
J, COULOMB, VISCOUS = 6.38e-5, 0.0205, 2.58e-5
DRIVES = [
    drive("drive", 1, "cst", torque_scale=2e-4, torque_limit=0.6),
    drive("load", 2, "cst", torque_scale=2e-4, torque_limit=0.144),
]
SETTINGS = {
    "channel": "none",
    "drives": DRIVES,
    "pace": "answers",
    "answer_timeout": 0.05,
    "heartbeat_timeout_ms": 60_000,  # a pause of the machine is not what is tried
    "resistance": R,
    "torque_constant": KT,
    "voltage_limit": 20.0,
}


class MotorLine(Bench):
    """The motor bench on emulated drives that answer at once."""

    def __init__(self, monkeypatch, noise=0.0, ripple=0.0, misalignment=0.0, seed=1):
        settings = MotorBenchSettings(**SETTINGS)
        self.log = []
        self.shaft = Shaft(J, VISCOUS, COULOMB, misalignment=misalignment)
        self.tachometer = Tachometer(50.0, noise, seed)
        plate = Plate(COUNTS, rated_torque=0.2, sync_tolerance=1_000_000)
        tuning = Tuning(J, current_lag=0.5e-3)
        self.drives = [
            EmulatedDrive(node, self.shaft, own, plate, self._tell, tachometer)
            for node, own, tachometer in (
                (1, replace(tuning, ripple=ripple), None),
                (2, tuning, self.tachometer),
            )
        ]
        self.bus = FakeBus(EmulatedLine(self.drives, by_clock=False))
        monkeypatch.setattr(adapter, "open_bus", lambda *_: self.bus)
        self.device = MotorBench(settings)


def test_a_voltage_turns_the_shaft_as_a_motor(monkeypatch):
    """J w' = KT (V - KT w)/R - c - b w; the command and the rate are a cycle late each."""
    bench = MotorLine(monkeypatch)
    bench.device.open()
    found = [cycle.values for cycle in bench.cycles(400, (5.0, 0.02))]
    pole = (KT**2 / R + VISCOUS) / J
    end = (KT * 5.0 / R + 0.02 - COULOMB) / (pole * J)
    assert found[-1][2] == pytest.approx(end, rel=2e-3)  # torques have steps of 0.2 mN.m
    t = 1e-3 * np.arange(400)
    rates = np.array([values[2] for values in found])
    exact = end * (1.0 - np.exp(-pole * np.maximum(t - 1.5e-3, 0.0)))  # a cycle and the lag
    # between the cycle that the back-EMF is late and none: 1.5 ms of the pole
    assert np.abs(rates - exact).max() < 1.5e-3 * pole * end * 0.5
    assert found[-1][3] == pytest.approx(KT * (5.0 - KT * end) / R, abs=2e-4)
    assert found[-1][4] == pytest.approx(0.02, abs=2e-4)


def test_a_rippled_motor_and_bent_couplings_show_in_the_rate_but_not_in_what_its_drive_says(
    monkeypatch,
):
    """``J w' = (1 + r cos(7 angle)) torque - m sin(angle) - ..``, at a constant voltage."""
    ripple, misalignment = 0.05, 2e-3
    bench = MotorLine(monkeypatch, ripple=ripple, misalignment=misalignment)
    bench.device.open()
    found = np.array([cycle.values for cycle in bench.cycles(2000, (5.0, 0.0))])[-1000:]
    angle, rate = found[:, 1], found[:, 2]
    turns = np.arange(1000) * 1e-3
    around = np.column_stack(
        [np.cos(7.0 * angle), np.sin(7.0 * angle), np.cos(angle), np.sin(angle), turns, turns**0]
    )
    left, *_ = np.linalg.lstsq(around, rate)
    mean = rate.mean()
    torque = found[:, 3].mean()
    pole = (KT**2 / R + VISCOUS) / J  # its back-EMF is closed by the drive's law
    expected = [
        (ripple * torque / J) / np.hypot(7.0 * mean, pole),
        (misalignment / J) / np.hypot(mean, pole),
    ]
    sizes = [np.hypot(*left[:2]), np.hypot(*left[2:4])]
    assert sizes == pytest.approx(expected, rel=0.1)


def test_below_what_friction_holds_nothing_turns(monkeypatch):
    bench = MotorLine(monkeypatch)
    bench.device.open()
    volts = 0.99 * COULOMB * R / KT
    assert bench.cycles(50, (volts, 0.0))[-1].values[2] == 0.0


def test_a_tachometer_is_the_filter_that_it_says():
    h, corner = 125e-6, 2.0 * math.pi * 50.0
    own = Tachometer(50.0, 0.0, seed=0)
    a = np.array([[0.0, 1.0], [-(corner**2), -math.sqrt(2.0) * corner]])
    step, state = expm(a * h), np.zeros(2)
    goal = np.array([30.0, 0.0])
    for _ in range(100):
        own.step(30.0, h)
        state = goal + step @ (state - goal)
        assert own.shown == pytest.approx(state[0], rel=1e-9)


def test_a_tachometer_that_is_lost_ends_it_and_both_drives_come_to_rest(monkeypatch):
    bench = MotorLine(monkeypatch)
    bench.device.open()
    bench.cycles(300, (5.0, 0.0))
    assert bench.shaft.velocity > 40.0
    bench.drives[1].tachometer = CutTachometer()
    with pytest.raises(DeviceError, match=r"tachometer shows 0 rad/s, the encoder 6.\.\d+ rad/s"):
        bench.until_it_fails([(5.0, 0.0)] * 25)  # 20 ms of patience
    bench.device.close()
    assert bench.shaft.velocity == pytest.approx(0.0, abs=1e-2)
    assert bench.log.count(("quick_stop", 1)) == bench.log.count(("quick_stop", 2)) == 1


def test_without_being_enabled_it_is_read_only():
    ports = MotorBench.connectors(MotorBenchSettings(**SETTINGS, enable=False))
    assert not ports.inputs
    assert [port.name for port in ports.outputs][:2] == ["rate", "angle"]


@pytest.mark.parametrize(
    "drives",
    [
        DRIVES[:1],
        [DRIVES[0], drive("load", 2)],
        [DRIVES[0] | {"measurements": [["statusword", "velocity", "torque"]]}, DRIVES[1]],
    ],
)
def test_drives_that_are_no_bench_are_told(drives, wording):
    with wording.raises(DescriptionError):
        read_settings(MotorBench, {**SETTINGS, "drives": drives}, "device 'd'")
