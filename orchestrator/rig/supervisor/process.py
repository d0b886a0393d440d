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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from orchestrator.core import operating_system
from orchestrator.core.accounts import is_trusted, peer_of
from orchestrator.core.diagnostics import DeviceError, Reason, SoftdockError
from orchestrator.core.structs import MutableStruct
from orchestrator.rig.supervisor import rig_tracking
from orchestrator.rig.supervisor.gate import gauge_count
from orchestrator.rig.supervisor.machine import (
    CHANGES_NAME,
    COLUMNS,
    Change,
    FoundCause,
    Machine,
    RefusedWish,
    change_row,
)
from orchestrator.rig.supervisor.rig_tracking import MarginTable, track_row
from orchestrator.rig.supervisor.settings import SignalLimits, SupervisorSettings
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.supervisor import TUNE, WISHES, DeviceWatch, Supervisor
from orchestrator.rig.supervisor.watch_memory import JoiningDevice, RowFile, WatchMemory, write_ring
from orchestrator.rig.supervisor.wire import hear, operator_at, take_rig, tell


def take_priority(settings: SupervisorSettings) -> str:
    """Take the requested priority; return a remark, empty if it was granted."""
    if not settings.priority:
        return ""
    try:
        operating_system.take_priority(settings.priority)
    except PermissionError:
        message = (
            f"the supervisor was not granted its priority {settings.priority} of SCHED_FIFO: the"
            " permission RLIMIT_RTPRIO is missing; the supervisor may be late on a busy machine"
        )
        if settings.require_priority:
            raise DeviceError(f"{message}; require_priority asks for it") from None
        return message
    return ""


_NS = 1e-9


def status_of(supervisor: Supervisor, now_ns: int) -> dict[str, Any]:
    """Return what is so now, as plain data; times in s, signals in their units."""
    machine, tracking = supervisor.machine, supervisor.tracking
    armed_left_ns, wished = machine.armed_left(now_ns), supervisor.wished
    begun = next(
        (change.time_ns for change in machine.changes if change.after is State.BLEND), None
    )
    signals: dict[str, dict[str, Any]] = {}
    for watch in supervisor.watches.values():
        signals |= _signals(watch, supervisor.settings.signals)
    responses = dict(tracking.responses) if tracking is not None else {}
    lefts = {name: change.left_of(change.margins) for name, change in responses.items()}
    return {
        "rig": supervisor.settings.rig,
        "state": machine.state.name,
        "in_state_s": (now_ns - machine.since_ns) * _NS if machine.changes else None,
        "engaged_s": None if begun is None else (now_ns - begun) * _NS,
        "missing": list(supervisor.missing) if machine.state is State.OFF else [],
        "armed": _armed(machine, armed_left_ns) if armed_left_ns else None,
        "wished": wished and {"wish": wished[0], "by": wished[1], "time_s": wished[2] * _NS},
        "latched": [str(fault) for fault in machine.latched],
        "stopped_by": _stopped_by(machine.latched),
        "alarms": [str(fault) for fault in machine.alarms],
        "changes": [_told_change(change, now_ns) for change in machine.changes[-_CHANGES:]],
        "present": [str(fault) for fault in machine.present.values()],
        "signals": signals,
        "limits": [limit.as_json() for limit in supervisor.limits if limit.is_set],
        "margins": {
            name: {"delay_s": change[0], "gain": change[1]}
            for name, change in lefts.items()
            if change
        },
        "tracking": {name: response.figures for name, response in responses.items()},
        "devices": {
            name: {"pid": watch.facts.pid, "engine": watch.facts.engine, "gone": watch.gone}
            for name, watch in supervisor.watches.items()
        },
    }


#: Changes of state that an operator is shown, the newest of them.
_CHANGES = 30


def _armed(machine: Machine, left_ns: int) -> dict[str, Any]:
    confirm_s = machine.confirm_ns * _NS
    return {"by": machine.armed_by, "left_s": left_ns * _NS, "of_s": confirm_s}


def _told_change(change: Change, now_ns: int) -> dict[str, Any]:
    """Return a change of state as plain data, with the time of day that it happened, s."""
    fault = change.fault
    return {
        "at_s": time.time() - (now_ns - change.time_ns) * _NS,
        "before": change.before.name,
        "event": change.event.value,
        "after": change.after.name,
        "why": "" if fault is None else str(fault),
        "advice": "" if fault is None else fault.reason.advice,
        "by": change.by,
    }


def _stopped_by(latched: Sequence[FoundCause]) -> str:
    """Say how an operator stopped the rig; empty: nobody did, or it had stopped already."""
    cause = latched[0] if latched else None
    if cause is None or cause.reason not in _STOPS:
        return ""
    return f"{_STOPS[cause.reason]} by {cause.location}"


#: The stops of an operator, in words.
_STOPS = {Reason.OPERATOR_STOP: "stop", Reason.OPERATOR_QUICK_STOP: "quick stop"}


def _signals(watch: DeviceWatch, limits: dict[str, SignalLimits]) -> dict[str, dict[str, Any]]:
    """Return the newest values of a device's signals that have a table, with what is left."""
    signals = {}
    for name, column, facts in watch.facts.columns_of_signals():
        if name in limits and watch.newest is not None:
            value, low, high = watch.newest[column], limits[name].minimum, limits[name].maximum
            # to the nearer end of its range, below 0 beyond it
            ends = [value - low] if low is not None else []
            ends += [high - value] if high is not None else []
            is_known = math.isfinite(value)
            signals[name] = {
                "value": value if is_known else None,
                "unit": facts.unit,
                "margin": min(ends) if ends and is_known else None,
                "minimum": low,
                "maximum": high,
            }
    return signals


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


#: Largest number of pages that the supervisor distinguishes as operators, and of characters of
#: their names.
_MOST_PAGES, _LONGEST_PAGE = 64, 40


class _Peer(MutableStruct):
    """The other end of a connection.

    device, operator: Which device it leads, and which operator attends there; empty: none.
    is_run, waits: Whether it is the run, and whether that waits until the rig is engaged.
    """

    channel: socket.socket
    device: str = ""
    operator: str = ""
    is_run: bool = False
    waits: bool = False


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
        margins: Mapping[str, MarginTable],
    ) -> None:
        #: What to know of its priority; empty if it was granted.
        self.priority = take_priority(settings)
        self.supervisor = Supervisor(settings, devices, margins)
        self._settings, self._folder = settings, folder
        self._door = take_rig(settings.rig)
        self._changes = RowFile(folder / CHANGES_NAME, COLUMNS)
        self._track = (
            RowFile(folder / rig_tracking.NAME, rig_tracking.COLUMNS) if settings.tracking else None
        )
        self._track_at = 0.0
        self._poll = select.poll()
        self._poll.register(self._door, select.POLLIN)
        self._peers: dict[int, _Peer] = {}
        self._told = 0
        self._write_at: float | None = None
        self._rings = 0
        self._writers: list[threading.Thread] = []
        self._ended_at: float | None = None
        #: Whether the rig was at rest for a fault, and let its run end, before the run ended.
        self._was_released = False

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
            if not is_trusted(peer_of(channel)[1]):
                channel.close()  # another account of this machine
                return
            channel.settimeout(0.0)
            self._peers[channel.fileno()] = _Peer(channel)
            self._poll.register(channel, select.POLLIN)
            return
        peer = self._peers[file]
        try:
            message, _ = hear(peer.channel)
        except (EOFError, BlockingIOError, ValueError):
            self._lose(peer)
            return
        answer: Callable[[_Peer, dict[str, Any]], None] | None = {
            "device": self._join,
            "run": self._run,
            "operator": self._operator,
        }.get(str(message.get("hello")))
        if answer is None:
            self._answer(peer, {"refused": "expected 'hello': device, run or operator"})
            return
        try:
            answer(peer, message)
        except (KeyError, TypeError, ValueError) as error:
            self._answer(peer, {"refused": f"not a message of this protocol: {error!r}"})

    def _answer(self, peer: _Peer, message: dict[str, Any], memory: int | None = None) -> None:
        try:
            tell(peer.channel, message, memory)
        except OSError:
            self._lose(peer)

    def _join(self, peer: _Peer, message: dict[str, Any]) -> None:
        message.pop("hello")
        facts, settings = JoiningDevice.of_json(message), self._settings
        rows = 64 + round(_ROWS * settings.ns("ring") / facts.period_ns)
        gauges = gauge_count(len(facts.commands))
        memory = WatchMemory(rows, len(facts.columns), gauges=gauges)
        try:
            limits = self.supervisor.join(facts, memory, time.monotonic_ns())
        except SoftdockError as error:
            self._answer(peer, {"refused": str(error)})
            return
        peer.device = facts.device
        answer = {
            "rows": rows,
            "limits": [limit.model_dump(exclude_none=True) for limit in limits],
            "times": asdict(settings.times),
            "folder": str(self._folder),
            "priority": max(settings.priority - 1, 0),
        }
        self._answer(peer, answer, memory.file)

    def _run(self, peer: _Peer, message: dict[str, Any]) -> None:
        peer.waits = bool(message.get("begins"))
        peer.is_run = peer.waits or not message.get("ended")
        if peer.waits:
            return
        if not peer.is_run:
            self._serve_others(peer)
            self._was_released = self.supervisor.run_is_released
            self.supervisor.run_ended(time.monotonic_ns())
            self._ended_at = self._ended_at or time.monotonic()
        self._tell_run(peer)

    def _serve_others(self, run: _Peer) -> None:
        """Take what others said before the run ended: a device that is lost may be its cause."""
        for file, _ in self._poll.poll(0):
            if file != run.channel.fileno() and file in self._peers:
                self._serve(file)
        self.supervisor.look(time.monotonic_ns())

    def _tell_run(self, peer: _Peer) -> None:
        machine = self.supervisor.machine
        status = {
            "follows": machine.follows,
            "engaged": any(change.after is State.BLEND for change in machine.changes),
            "released": self._was_released,
            "advice": machine.latched[0].reason.advice if machine.latched else "",
            "latched": [str(fault) for fault in machine.latched],
            "stopped_by": _stopped_by(machine.latched),
            "alarms": [str(fault) for fault in machine.alarms],
        }
        self._answer(peer, status)

    def _let_begin(self) -> None:
        """Let runs begin that wait until the rig is engaged."""
        for peer in [peer for peer in self._peers.values() if peer.waits]:
            if self.supervisor.run_may_begin:
                peer.waits = False
                self._tell_run(peer)

    def _operator(self, peer: _Peer, message: dict[str, Any]) -> None:
        wish, now = str(message.get("wish")), time.monotonic_ns()
        terminal, refused = operator_at(peer.channel), ""
        operator = ", ".join(filter(None, (terminal, str(message.get("page", ""))[:_LONGEST_PAGE])))
        if wish == "attend":
            peer.operator = operator
        elif wish in WISHES or wish == TUNE:
            try:
                if wish == TUNE:
                    tables = message["margins"].items()
                    margins = {name: MarginTable.of_json(table) for name, table in tables}
                    self.supervisor.tune(str(message["what"]), margins, now, operator)
                else:
                    self.supervisor.wish(wish, now, operator)
            except RefusedWish as error:
                refused = str(error)
        elif wish != "status":
            refused = f"'{wish}' is not a request; expected status, attend, {', '.join(WISHES)}"
        status = status_of(self.supervisor, now)
        attend = sorted(peer.operator for peer in self._peers.values() if peer.operator)
        process_facts: dict[str, Any] = {"pid": os.getpid(), "priority": self.priority}
        answer = {"refused": refused} if refused else {}
        process_facts["refusals"] = self.supervisor.refusals(now, operator)
        process_facts["pages"] = {}
        for page in list(message.get("pages", ()))[:_MOST_PAGES]:
            by = f"{terminal}, {page}"
            process_facts["pages"][page] = {
                "operator": by,
                "refusals": self.supervisor.refusals(now, by),
            }
        self._answer(
            peer, answer | status | {"operator": operator, "attend": attend} | process_facts
        )

    def _lose(self, peer: _Peer) -> None:
        if self._peers.pop(peer.channel.fileno(), None) is None:
            return
        self._poll.unregister(peer.channel)
        peer.channel.close()
        now = time.monotonic_ns()
        if peer.device:
            self.supervisor.leave(peer.device)
        if peer.is_run:
            self.supervisor.run_lost(now)
            self._ended_at = self._ended_at or time.monotonic()
        if peer.operator and not any(peer.operator for peer in self._peers.values()):
            self.supervisor.operator_lost(now)

    def _note(self) -> None:
        """Write what happened since it was last noted, and the rings a little after a fault."""
        machine, now = self.supervisor.machine, time.monotonic()
        for change in machine.changes[self._told :]:
            self._changes.write(change.time_ns, change_row(change))
            if change.fault is not None and self._write_at is None:
                self._write_at = now + _AFTER
        self._told = len(machine.changes)
        at, rests = self._write_at, machine.state in (State.SAFE, State.ESTOP)
        if at is not None and (rests or now >= at):
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
                self._track.write(time.monotonic_ns(), track_row(response))

    def _write_rings(self) -> None:
        """Write the rings in a thread, while the looks go on."""
        self._rings += 1
        latched = self.supervisor.machine.latched
        reason = latched[0].reason.name.lower() if latched else "fault"
        for name, watch in self.supervisor.watches.items():
            path = self._folder / f"{self._rings}-{reason}.{name}.csv"
            arguments = (path, watch.facts.columns, watch.memory)
            writer = threading.Thread(target=write_ring, args=arguments)
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
    sys.setswitchinterval(5e-4)  # another thread writes files
    request = json.loads(sys.stdin.readline())
    try:
        settings = SupervisorSettings.model_validate(request["settings"])
        margins = {name: MarginTable.of_json(table) for name, table in request["margins"].items()}
        process = SupervisorProcess(settings, request["devices"], Path(request["folder"]), margins)
    except (SoftdockError, OSError) as error:
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return 2
    sys.stdout.write(json.dumps({"pid": os.getpid(), "priority": process.priority}) + "\n")
    sys.stdout.flush()
    process.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
