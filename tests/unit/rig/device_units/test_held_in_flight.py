"""A robot that echoes commands, its process and this machine's, each held up now and then.

No wire and no wall clock: time goes on as the test says. On a monotone ramp the angle that the
robot is led to never goes back, unless commands were really under way for long.
"""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from hw_adapters.counter import TakenCounter
from orchestrator.rig.device_units import io_loop
from orchestrator.rig.device_units.supervision import OwnGate
from orchestrator.rig.devices import DeviceConnector, DeviceConnectors, DeviceSettings, Received

MS = 1_000_000
PERIOD = 8 * MS
H = PERIOD * 1e-9
SPEED, RAMP, RATE = 0.5, 4.0, 0.1


class Block:
    """The run, whose clock the robot is: a step for each sample, along a ramp."""

    def __init__(self, world):
        self._world, self.commands_given, self.lost = world, 1, ""
        self.ticks = SimpleNamespace(tick=lambda _: None)

    def newest_command(self, into):
        self.commands_given += 1
        into[:] = RATE * H * self.commands_given
        return self.commands_given, PERIOD

    def put_sample(self, facts, values):
        pass

    def remark(self, what):
        pass

    def hold(self, held):
        pass

    def lose(self, why):
        self.lost = why


class World:
    """A robot of 125 Hz that takes the newest register in each cycle, and says which it was."""

    def __init__(self, monkeypatch):
        self.now, self.cycle, self.stalled_until = 1000 * MS, 0, 0
        self.register, self.wanted, self.samples = (0, 0.0), [], []
        self.counter, self.hold_up, self.slow = TakenCounter(None), 0, 0
        monkeypatch.setattr(io_loop.time, "monotonic_ns", lambda: self.now)
        command = DeviceConnector(
            "dq", "rad", speed=SPEED, deceleration=RAMP, minimum=-10.0, maximum=10.0
        )
        ports = DeviceConnectors((command,), (DeviceConnector("q", "rad"),), 1e9 / PERIOD)
        settings = DeviceSettings()
        device = SimpleNamespace(
            settings=settings,
            sequence_period=None,
            answers=True,
            takes_unasked=True,
            receive=self.receive,
            send=self.send,
            account=lambda: "",
        )
        facts = SimpleNamespace(ports=ports, settings=settings)
        gate = OwnGate(facts, lambda: self.now)
        self.link = io_loop._Link(device, ports, Block(self), gate)
        self.begun = self.now

    def receive(self, _):
        """Take the oldest sample, which takes a while on a busy machine."""
        found = self.samples.pop(0)
        self.go_on(self.slow)
        return found

    def send(self, values):
        """Give a command to the robot: after this process was held up."""
        number = self.counter.send()
        self.go_on(self.hold_up)
        self.hold_up = 0
        self.register = number, values[0]

    def go_on(self, ns):
        """Let time go by: the robot goes on, or makes up for the cycles that it was late for."""
        self.now += ns
        while self.now >= self.stalled_until and self.now >= self.begun + self.cycle * PERIOD:
            echo, value = self.register
            self.wanted.append(value)
            taken = self.counter.count(echo)
            self.samples.append(
                Received((value,), device_time=self.cycle * H, sequence=self.cycle, taken=taken)
            )
            self.cycle += 1

    def run(self, samples):
        for _ in range(samples):
            while not self.samples:
                self.go_on(MS // 4)
            self.link.receive_once()


@pytest.mark.parametrize("held_ms", [10, 25, 40, 50])
def test_a_process_that_is_held_up_before_it_sends_does_not_turn_a_ramp_round(monkeypatch, held_ms):
    """Its command was not on its way yet, and the samples meanwhile did not show it."""
    world = World(monkeypatch)
    world.run(100)
    first = len(world.wanted)
    world.hold_up, world.slow = held_ms * MS, 5 * MS
    world.run(200)
    steps = np.diff(world.wanted[first - 2 :])
    assert steps.min() >= 0.0
    assert steps.max() <= SPEED * H * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_robot_that_makes_up_for_cycles_does_not_turn_a_ramp_round(monkeypatch, seed):
    """The time of such a sample is before the command that it shows: that is no quick way."""
    world, draws = World(monkeypatch), random.Random(seed)  # noqa: S311 - the same delays each time
    world.run(60)
    for _ in range(25):
        world.stalled_until = world.now + draws.randrange(10, 60) * MS
        world.run(draws.randrange(4, 16))
        world.hold_up, world.slow = draws.randrange(0, 45) * MS, draws.randrange(0, 7) * MS
        world.run(draws.randrange(4, 16))
    steps = np.diff(world.wanted)
    assert steps.min() >= 0.0
    assert not world.link.gate.stopping
