"""The supervised EPOS rig on a clock that the test drives: nothing waits, nothing is late.

Emulated robot and sheet, the seats of both devices, the supervisor and the run are those of the
product; what is made here is what lies between their processes: sockets, and who runs when. In
every millisecond each process that is neither stopped nor killed does what there is to do.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from hw_adapters.ati_net_ft.sheet import Probe, Sheet
from hw_adapters.kuka_rsi.codec import Correction, encode_correction
from hw_adapters.kuka_rsi.controller import Controller, Setup
from orchestrator import Reason, System, fmu, read_experiment
from orchestrator.core.master import Execution
from orchestrator.rig.device_units import supervision as seat_module
from orchestrator.rig.device_units.sequence import SampleCounter
from orchestrator.rig.device_units.supervision import Seat
from orchestrator.rig.devices import Received
from orchestrator.rig.supervisor.gate import gauge_count
from orchestrator.rig.supervisor.states import FOLLOWING, State
from orchestrator.rig.supervisor.supervisor import Supervisor
from orchestrator.rig.supervisor.watch_memory import JoiningDevice, RingSignal, WatchMemory

EPOS = Path(__file__).parents[1] / "examples" / "epos"
MS = 1_000_000
ROBOT = JoiningDevice(
    "robot",
    (RingSignal("x", "m"),),
    (RingSignal("dx", "m", 0.0, -0.05, 0.05),),
    4 * MS,
    11,
    10,
    True,
)
SENSOR = JoiningDevice("sensor", (RingSignal("fx", "N"),), (), MS, 12, 10)
NEVER = 2**62
#: Of the ring: more than any of these rigs writes, and as much of the Net F/T's counter.
_ROWS, _COUNT = 65536, 2**32


@dataclass
class Life:
    """Until when a process is stopped; NEVER: it was killed, or has ended."""

    back_ns: int = 0

    def runs(self, now_ns: int) -> bool:
        return now_ns >= self.back_ns


class Process:
    """The process of a device: takes what came, answers where that is asked for."""

    def __init__(
        self, rig: Rig, facts: JoiningDevice, answer: Callable[[list[float]], None]
    ) -> None:
        self.facts, self.life, self.inbox = facts, Life(), list[Received]()
        self.seat = Seat("in step", facts)
        self._rig, self._answer = rig, answer
        rate = 1e9 / facts.period_ns
        self.counter = SampleCounter(len(facts.measured), rate, _COUNT)
        self.value = 0.0

    def work(self) -> int:
        """Do what there is to do; return how many samples were new."""
        received, self.inbox = self.inbox, []
        new = 0
        for sample in received:
            if self.facts.answers:
                self._send(sample)
            if self.counter.take(sample, self._rig.now_ns):
                (self.value,), new = sample.values, new + 1
            self.seat.saw(self.counter.facts, [self.value])
        self.seat.look(self._rig.number)
        return new

    def _send(self, sample: Received) -> None:
        sent = self.seat.command([self._rig.wanted], self._rig.number)
        self._rig.answered = sample.sequence * 4
        self._answer(sent)


class Rig:
    """The rig of rig_supervised.toml, whose processes can be stopped and killed.

    Parameters
    ----------
    changes
        Of its table [supervisor].
    """

    def __init__(self, patch, **changes) -> None:
        found = read_experiment(EPOS / "rig_supervised.toml").supervisor
        self.settings = type(found).model_validate(found.model_dump(mode="json") | changes)
        self.now_ns, self.number, self.wanted, self.answered = 5000 * MS, 1, 0.0, 0
        self.supervisor = Supervisor(self.settings, ["robot", "sensor"])
        self._pass_the_sockets(patch)
        self.controller = Controller(Setup(timeout=10**6), 4_000_000)
        self.sheet = Sheet(2510.0, both_sides=True, noise=0.05)
        self.probe = Probe()
        self.processes = {
            "robot": Process(self, ROBOT, self._take),
            "sensor": Process(self, SENSOR, lambda _: None),
        }
        self.lives = {name: process.life for name, process in self.processes.items()}
        self.lives |= {name: Life() for name in ("simulation", "supervisor", "emulator")}
        self.lost_from_ns = NEVER  # of the frames of the robot
        self._due_ns = self.now_ns + 4 * MS
        self._late: list[tuple[int, Received]] = []
        self._samples = itertools.count()
        body = System("body").add(
            *("chaser", fmu(EPOS.parents[1] / "fmus/build/Chaser.fmu")),
            m=750.0,
            v0=0.0,
            thrust=10.0,
        )
        self._run = Execution(body, step="4 ms")
        self.rows: list[tuple[int, float]] = []
        self.commands: list[tuple[int, float]] = []
        self.forces: list[tuple[int, float]] = []

    def _pass_the_sockets(self, patch) -> None:
        """Let seats talk to the supervisor by calls, and read the clock of the rig."""

        def join(channel):
            facts = channel.facts
            gauges = gauge_count(len(facts.commands))
            memory = WatchMemory(_ROWS, len(facts.columns), gauges=gauges)
            self.supervisor.join(channel.facts, memory, self.now_ns)
            answer = {
                "folder": "",
                "priority": 0,
                "rows": _ROWS,
                "limits": [one.model_dump() for one in self.supervisor.limits_of(channel.facts)],
                "times": asdict(self.settings.times),
            }
            return answer, os.dup(memory.file)

        def tell(channel, message):
            channel.facts = JoiningDevice.of_json(
                {k: v for k, v in message.items() if k != "hello"}
            )

        clock = SimpleNamespace(monotonic_ns=lambda: self.now_ns)
        patch.setattr(seat_module, "connect_to", lambda _: SimpleNamespace(facts=None))
        patch.setattr(seat_module, "hear", join)
        patch.setattr(seat_module, "tell", tell)
        patch.setattr(seat_module, "time", clock)

    def stop(self, name: str, for_ns: int = NEVER) -> None:
        """Stop a process for a time, or kill it."""
        self.lives[name].back_ns = self.now_ns + for_ns
        if for_ns == NEVER and name == "simulation":  # the sockets of the devices end
            for process in self.processes.values():
                process.seat.run_ended(regularly=False)
        elif for_ns == NEVER and name in self.processes:
            self.supervisor.leave(name)

    def advance(self, seconds: float) -> Rig:
        """Let so much time go by."""
        for _ in range(round(seconds * 1e3)):
            self.now_ns += MS
            self._millisecond()
        return self

    def until_active(self) -> Rig:
        for _ in range(2000):
            if self.state is State.ACTIVE:
                return self
            self.advance(1e-3)
        raise AssertionError(f"it is in {self.state.name}; {self.supervisor.machine.latched}")

    def _runs(self, name: str) -> bool:
        return self.lives[name].runs(self.now_ns)

    def _millisecond(self) -> None:
        if self._runs("emulator"):
            while self.now_ns >= self._due_ns:  # those that it missed come at once
                self._due_ns += 4 * MS
                self._cycle()
            self._sample()
        steps = 0
        for name, process in self.processes.items():
            if self._runs(name):
                new = process.work()
                steps = new if name == "robot" else steps
        if self._runs("simulation"):
            self._step(steps)
        if self._runs("supervisor") and self.now_ns // MS % 2 == 0:
            self.supervisor.look(self.now_ns)
        if any(p.seat.released for p in self.processes.values() if self._runs(p.facts.device)):
            self.lives["simulation"].back_ns = NEVER  # the run ends with an error
            for process in self.processes.values():
                process.seat.run_ended(regularly=True)

    def _cycle(self) -> None:
        robot = self.controller
        robot.next_cycle()
        self.commands.append((self.now_ns, robot.commanded[0] * 1e-3))
        offset = (robot.pose - robot.setup.start) * 1e-3
        self.probe.position, self.probe.velocity = tuple(offset), tuple(robot.velocity * 1e-3)
        self.probe.at_ns = self.now_ns
        if self.now_ns < self.lost_from_ns:
            x = round(offset[0] * 1e3, 4) * 1e-3
            sample = Received((x,), robot.ipoc * 1e-3, robot.ipoc // 4, status=robot.late)
            self.processes["robot"].inbox.append(sample)

    def _sample(self) -> None:
        force = self.sheet.wrench(*self.probe.at(self.now_ns, 0))[0]
        self.forces.append((self.now_ns, force))
        count = next(self._samples)
        sample = Received((force,), count * 1e-3, count)
        self._late.append((self.now_ns + 2 * MS, sample))
        while self._late and self._late[0][0] <= self.now_ns:
            self.processes["sensor"].inbox.append(self._late.pop(0)[1])

    def _take(self, sent: list[float]) -> None:
        answer = Correction(self.answered, (sent[0] * 1e3, 0.0, 0.0, 0.0, 0.0, 0.0))
        self.controller.take(encode_correction(answer))

    def _step(self, steps: int) -> None:
        """Step once for each sample of the robot; held until devices are trusted."""
        if self.state not in FOLLOWING and self.state is not State.SHADOW:
            return
        for _ in range(steps):
            self._run.set("chaser.force", self.processes["sensor"].value)
            self._run.set("chaser.virtual_force", -100.0 * float(self._run.get("chaser.velocity")))
            self._run.step()
            self.wanted = float(self._run.get("chaser.position"))
            self.number += 1
            self.rows.append((self.now_ns, self.wanted))

    @property
    def state(self) -> State:
        return self.supervisor.machine.state

    @property
    def found(self) -> list[tuple[Reason, str]]:
        """What was found, in its order: by the supervisor, or by the gate alone."""
        latched = [(fault.reason, fault.location) for fault in self.supervisor.machine.latched]
        return latched or [
            (p.seat.released, name) for name, p in self.processes.items() if p.seat.released
        ]

    def velocity(self, since_ns: int) -> float:
        """Return the largest velocity that was commanded on the wire from a moment on, m/s."""
        moved = np.diff([value for at, value in self.commands if at >= since_ns])
        return float(np.abs(moved).max(initial=0.0)) / 4e-3

    def force(self, since_ns: int) -> float:
        return max((abs(value) for at, value in self.forces if at >= since_ns), default=0.0)

    def rested(self, since_ns: int) -> float:
        """Return how long after a moment the command on the wire last moved, s."""
        pairs = itertools.pairwise(self.commands)
        last = [at for (_, a), (at, b) in pairs if abs(b - a) > 1e-9 and at >= since_ns]
        return (last[-1] - since_ns) * 1e-9 if last else 0.0
