"""What the process of a device does with commands, with a supervisor and without."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import CommandStaleError, DeviceError, Reason
from orchestrator.core.structs import replace
from orchestrator.engine import DeviceBlock, SampleFacts
from orchestrator.rig.device_units.facts import DeviceFacts
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.supervisor.gate import AxisLimits, CommandGate, GateTimes, Orders, gauge_count
from orchestrator.rig.supervisor.settings import CommandLimits
from orchestrator.rig.supervisor.states import FOLLOWING, STOPPING, State
from orchestrator.rig.supervisor.watch_memory import (
    Head,
    JoiningDevice,
    RingSignal,
    WatchMemory,
    Word,
    write_ring,
)
from orchestrator.rig.supervisor.wire import connect_to, hear, tell

#: A command that does not stand after so long is given up: the device is silent.
_REST_S = 3.0
#: A ramp has its whole deceleration after so long, s.
_ONSET_S = 0.04
#: Time and periods for which a command may be held back.
_PERSISTENCE_S, _PERSISTENCE_PERIODS = 0.04, 3
#: A command that comes to rest is not to be followed by another.
_FOREVER_NS = 1 << 62
#: Fewer cycles without a command say nothing of a simulation.
_LEAST_CYCLES = 3
_Array = npt.NDArray[np.float64]


class OwnGate:
    """Keeps the speeds of commands, and brings them to rest when the run gives none any more.

    facts: The device.
    clock: CLOCK_MONOTONIC in ns.
    """

    def __init__(self, facts: DeviceFacts, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        ports, self._settings = facts.ports, facts.settings
        self.period = 1.0 / ports.rate
        axes = [port for port in ports.inputs for _ in range(port.size)]
        limits = [_limits(port, self.period) for port in axes]
        shortest = _LEAST_CYCLES * self.period
        timeout = min(self._settings.command_stale_after, self._settings.own_watchdog)
        self._stale = max(timeout, shortest)
        times = GateTimes(0, 0, round(self._stale * 1e9))
        start = [port.start for port in axes]
        self._gate = CommandGate(limits, start, times, round(self.period * 1e9))
        self.sent: _Array = np.array(start)
        self._stopped_ns: int | None = None
        self._patience_ns = 0
        self._came, self._number, self._heard_ns = False, 0, clock()
        self._silence_ns = round((self._stale + self._settings.connect_timeout) * 1e9)

    @property
    def trusted(self) -> bool:
        """Whether the simulation leads the device."""
        return not self._gate.stopping

    @property
    def stopping(self) -> bool:
        """Whether the command comes to rest, or stands after that."""
        return self._gate.stopping

    @property
    def behind(self) -> bool:
        """Whether what is sent still goes towards the newest command."""
        return self._gate.behind

    @property
    def is_over(self) -> bool:
        """Whether the command stands, or does not come to."""
        self.strike(Reason.OPERATION)
        return self._gate.at_rest or (self._clock() - (self._stopped_ns or 0)) * 1e-9 > _REST_S

    def command(self, values: Sequence[float], number: int, step_ns: int) -> list[float]:
        """Return what is sent in the place of the newest command; see :class:`CommandGate`."""
        self._expect(number, step_ns)
        orders, now = self._orders()
        sent = self._gate.command(values, number, orders, now, self._patience_ns, step_ns)
        self.sent[:] = sent
        return sent

    def take_back(self, taken: Sequence[float] | None = None) -> None:
        """Take note that the device did not take what it was sent; see :class:`CommandGate`."""
        self._gate.take_back(taken)

    def saw(self, facts: SampleFacts, values: _Array) -> None:
        """Say how many commands were held back."""
        facts.shaped, self._came = self._gate.shaped, True

    def watch(self, block: DeviceBlock, step_ns: int) -> None:
        """Look whether the run gives commands."""
        if not block.commands_given:
            return
        self._expect(block.commands_given, step_ns)
        if not self._gate.stopping:
            self._look(block.commands_given)
        reason = self._gate.reason
        if not reason:
            return
        if self._stopped_ns is None:
            self._stopped_ns = self._clock()
        if self.is_over:
            raise self._error(reason)

    def _look(self, number: int) -> None:
        """Count the age of a command in samples: without them a run may wait for this clock."""
        orders, now = self._orders()
        if self._came or number != self._number:
            self._came, self._number, self._heard_ns = False, number, now
            self._gate.watch(orders, number, now, self._patience_ns)
        elif now - self._heard_ns > self._silence_ns:
            self._gate.trip(Reason.COMMAND_STALE, now)

    def strike(self, reason: Reason) -> None:
        """Come to rest for what was found of the device, once."""
        if self._stopped_ns is None:
            self._stopped_ns = self._clock()
            self._gate.trip(reason, self._stopped_ns)

    def run_ended(self, *, regularly: bool) -> None:
        """Tell nobody: :attr:`is_over` begins the way to rest, in the thread that sends."""

    def leave(self) -> None:
        """Nobody has to be told."""

    def _expect(self, number: int, step_ns: int) -> None:
        """Allow for the step of the run; its first one may take as long as a device's opening.

        A run gives commands, then locks its memory, and only then asks for a step of known length.
        """
        first = round(self._settings.connect_timeout * 1e9)
        self._patience_ns = step_ns if number > 1 and step_ns else first
        if self._gate.stopping:
            self._patience_ns = _FOREVER_NS

    def _orders(self) -> tuple[Orders, int]:
        now = self._clock()
        return Orders(State.ACTIVE, 0, now), now

    def _error(self, reason: Reason) -> DeviceError:
        if reason is not Reason.COMMAND_STALE:
            return DeviceError(f"{reason.text}; its commands were brought to rest; {reason.advice}")
        return CommandStaleError(
            f"the run sent no new command for {round(self._stale / self.period)} of its cycles"
            f" ({self._stale:g} s, command_stale_after) beyond a step: its commands were brought to"
            " rest and the keep-alive was switched off; find out what the run waited for"
        )


def _limits(port: DeviceConnector, period: float) -> AxisLimits:
    """Return the limits of a connector's scalars; their range is kept by the unit, in the run."""
    persistence = round(1e9 * max(_PERSISTENCE_S, _PERSISTENCE_PERIODS * period)) * 1e-9
    stop = port.deceleration, port.deceleration / _ONSET_S
    limits = AxisLimits(port.speed, persistence, stop, stop, port.rests, port.deceleration)
    return replace(limits, ramp=port.ramp)


#: The first command is that of the initialisation: from the second on the run steps.
_STEPS = 2


class Seat:
    """Joins a supervisor, sends its device what the gate lets pass, and leaves a trace of it all.

    rig: Whose supervisor.
    facts: Of the device.
    Raises DeviceError: if there is no supervisor, or it does not take the device.
    """

    def __init__(self, rig: str, facts: JoiningDevice) -> None:
        self.facts, self.period = facts, facts.period_ns * 1e-9
        self._channel = connect_to(rig)
        tell(self._channel, {"hello": "device", **facts.as_json()})
        try:
            answer, memory = hear(self._channel)
        except (EOFError, TimeoutError, ValueError):
            raise DeviceError(f"the supervisor of rig '{rig}' did not answer") from None
        if memory is None:
            raise DeviceError(f"the supervisor refuses it: {answer.get('refused', 'no reason')}")
        self._folder = Path(answer["folder"])
        if answer["priority"]:  # a supervisor that is not granted its own says so
            with contextlib.suppress(PermissionError):
                operating_system.take_priority(answer["priority"])
        gauges = gauge_count(len(facts.commands))
        self._memory = WatchMemory(answer["rows"], len(facts.columns), memory, gauges=gauges)
        start = [signal.start for signal in facts.commands]
        limits = [
            _with_ramp(CommandLimits.model_validate(axis_limits).axis, signal.ramp)
            for axis_limits, signal in zip(answer["limits"], facts.commands, strict=True)
        ]
        self._gate = CommandGate(limits, start, GateTimes(**answer["times"]), facts.period_ns)
        self._row = np.zeros(len(facts.columns))
        requested_from = len(Head) + len(facts.measured)
        sent = requested_from + len(start)
        self._measured, self._asked = slice(len(Head), requested_from), slice(requested_from, sent)
        #: What was sent last.
        self.sent = self._row[sent:]
        self.sent[:] = start
        self._sent_ns = self._fresh_ns = time.monotonic_ns()
        self._ended_ns: float = math.inf
        self._number = 0

    @property
    def trusted(self) -> bool:
        """Whether the simulation may take what the device measures for its own."""
        return State(self._memory[Word.STATE]) in FOLLOWING and not self._gate.stopping

    @property
    def stopping(self) -> bool:
        """Whether its command comes to rest, or stands after that."""
        return State(self._memory[Word.STATE]) in STOPPING or self._gate.stopping

    @property
    def is_over(self) -> bool:
        """Whether the command stands after the run has ended."""
        return self._gate.at_rest or time.monotonic_ns() - self._ended_ns > _REST_S * 1e9

    @property
    def behind(self) -> bool:
        """Whether what is sent still goes towards the newest command."""
        return self._gate.behind

    @property
    def released(self) -> Reason:
        """Why the run is to end; ``OPERATION``: it is not."""
        if self._memory[Word.RELEASED]:
            return Reason(self._memory[Word.REASON])
        alone = self._gate.reason is Reason.SUPERVISOR_LOST and self._gate.at_rest
        return Reason.SUPERVISOR_LOST if alone else Reason.OPERATION

    def command(self, values: Sequence[float], number: int, step_ns: int = 0) -> list[float]:
        """Return what is sent now in the place of the simulation's newest command."""
        now = time.monotonic_ns()
        sent = self._gate.command(values, number, self._orders(), now, step_ns=step_ns)
        self._row[self._asked], self.sent[:] = values, sent
        self._row[Head.COMMAND_NUMBER] = number
        self._sent_ns = now
        for i, value in enumerate(self._gate.gauges):
            self._memory.gauges[i] = value
        self._beat(number, now)
        return sent

    def take_back(self, taken: Sequence[float] | None = None) -> None:
        """Take note that the device did not take what it was sent; see :class:`CommandGate`."""
        self._gate.take_back(taken)

    def saw(self, facts: SampleFacts, values: npt.ArrayLike) -> None:
        """Leave a trace of a sample, or of a datagram that was none; count what was held back."""
        facts.shaped = self._gate.shaped
        row, now = self._row, time.monotonic_ns()
        row[Head.STATE], row[Head.REASON] = self._memory[Word.STATE], self._gate.reason
        row[Head.NUMBER], row[Head.VALID] = facts.number, facts.valid
        row[Head.STATUS], row[Head.DEVICE_TIME] = facts.status, facts.device_time
        row[Head.LOST], row[Head.LATE] = facts.lost, facts.late
        row[Head.REPEATED], row[Head.MALFORMED] = facts.repeated, facts.malformed
        row[Head.RESTARTS] = facts.restarts
        row[Head.COMMAND_AGE] = (now - self._sent_ns) * 1e-9
        row[Head.SAMPLE_AGE] = (now - facts.received_ns) * 1e-9
        row[self._measured] = values
        self._memory.add(now, row)

    def look(self, number: int) -> None:
        """Give a sign of life, and look whether supervisor and simulation gave theirs."""
        now = time.monotonic_ns()
        self._gate.watch(self._orders(), number, now)
        self._beat(number, now)

    def watch(self, block: DeviceBlock, step_ns: int) -> None:
        """Give a sign of life, look for those of others; end a run that the rig has left."""
        number, now = block.commands_given, time.monotonic_ns()
        self.look(number)
        is_watched = self._gate.reason is not Reason.SUPERVISOR_LOST
        if number != self._number or (number < _STEPS and is_watched):
            self._number, self._fresh_ns = number, now
        if self._gate.at_rest and now - self._fresh_ns > _REST_S * 1e9 and number:
            raise DeviceError(
                f"the device has stopped: the run sent no new command for {_REST_S:g} s, so the"
                " keep-alive was switched off; find out what the run waited for"
            )
        reason = self.released
        if reason and not block.lost:
            block.lose(f"the supervisor brought the rig to rest: {reason.text}; {reason.advice}")

    def strike(self, reason: Reason) -> None:
        """Come to rest for what was found of the device, and let the supervisor know."""
        now = time.monotonic_ns()
        self._gate.trip(reason, now)
        self._beat(self._memory[Word.COMMANDS], now)

    def run_ended(self, *, regularly: bool) -> None:
        """Come to rest because the run is over, or gone."""
        self._ended_ns = time.monotonic_ns()
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


def gate_of(component: str, facts: DeviceFacts) -> Seat | OwnGate:
    """Join the supervisor that the settings of a device name; else it looks after itself."""
    rig = facts.settings.supervisor
    if not rig:
        return OwnGate(facts)
    return Seat(rig, watched_facts(component, facts, os.getpid(), os.getppid()))


def watched_facts(
    component: str, facts: DeviceFacts, pid: int = 0, engine: int = 0
) -> JoiningDevice:
    """Return the facts of a device for its supervisor."""
    ports = facts.ports
    return JoiningDevice(
        device=component,
        measured=tuple(signal for port in ports.outputs for signal in _signals(port)),
        commands=tuple(signal for port in ports.inputs for signal in _signals(port)),
        period_ns=round(1e9 / ports.rate),
        pid=pid,
        engine=engine,
        answers=facts.kind.answers,
    )


def _signals(port: DeviceConnector) -> list[RingSignal]:
    low, high = port.range
    fast, ramp = (x if math.isfinite(x) else None for x in (port.speed, port.ramp))
    return [RingSignal(name, port.unit, port.start, low, high, fast, ramp) for name in port.scalars]


def _with_ramp(limits: AxisLimits, ramp: float | None) -> AxisLimits:
    return limits if ramp is None else replace(limits, ramp=min(limits.ramp, ramp))
