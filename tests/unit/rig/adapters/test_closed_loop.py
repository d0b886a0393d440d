"""A simulated satellite on emulated robot and sheet, cycle by cycle without a clock.

The robot holds what was commanded 16 ms before, the force is held for a cycle, and so the loop is
``m x'' = -k x(t - h)`` with h = 16 ms + T / 2: it grows by k h / (2 m), as energy that the delay
makes (docs/explanation/delay.md).
"""

import numpy as np
import pytest

from hw_adapters.ati_net_ft.calibration import Calibration
from hw_adapters.ati_net_ft.sheet import Sheet
from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faults import Faults
from hw_adapters.emulation.faulty_sender import FaultySender
from hw_adapters.kuka_rsi.adapter import KukaRsi, KukaRsiSettings
from hw_adapters.kuka_rsi.controller import Controller, Setup
from hw_adapters.kuka_rsi.emulator import Robot

T = 0.004
MASS = 750.0  # kg
STIFFNESS = 2510.0  # N/m
SPEED = 0.03  # m/s
CYCLES = 1800  # two periods


class Wire:
    """Between adapter and controller: a frame is there as soon as it is asked for."""

    def __init__(self, controller):
        robot = Robot.__new__(Robot)
        robot._setup, robot._controller = controller.setup, controller
        robot._sender = FaultySender(Faults(), 0, EventLog(None, ()))
        self.robot = robot
        self.peer = ("127.0.0.1", 9)

    def receive(self, timeout_s):
        return self.robot._frame(), self.peer

    def send(self, datagram):
        assert self.robot._controller.take(datagram) == "answer"
        assert self.robot._controller.next_cycle() == ""


def emulated(delay_cycles):
    """Positions of the satellite, m, one for each cycle."""
    controller = Controller(Setup(delay_ms=delay_cycles * 4.0), 4000)
    robot = KukaRsi(KukaRsiSettings(axes=["x"], measured="displacement"))
    robot._socket = Wire(controller)
    sheet, calibration = Sheet(STIFFNESS, both_sides=True), Calibration(1e6, 1e6)
    x, v, positions = 0.0, SPEED, []
    for _ in range(CYCLES):
        measured = robot.receive(0.0).values[0]
        counts = round(sheet.force(measured, 0.0) * 1e6)
        force = calibration.wrench((counts, 0, 0, 0, 0, 0))[0]
        positions.append(x)
        robot.send((x,))
        x, v = x + T * v + T * T / 2.0 * force / MASS, v + T * force / MASS
    return np.array(positions)


def linear(delay_cycles):
    """The matrix of one cycle: position, velocity, and the positions that are on their way."""
    n = 2 + delay_cycles
    step = np.eye(n, k=-1)
    push = -STIFFNESS / MASS
    step[:3] = 0.0
    step[0, :2], step[1, 1] = (1.0, T), 1.0
    step[0, -1], step[1, -1] = T * T / 2.0 * push, T * push
    step[2, 0] = 1.0
    return step


@pytest.mark.parametrize("delay_cycles", [4, 8])
def test_the_loop_moves_and_grows_as_its_delay_says(delay_cycles):
    step = linear(delay_cycles)
    state = np.zeros(len(step))
    state[1] = SPEED
    expected = []
    for _ in range(CYCLES):
        expected.append(state[0])
        state = step @ state
    # the frames have 0.1 um, and a loop that grows keeps what they round
    assert emulated(delay_cycles) == pytest.approx(np.array(expected), abs=2e-6)
    assert max(expected[900:]) > 1.1 * max(expected[:900])
    growth = np.log(np.abs(np.linalg.eigvals(step)).max()) / T
    delay = (delay_cycles + 0.5) * T
    assert growth == pytest.approx(STIFFNESS * delay / (2.0 * MASS), rel=0.01)
