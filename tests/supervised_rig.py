"""A supervised rig in synthetic time: two devices without processes, and their supervisor."""

import numpy as np

from orchestrator.rig.supervisor.gate import gauge_count
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.supervisor import Supervisor
from orchestrator.rig.supervisor.watch_memory import (
    Head,
    JoiningDevice,
    RingSignal,
    WatchMemory,
    Word,
)

MS = 1_000_000
LIMITS = {"velocity": 0.25, "deceleration": 2.0, "stop_jerk": 100.0}
ROBOT = JoiningDevice("robot", (RingSignal("x", "m"),), (RingSignal("dx", "m"),), 4 * MS, 11, 10)
SENSOR = JoiningDevice("sensor", (RingSignal("fx", "N"),), (), 4 * MS, 12, 10)
TABLE = {
    "rig": "test",
    "arm": "automatic",
    "blend": "20 ms",
    "commands": {"robot.dx": LIMITS},
    "signals": {
        "sensor.fx": {"minimum": -50.0, "maximum": 50.0, "slew": 5000.0, "frozen": "60 ms"},
        "robot.x": {"maximum": 0.03, "frozen": "60 ms", "against": "robot.dx", "travel": 0.001},
    },
    "energy": {"contact": {"force": "sensor.fx", "motion": "robot.dx", "limit": 0.5}},
}


class Rig:
    """Two devices whose processes are these lines, and a supervisor that looks at them."""

    def __init__(self, **changes):
        self.supervisor = Supervisor(SupervisorSettings(**TABLE | changes), ["robot", "sensor"])
        self.now = 5000 * MS
        self.memories, self.rows = {}, {}
        for facts in (ROBOT, SENSOR):
            gauges = gauge_count(len(facts.commands))
            self.memories[facts.device] = WatchMemory(64, len(facts.columns), gauges=gauges)
            self.rows[facts.device] = np.zeros(len(facts.columns))
            self.rows[facts.device][Head.VALID] = 1
            self.supervisor.join(facts, self.memories[facts.device], self.now)
        self.silent, self.engine, self.force, self.place = set(), True, 1.0, 0.0
        self.shaking = 1e-3
        self.stands = True

    def cycle(self, cycles=1, **columns):
        """Let both send a sample and look; columns of both rows are set by name."""
        for _ in range(cycles):
            self.now += 4 * MS
            for facts in (ROBOT, SENSOR):
                if facts.device not in self.silent:
                    self._sample(facts, columns)
            self.supervisor.look(self.now)
        return self.state

    def _sample(self, facts, columns):
        memory, row = self.memories[facts.device], self.rows[facts.device]
        row[Head.NUMBER] += 1
        row[Head.DEVICE_TIME] = self.now * 1e-9
        if facts is ROBOT:
            row[len(Head)] = row[-1] = self.place
            memory[Word.COMMANDS] += self.engine
        else:
            self.shaking = -self.shaking  # noise
            row[len(Head)] = self.force + self.shaking
        for name, value in columns.items():
            if name not in facts.columns:
                continue
            row[facts.columns.index(name)] = value
        memory[Word.IO_BEAT] = self.now
        follows = self.state in (State.BLEND, State.ACTIVE)
        memory[Word.AT_REST] = int(facts is SENSOR or (self.stands and not follows))
        memory.add(self.now, row)

    @property
    def state(self):
        return self.supervisor.machine.state

    @property
    def latched(self):
        return [(fault.reason, fault.location) for fault in self.supervisor.machine.latched]

    def active(self):
        """Go to ACTIVE."""
        assert self.cycle(12) is State.ACTIVE
        return self
