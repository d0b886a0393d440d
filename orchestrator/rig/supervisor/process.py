"""The process of a supervisor: ``python -m orchestrator.rig.supervisor.process``.

It reads one line of JSON from standard input: ``settings``, ``devices``, ``folder``, and
``margins`` by command. It prints one line when it can be reached, or an error. It ends when the run
is over and the devices are closed.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from orchestrator.core import posix
from orchestrator.core.diagnostics import DeviceError, SoftdockError
from orchestrator.rig.supervisor.machine import CHANGES_NAME, ChangeFile, RefusedWish
from orchestrator.rig.supervisor.rig_tracking import NAME as TRACK_NAME
from orchestrator.rig.supervisor.rig_tracking import MarginTable, TrackFile
from orchestrator.rig.supervisor.settings import SignalLimits, SupervisorSettings
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.supervisor import TUNE, WISHES, DeviceWatch, Supervisor
from orchestrator.rig.supervisor.watch_memory import JoiningDevice, WatchMemory, write_ring
from orchestrator.rig.supervisor.wire import hear, operator_at, peer_of, take_rig, tell


def take_priority(settings: SupervisorSettings) -> str:
    """Take the priority that is asked for; return what to know of it, empty if it was granted."""
    if not settings.priority:
        return ""
    try:
        posix.take_priority(settings.priority)
    except PermissionError:
        told = (
            f"the supervisor was not granted its priority {settings.priority} of SCHED_FIFO: a"
            " permission is missing (RLIMIT_RTPRIO); it may be late when the machine is busy"
        )
        if settings.require_priority:
            raise DeviceError(f"{told}; require_priority asks for it") from None
        return told
    return ""


_NS = 1e-9


def status_of(supervisor: Supervisor, now_ns: int) -> dict[str, Any]:
    """Return what is so now, as plain data; times in s, signals in their units."""
    machine, tracking = supervisor.machine, supervisor.tracking
    left, wished = machine.armed_left(now_ns), supervisor.wished
    begun = next((one.time_ns for one in machine.changes if one.after is State.BLEND), None)
    signals: dict[str, dict[str, Any]] = {}
    for watch in supervisor.watches.values():
        signals |= _signals(watch, supervisor.settings.signals)
    responses = dict(tracking.responses) if tracking is not None else {}
    margins = {name: one.left for name, one in responses.items() if one.left is not None}
    return {
        "rig": supervisor.settings.rig,
        "state": machine.state.name,
        "in_state_s": (now_ns - machine.since_ns) * _NS if machine.changes else None,
        "engaged_s": None if begun is None else (now_ns - begun) * _NS,
        "missing": list(supervisor.missing) if machine.state is State.OFF else [],
        "armed": {"by": machine.armed_by, "left_s": left * _NS} if left else None,
        "wished": wished and {"wish": wished[0], "by": wished[1], "time_s": wished[2] * _NS},
        "latched": [str(fault) for fault in machine.latched],
        "alarms": [str(fault) for fault in machine.alarms],
        "present": [str(fault) for fault in machine.present.values()],
        "signals": signals,
        "margins": {name: {"delay_s": one[0], "gain": one[1]} for name, one in margins.items()},
        "tracking": {name: response.figures for name, response in responses.items()},
        "devices": {
            name: {"pid": watch.facts.pid, "engine": watch.facts.engine, "gone": watch.gone}
            for name, watch in supervisor.watches.items()
        },
    }


def _signals(watch: DeviceWatch, limits: dict[str, SignalLimits]) -> dict[str, dict[str, Any]]:
    """Return the newest values of a device's signals that have a table, with what is left."""
    found = {}
    for name, column, facts in watch.facts.places():
        if name in limits and watch.newest is not None:
            value = watch.newest[column]
            left = _left(value, limits[name])
            known = value if math.isfinite(value) else None
            found[name] = {"value": known, "unit": facts.unit, "margin": left}
    return found


def _left(value: float, limits: SignalLimits) -> float | None:
    """How far a value is from the nearer end of its range, below 0 beyond it."""
    ends = []
    if limits.minimum is not None:
        ends.append(value - limits.minimum)
    if limits.maximum is not None:
        ends.append(limits.maximum - value)
    return min(ends) if ends and math.isfinite(value) else None


#: Between two looks, s.
_PERIOD = 0.002
#: The ring is written so long after a fault, or as soon as the rig is at rest, s.
_AFTER = 1.0
#: The processes of devices end within so long after the run, s.
_LAST = 15.0
#: Between two rows of what tracking knows, s.
_TRACK = 0.1
#: Rows of a device for each of its samples: one for what it sent, one spare for what was refused.
_ROWS = 1.5


class SupervisorProcess:
    """Serves devices, the run and operators, and looks at the rig every 2 ms.

    settings, devices: Of the rig.
    folder: Where it writes; it is there.
    margins: See :class:`Supervisor`.
    """

    def __init__(
        self,
        settings: SupervisorSettings,
        devices: list[str],
        folder: Path,
        margins: Mapping[str, MarginTable] | None = None,
    ) -> None:
        #: What to know of its priority; empty if it was granted.
        self.priority = take_priority(settings)
        self.supervisor = Supervisor(settings, devices, margins)
        self._settings, self._folder = settings, folder
        self._door = take_rig(settings.rig)
        self._changes = ChangeFile(folder / CHANGES_NAME)
        self._track = TrackFile(folder / TRACK_NAME) if settings.tracking else None
        self._track_at = 0.0
        self._poll = select.poll()
        self._poll.register(self._door, select.POLLIN)
        self._channels: dict[int, socket.socket] = {}
        self._whose: dict[int, str] = {}
        self._attended: dict[int, str] = {}
        self._runs: set[int] = set()
        self._waiting: set[int] = set()
        self._told = 0
        self._write_at: float | None = None
        self._rings = 0
        self._writers: list[threading.Thread] = []
        self._ended_at: float | None = None

    def serve(self) -> None:
        """Look until the run is over and all devices are closed."""
        while not self._is_over():
            for file, _ in self._poll.poll(_PERIOD * 1000.0):
                self._serve(file)
            self.supervisor.look(time.monotonic_ns())
            self._let_begin()
            self._note()
            self._note_tracking()
        self._end()

    def _is_over(self) -> bool:
        machine = self.supervisor.machine
        if self._ended_at is not None and time.monotonic() - self._ended_at > _LAST:
            return True
        return machine.state in (State.OFF, State.ESTOP) and self.supervisor.is_over

    def _serve(self, file: int) -> None:
        if file == self._door.fileno():
            channel, _ = self._door.accept()
            if peer_of(channel)[1] not in (0, os.getuid()):
                channel.close()  # another user of this machine
                return
            channel.settimeout(0.0)
            self._channels[channel.fileno()] = channel
            self._poll.register(channel, select.POLLIN)
            return
        try:
            message, _ = hear(self._channels[file])
        except (EOFError, BlockingIOError, ValueError):
            self._lose(file)
            return
        answer: Callable[[int, dict[str, Any]], None] | None = {
            "device": self._join,
            "run": self._run,
            "operator": self._operator,
        }.get(str(message.get("hello")))
        if answer is None:
            self._answer(file, {"refused": "expected 'hello': device, run or operator"})
            return
        try:
            answer(file, message)
        except (KeyError, TypeError, ValueError) as error:
            self._answer(file, {"refused": f"no message of ours: {error!r}"})

    def _answer(self, file: int, message: dict[str, Any], memory: int | None = None) -> None:
        try:
            tell(self._channels[file], message, memory)
        except OSError:
            self._lose(file)

    def _join(self, file: int, message: dict[str, Any]) -> None:
        message.pop("hello")
        facts, settings = JoiningDevice.of_json(message), self._settings
        rows = 64 + round(_ROWS * settings.ns("ring") / facts.period_ns)
        memory = WatchMemory(rows, len(facts.columns))
        try:
            limits = self.supervisor.limits_of(facts)
            self.supervisor.join(facts, memory, time.monotonic_ns())
        except SoftdockError as error:
            self._answer(file, {"refused": str(error)})
            return
        self._whose[file] = facts.device
        times = {
            "blend_ns": settings.ns("blend"),
            "heartbeat_ns": settings.ns("heartbeat"),
            "command_stale_ns": settings.ns("command_stale"),
            "hold_cycles": settings.hold_cycles,
        }
        told = {
            "rows": rows,
            "limits": [one.model_dump(exclude_none=True) for one in limits],
            "times": times,
            "folder": str(self._folder),
            "priority": max(settings.priority - 1, 0),
        }
        self._answer(file, told, memory.file)

    def _run(self, file: int, message: dict[str, Any]) -> None:
        self._runs.add(file)
        if message.get("begins"):
            self._waiting.add(file)
            return
        self._waiting.discard(file)
        if message.get("ended"):
            self._runs.discard(file)
            self.supervisor.run_ended(time.monotonic_ns())
            self._ended_at = self._ended_at or time.monotonic()
        self._tell_run(file)

    def _tell_run(self, file: int) -> None:
        machine = self.supervisor.machine
        told = {"latched": machine.latched, "alarms": machine.alarms}
        faults = {key: [str(fault) for fault in found] for key, found in told.items()}
        self._answer(file, {"follows": machine.follows} | faults)

    def _let_begin(self) -> None:
        """Let runs begin that wait until the rig is engaged."""
        if self._waiting and self.supervisor.run_may_begin:
            waiting, self._waiting = self._waiting, set()
            for file in waiting:
                self._tell_run(file)

    def _operator(self, file: int, message: dict[str, Any]) -> None:
        wish, now = str(message.get("wish")), time.monotonic_ns()
        operator, refused = operator_at(self._channels[file]), ""
        if wish == "attend":
            self._attended[file] = operator
        elif wish in WISHES or wish == TUNE:
            try:
                if wish == TUNE:
                    found = message["margins"].items()
                    margins = {name: MarginTable.of_json(one) for name, one in found}
                    self.supervisor.tune(str(message["what"]), margins, now, operator)
                else:
                    self.supervisor.wish(wish, now, operator)
            except RefusedWish as error:
                refused = str(error)
        elif wish != "status":
            refused = f"'{wish}' is no wish; expected status, attend, {', '.join(WISHES)}"
        status = status_of(self.supervisor, now)
        who = {"operator": operator, "attend": sorted(self._attended.values())}
        own = {"pid": os.getpid(), "priority": self.priority}
        self._answer(file, ({"refused": refused} if refused else {}) | status | who | own)

    def _lose(self, file: int) -> None:
        channel = self._channels.pop(file, None)
        if channel is None:
            return
        self._poll.unregister(file)
        channel.close()
        now = time.monotonic_ns()
        if file in self._whose:
            self.supervisor.leave(self._whose.pop(file))
        self._waiting.discard(file)
        if file in self._runs:
            self._runs.discard(file)
            self.supervisor.run_lost(now)
            self._ended_at = self._ended_at or time.monotonic()
        if file in self._attended:
            del self._attended[file]
            if not self._attended:
                self.supervisor.operator_lost(now)

    def _note(self) -> None:
        """Write what happened since it was last noted, and the rings a little after a fault."""
        machine, now = self.supervisor.machine, time.monotonic()
        for change in machine.changes[self._told :]:
            self._changes.write(change)
            if change.fault is not None and self._write_at is None:
                self._write_at = now + _AFTER
        self._told = len(machine.changes)
        due = self._write_at is not None and now >= self._write_at
        rests = self._write_at is not None and machine.state in (State.SAFE, State.ESTOP)
        if due or rests:
            self._write_at = None
            self._write_rings()

    def _note_tracking(self) -> None:
        """Write what tracking knows, ten times a second, while devices follow."""
        now, tracking = time.monotonic(), self.supervisor.tracking
        if self._track is None or tracking is None or now < self._track_at:
            return
        self._track_at = now + _TRACK
        if self.supervisor.machine.follows:
            for response in tracking.responses.values():
                self._track.write(time.monotonic_ns(), response)

    def _write_rings(self) -> None:
        """Write the rings beside the looks, which go on meanwhile."""
        self._rings += 1
        latched = self.supervisor.machine.latched
        reason = latched[0].reason.name.lower() if latched else "fault"
        for name, watch in self.supervisor.watches.items():
            path = self._folder / f"{self._rings}-{reason}.{name}.csv"
            given = (path, watch.facts.columns, watch.memory)
            writer = threading.Thread(target=write_ring, args=given)
            writer.start()
            self._writers.append(writer)

    def _end(self) -> None:
        if self._write_at is not None:
            self._write_rings()
        for writer in self._writers:
            writer.join()
        self._changes.close()
        if self._track is not None:
            self._track.close()


def main() -> int:
    """Supervise one run; return the exit code."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it outlives whoever started it
    sys.setswitchinterval(5e-4)  # files are written beside the looks
    given = json.loads(sys.stdin.readline())
    try:
        settings = SupervisorSettings.model_validate(given["settings"])
        margins = {name: MarginTable.of_json(one) for name, one in given["margins"].items()}
        process = SupervisorProcess(settings, given["devices"], Path(given["folder"]), margins)
    except (SoftdockError, OSError) as error:
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return 2
    sys.stdout.write(json.dumps({"pid": os.getpid(), "priority": process.priority}) + "\n")
    sys.stdout.flush()
    process.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
