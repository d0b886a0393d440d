"""The process that shows a run while it goes on: ``python -m`` by :class:`.viewing_client.Viewing`.

It is told of the run by messages, and reads its rows in the memory that the run records in. It goes
when the run ends, as soon as those who look know that.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial

from orchestrator.core import posix
from orchestrator.core.realtime import SharedRows
from orchestrator.pictures.live.messages import (
    Answered,
    Begun,
    CaseReady,
    Done,
    Ended,
    Intervals,
    Message,
    Said,
    SampleFinder,
    Stands,
    receive,
    send_wish,
)
from orchestrator.pictures.live.server import Server
from orchestrator.pictures.live.shown import Shown, ShownCase, signals_of

#: s, in which those who look are to learn that the run has ended.
_LAST = 5.0
_NICE = 10


@dataclass(slots=True)
class _Rows:
    """Rows of a run, and how many of them are whole: all while no step is done."""

    rows: SharedRows
    stands: bool = False

    def whole(self) -> int:
        return self.rows.written - (0 if self.stands else 1)


@dataclass(slots=True)
class Follower:
    """Lets viewers see what a run says."""

    shown: Shown
    _rows: dict[str, _Rows] = field(default_factory=dict)

    def take(self, message: Message, memory: int | None) -> None:
        """Let viewers see a message."""
        match message:
            case Begun():
                about = {"diagram": message.diagram, "signals": None}
                case = ShownCase(message.name, message.title, about, rig=message.rig, version=1)
                case.is_steered, case.has_devices = message.is_steered, message.has_devices
                case.again, case.unknown = message.again, message.unknown
                self.shown.cases.append(case)
            case CaseReady():
                assert memory is not None  # noqa: S101 - it comes with it
                self._record(self.shown.cases[-1], message, memory)
            case Stands():
                case = self.shown.cases[-1]
                case.state = "standing" if message.stands else "running"
                self._rows[case.name].stands = message.stands
            case Done():
                self.shown.cases[-1].add(message.event)
            case Answered():
                self.shown.answered(message)
            case Said():
                case = next(one for one in self.shown.cases if one.name == message.case)
                case.say(message.sections, message.remarks)
                if message.is_over:
                    case.state = "ended"
                    self.shown.over(case.name)
                    if case.name in self._rows:
                        self._rows[case.name].stands = True
            case Ended():
                self.shown.ended = message.why

    def _record(self, case: ShownCase, message: CaseReady, memory: int) -> None:
        step_aside(message.cpus)
        begun = message.begun
        shared = SharedRows(message.rows, len(begun.names), memory)
        rows = self._rows[case.name] = _Rows(shared)
        about = {"signals": signals_of(begun), "tunables": message.tunables}
        case.about, case.asked = case.about | about, shared.asked
        case.samples = SampleFinder(begun.time_ns, begun.values, shared)
        case.whole, case.told = rows.whole, shared.told
        if message.factor is not None:
            case.intervals = Intervals(shared.times_ns, shared.clocks_ns, message.factor)
        case.stop_ns, case.factor, case.state = message.stop_ns, message.factor, "running"
        case.version += 1


def step_aside(cpus: AbstractSet[int]) -> None:
    """Leave some processors to the run, if there are others."""
    others = posix.processors() - cpus
    if cpus and others:
        for thread in threading.enumerate():  # all, as each has its own processors
            if thread.native_id is not None:
                posix.keep_to(others, thread.native_id)


def follow(channel: socket.socket, take: Callable[[Message, int | None], None]) -> bool:
    """Take messages until one says that the run has ended; false: it is gone without a word."""
    while True:
        try:
            message, memory = receive(channel)
        except (EOFError, OSError):
            return False
        take(message, memory)
        if isinstance(message, Ended):
            return True


def main() -> None:
    """Serve viewers until the run is over: ``viewing CHANNEL LISTENER TOKEN TITLE``."""
    channel_file, listener_file, token, title = sys.argv[1:]
    channel = socket.socket(fileno=int(channel_file))
    posix.yield_to_others(_NICE)
    shown = Shown(title, grant=partial(send_wish, channel))
    server = Server(socket.socket(fileno=int(listener_file)), token, shown)
    serving = threading.Thread(target=partial(server.serve_forever, 0.1), daemon=True)
    serving.start()
    if not follow(channel, Follower(shown).take):
        shown.ended = "the run was ended from outside"
    server.wait_until_told(_LAST)


if __name__ == "__main__":
    main()
