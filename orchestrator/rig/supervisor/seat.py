"""The place of a device's process at its supervisor: what it says, and what it obeys."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from orchestrator.core import posix
from orchestrator.core.diagnostics import DeviceError, Reason
from orchestrator.rig.supervisor.checks import Head, JoiningDevice
from orchestrator.rig.supervisor.gate import CommandGate, GateTimes, Orders
from orchestrator.rig.supervisor.limits import CommandLimits
from orchestrator.rig.supervisor.states import FOLLOWING, STOPPING, State
from orchestrator.rig.supervisor.watch_memory import WatchMemory, Word, write_ring
from orchestrator.rig.supervisor.wire import connect_to, hear, tell


class SampleFacts(Protocol):
    """What is known of a sample, as :class:`orchestrator.engine.SampleFacts` has it."""

    number: int
    valid: int
    status: int
    device_time: float
    lost: int
    late: int
    repeated: int
    malformed: int
    restarts: int


class Seat:
    """Joins a supervisor, sends its device what the gate lets pass, and leaves a trace of it all.

    rig: Whose supervisor.
    facts: Of the device.
    Raises DeviceError: if there is no supervisor, or it does not take the device.
    """

    def __init__(self, rig: str, facts: JoiningDevice) -> None:
        self.facts = facts
        self._channel = connect_to(rig)
        tell(self._channel, {"hello": "device", **facts.as_json()})
        try:
            answer, memory = hear(self._channel)
        except (EOFError, TimeoutError, ValueError):
            raise DeviceError(f"the supervisor of rig '{rig}' gave no answer") from None
        if memory is None:
            raise DeviceError(f"the supervisor refuses it: {answer.get('refused', 'no reason')}")
        self._folder = Path(answer["folder"])
        if answer["priority"]:  # a supervisor that is not granted its own says so
            with contextlib.suppress(PermissionError):
                posix.take_priority(answer["priority"])
        self._memory = WatchMemory(answer["rows"], len(facts.columns), memory)
        self._gate = CommandGate(
            [CommandLimits.model_validate(one) for one in answer["limits"]],
            [signal.start for signal in facts.commands],
            GateTimes(**answer["times"]),
            facts.period_ns,
        )
        self._row = np.zeros(len(facts.columns))
        self._sent_ns = time.monotonic_ns()
        first = len(Head) + len(facts.measured)
        size = len(facts.commands)
        self._measured = slice(len(Head), first)
        self._asked = slice(first, first + size)
        self._sent = slice(first + size, first + 2 * size)
        self._row[self._sent] = [signal.start for signal in facts.commands]

    @property
    def trusted(self) -> bool:
        """Whether the simulation may take what the device measures for its own."""
        return State(self._memory[Word.STATE]) in FOLLOWING and not self._gate.stopping

    @property
    def at_rest(self) -> bool:
        """Whether its command stands."""
        return self._gate.at_rest

    @property
    def stopping(self) -> bool:
        """Whether its command comes to rest, or stands after that."""
        ordered = State(self._memory[Word.STATE]) in STOPPING
        return ordered or self._gate.stopping

    @property
    def behind(self) -> bool:
        """Whether what is sent still goes towards the newest command."""
        return self._gate.behind

    @property
    def shaped(self) -> int:
        """How many commands were faster than their limit, and sent slower."""
        return self._gate.shaped

    @property
    def is_watched(self) -> bool:
        """Whether the supervisor gives signs of life."""
        return self._gate.reason is not Reason.SUPERVISOR_LOST

    @property
    def released(self) -> Reason:
        """Why the run is to end; ``OPERATION``: it is not."""
        if self._memory[Word.RELEASED]:
            return Reason(self._memory[Word.REASON])
        alone = self._gate.reason is Reason.SUPERVISOR_LOST and self._gate.at_rest
        return Reason.SUPERVISOR_LOST if alone else Reason.OPERATION

    def command(self, wanted: Sequence[float], number: int) -> list[float]:
        """Return what is sent now in the place of the simulation's newest command."""
        now = time.monotonic_ns()
        sent = self._gate.command(wanted, number, self._orders(), now)
        self._row[self._asked], self._row[self._sent] = wanted, sent
        self._row[Head.COMMAND_NUMBER] = number
        self._sent_ns = now
        self._beat(number, now)
        return sent

    def watch(self, number: int) -> None:
        """Give a sign of life, and look whether supervisor and simulation gave theirs."""
        now = time.monotonic_ns()
        self._gate.watch(self._orders(), number, now)
        self._beat(number, now)

    def take_back(self) -> None:
        """Take note that the device did not take what it was sent last."""
        self._gate.take_back()

    def saw(self, facts: SampleFacts, values: Sequence[float]) -> None:
        """Leave a trace of a sample, or of a datagram that was none."""
        row, now = self._row, time.monotonic_ns()
        row[Head.STATE], row[Head.REASON] = self._memory[Word.STATE], self._gate.reason
        row[Head.NUMBER], row[Head.VALID] = facts.number, facts.valid
        row[Head.STATUS], row[Head.DEVICE_TIME] = facts.status, facts.device_time
        row[Head.LOST], row[Head.LATE] = facts.lost, facts.late
        row[Head.REPEATED], row[Head.MALFORMED] = facts.repeated, facts.malformed
        row[Head.RESTARTS] = facts.restarts
        row[Head.COMMAND_AGE] = (now - self._sent_ns) * 1e-9
        row[self._measured] = values
        self._memory.add(now, row)

    def strike(self, reason: Reason) -> None:
        """Come to rest for what was found of the device, and let the supervisor know."""
        now = time.monotonic_ns()
        self._gate.trip(reason, now)
        self._beat(self._memory[Word.COMMANDS], now)

    def run_ended(self, *, regularly: bool) -> None:
        """Come to rest because the run is over, or gone."""
        if not self._memory[Word.RUN_GONE]:
            self._memory[Word.RUN_GONE] = 1 if regularly else 2

    def leave(self) -> None:
        """Leave; if the supervisor is gone, write what it would have written."""
        if self._gate.reason is Reason.SUPERVISOR_LOST:
            name = f"supervisor_lost.{self.facts.device}.csv"
            write_ring(self._folder / name, self.facts.columns, self._memory)
        self._channel.close()

    def _orders(self) -> Orders:
        memory = self._memory
        return Orders(State(memory[Word.STATE]), memory[Word.SINCE], memory[Word.BEAT])

    def _beat(self, number: int, now_ns: int) -> None:
        memory, gate = self._memory, self._gate
        memory[Word.COMMANDS] = number
        memory[Word.AT_REST] = int(gate.at_rest)
        memory[Word.IO_REASON] = gate.reason
        memory[Word.IO_FOUND] = gate.found_ns
        memory[Word.IO_BEAT] = now_ns
