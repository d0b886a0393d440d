"""Commands that are held on their way to a device of which only the motion says what it takes.

No wire and no wall clock: a gate, a device, and the time of the test.
"""

import math
import random
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from orchestrator.rig.device_units.following import HeldCommands, JumpCheck
from orchestrator.rig.device_units.supervision import OwnGate
from orchestrator.rig.devices import DeviceConnector, DeviceConnectors, DeviceSettings

PERIOD = 4_000_000
H = PERIOD * 1e-9
SPEED, RAMP = 0.25, 2.0


class Rig:
    """A gate at 250 Hz, and an axis that is where it was told to be: so late, behind a lag, noisy.

    held: While it is true, commands wait on their way.
    """

    def __init__(self, delay=0, lag=0.0, noise=0.0, backlash=0.0, **port):
        given = {"speed": SPEED, "deceleration": RAMP, "minimum": -0.1, "maximum": 0.1} | port
        command = DeviceConnector("u", "m", **given)
        self.ports = DeviceConnectors(
            (command,), (DeviceConnector("x", "m", follows="u"),), 1.0 / H
        )
        facts = SimpleNamespace(ports=self.ports, settings=DeviceSettings())
        self.now, self.number, self.held = 0, 0, False
        self.gate = OwnGate(facts, lambda: self.now)
        self.commands, self.back = HeldCommands(self.ports), 0
        self.waiting, self.coming = deque(), deque([0.0] * (delay + 1), maxlen=delay + 1)
        self.lag, self.noise, self.backlash = lag, noise, backlash
        self.draws = random.Random(3)  # noqa: S311 - of a test
        self.at, self.place, self.told = 0.0, [0.0], ""

    def cycle(self, wanted):
        self.now += PERIOD
        self.number += 1
        (sent,) = self.gate.command([wanted], self.number, PERIOD)
        self.commands.send(self.now, (sent,))
        self.waiting.append(sent)
        self.coming.append(self.coming[-1] if self.held else self.waiting[-1])
        if not self.held:  # of those that come at once the newest counts
            self.waiting.clear()
        goal = self.coming[0]
        if abs(goal - self.at) > self.backlash:
            goal -= np.sign(goal - self.at) * self.backlash
            self.at += (goal - self.at) * (1.0 if not self.lag else 1.0 - np.exp(-H / self.lag))
        self.place.append(self.at)
        shown = 7.0 + self.at + self.noise * self.draws.uniform(-1, 1)
        back = self.commands.look([shown], self.now + PERIOD // 2, self.gate.sent.tolist())
        if back is not None:
            self.back += 1
            self.gate.take_back(back)
        self.told = self.told or self.commands.lost([wanted], self.now)

    def move(self, motion, cycles):
        first = len(self.place)
        for _ in range(cycles):
            self.cycle(motion(self.number * H))
        return np.diff(self.place[first - 1 :])


def ramp(velocity, rest=0.3):
    return lambda t: velocity * max(t - rest, 0.0)


@pytest.mark.parametrize("held", [8, 12, 22, 60, 125])
@pytest.mark.parametrize("velocity", [0.01, 0.025])
@pytest.mark.parametrize("noise", [0.0, 2e-6])
def test_after_a_hold_the_axis_goes_on_from_where_it_stands(held, velocity, noise):
    """Commands held for 90 ms and 0.5 s moved an axis by 1.5 and 7 mm at once."""
    rig = Rig(noise=noise)
    rig.move(ramp(velocity), 250)
    assert rig.back == 0
    rig.held = True
    rig.move(ramp(velocity), held)
    rig.held = False
    steps = rig.move(ramp(velocity), 600)
    assert np.abs(steps).max() <= SPEED * H * (1 + 1e-9)
    assert rig.place[-1] == pytest.approx(ramp(velocity)(rig.number * H), abs=2e-4)
    assert not rig.gate.stopping


@pytest.mark.parametrize("how", [{}, {"delay": 5}, {"delay": 20, "lag": 0.01}])
def test_a_long_hold_is_left_by_the_ramp(how):
    """Once the hold is seen, what comes at its end leads the axis by one cycle of its ramp."""
    rig = Rig(minimum=-1.0, maximum=1.0, **how)
    rig.move(ramp(0.1, rest=1.2), 340)
    rig.held = True
    rig.move(ramp(0.1, rest=1.2), 90)
    rig.held = False
    assert rig.back > 0
    steps = rig.move(ramp(0.1, rest=1.2), 300)
    assert np.abs(steps).max() <= SPEED * H * (1 + 1e-9)


@pytest.mark.parametrize("delay", [0, 4])
def test_pauses_that_grow_do_not_allow_longer_ones(delay):
    """Each pause counted as the time that a command is on its way, and twice that was allowed."""
    rig, motion = Rig(delay=delay), ramp(0.025)
    rig.move(motion, 250)
    steps = []
    for held in (3, 5, 8, 12, 18, 26, 38, 60):
        rig.held = True
        steps += rig.move(motion, held).tolist()
        rig.held = False
        steps += rig.move(motion, delay + 2).tolist()
    steps += rig.move(motion, 300).tolist()
    on_their_way = 2 * delay * 0.025 * H  # until the pause begins, and until it is one
    assert np.abs(steps).max() <= (SPEED * H + on_their_way) * (1 + 1e-9)
    assert rig.back > 0
    assert rig.place[-1] == pytest.approx(motion((rig.number - delay) * H), abs=2e-4)
    assert not rig.told


MOTIONS = {
    "ramp": ramp(0.025),
    "slow": ramp(2e-4),
    "sine": lambda t: 0.02 * np.sin(3.0 * t),
    "stairs": lambda t: 0.002 * np.floor(4.0 * t),
    "there and back": lambda t: 0.02 * abs((t % 2.0) - 1.0) - 0.02,
}


@pytest.mark.parametrize("motion", list(MOTIONS))
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"delay": 3},
        {"delay": 30, "lag": 0.04},
        {"delay": 70},
        {"lag": 0.1, "noise": 1e-5},
        {"noise": 1e-3},
        {"delay": 2, "backlash": 1e-4},
    ],
)
def test_a_device_that_follows_late_is_led_as_it_is(motion, how):
    rig = Rig(**how)
    rig.move(MOTIONS[motion], 1500)
    assert rig.back == 0
    assert not rig.told


def test_an_axis_that_sticks_for_a_while_is_moved_on():
    rig = Rig(delay=2, backlash=4e-4)
    rig.move(MOTIONS["there and back"], 1500)
    assert not rig.told
    assert not rig.gate.stopping
    assert max(rig.place) - min(rig.place) > 0.017


def test_commands_that_are_never_taken_are_told():
    rig = Rig()
    rig.move(ramp(0.025), 250)
    rig.held = True
    rig.move(ramp(0.025), 150)
    assert "'x' stands at 7.0" in rig.told
    assert "does not take its commands" in rig.told


@pytest.mark.parametrize(
    "port", [{"speed": np.inf}, {"unit": "rad"}, {"frame": "other"}], ids=["speed", "unit", "frame"]
)
def test_nothing_is_concluded_of_what_cannot_be_compared(port):
    unit = port.pop("unit", "m")
    command = DeviceConnector("u", unit, **{"speed": SPEED, "deceleration": RAMP} | port)
    ports = DeviceConnectors((command,), (DeviceConnector("x", "m", follows="u"),), 250.0)
    check = HeldCommands(ports)
    for k in range(200):
        check.send(k * PERIOD, [0.001 * k])
        assert check.look([0.0], k * PERIOD, [0.001 * k]) is None
        assert not check.lost([0.001 * k], k * PERIOD)


def moving(*outputs):
    """Return a device at 250 Hz whose outputs follow a command each, of 0.25 units per second."""
    return DeviceConnectors(
        tuple(
            DeviceConnector(f"d{n}", u, minimum=-9.0, maximum=9.0, speed=0.25) for n, u in outputs
        ),
        tuple(DeviceConnector(n, u, follows=f"d{n}") for n, u in outputs),
        250.0,
    )


@pytest.mark.parametrize(
    ("outputs", "steps", "gap", "jumped"),
    [
        ([("x", "m")], [0.001] * 9, 1, ""),
        ([("x", "m")], [0.001] * 9 + [0.0061], 1, "'x' jumped by 0.0061 m"),
        ([("x", "m")], [0.0061], 5, ""),
        ([("x", "m")], [-0.0081], 5, "'x' jumped by -0.0081 m"),
        ([("q", "rad")], [0.0061], 1, "'q' jumped by 0.0061 rad"),
        ([("q", "rad")], [2.0 * math.pi], 1, ""),
        ([("a", "rad"), ("x", "m")], [0.5], 1, ""),
    ],
)
def test_a_value_that_jumps_farther_than_its_command_may_is_named(outputs, steps, gap, jumped):
    check, value, said = JumpCheck(moving(*outputs)), 1.0, ""
    rest = [0.0] * (len(outputs) - 1)
    assert check.look([value, *rest], 1) == ""
    for step in steps:
        value += step
        said = check.look([value, *rest], gap)
    assert said.startswith(jumped) if jumped else said == ""
