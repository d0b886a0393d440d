"""What a run tells the process that shows it: messages, each with a memory beside it or not."""

from __future__ import annotations

import pickle
import select
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.core.recording import Result
from orchestrator.study import Section

#: What viewers may wish of a run that they steer.
WISHES = ("pause", "go", "step", "stop")
_LENGTH = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class Begun:
    """A case is about to be made: its diagram, its rig if it has one, whether viewers steer it."""

    name: str
    title: str
    diagram: dict[str, Any] | None
    rig: str
    is_steered: bool = False


@dataclass(frozen=True, slots=True)
class Stands:
    """Whether the present case stands still between two steps."""

    stands: bool


@dataclass(frozen=True, slots=True)
class Recording:
    """A case is ready for its first step; the memory of its rows comes beside this message.

    ``begun`` is what was recorded before, without its system; ``cpus`` are left to the run.
    """

    begun: Result
    rows: int
    stop_ns: int
    factor: float | None
    cpus: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Said:
    """All that is known of a case, and whether its steps are over."""

    case: str
    sections: Sequence[Section] = ()
    remarks: Sequence[str] = ()
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more will come: why."""

    why: str


Message = Begun | Recording | Stands | Said | Ended


def send(channel: socket.socket, message: Message, memory: int | None = None) -> None:
    """Send a message, with the descriptor of a memory beside it."""
    content = pickle.dumps(message)
    handles = [] if memory is None else [memory]
    socket.send_fds(channel, [_LENGTH.pack(len(content))], handles)
    channel.sendall(content)


def receive(channel: socket.socket) -> tuple[Message, int | None]:
    """Receive a message, and the descriptor beside it; EOFError: nobody sends any more."""
    head, handles, _, _ = socket.recv_fds(channel, _LENGTH.size, 1, socket.MSG_CMSG_CLOEXEC)
    if len(head) < _LENGTH.size:
        raise EOFError
    (missing,) = _LENGTH.unpack(head)
    parts = []
    while missing:
        if not (part := channel.recv(min(missing, 1 << 20))):
            raise EOFError
        parts.append(part)
        missing -= len(part)
    message: Message = pickle.loads(b"".join(parts))  # noqa: S301 - of the run that started us
    return message, handles[0] if handles else None


def send_wish(channel: socket.socket, wish: str) -> None:
    """Send the run what a viewer wishes, one of :data:`WISHES`."""
    channel.sendall(bytes([WISHES.index(wish)]))


def receive_wish(channel: socket.socket, *, waits: bool) -> str:
    """Receive what a viewer wishes; empty: nothing, or nobody is there to wish."""
    if not select.select([channel], [], [], None if waits else 0)[0]:
        return ""
    found = channel.recv(1)
    return WISHES[found[0]] if found else ""
