"""What a run tells the process that shows it: messages, each with a memory beside it or not."""

from __future__ import annotations

import json
import pickle
import select
import socket
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.recording import Result
from orchestrator.study import Section

#: What viewers may wish of a run that they steer.
WISHES = ("pause", "go", "step", "stop")
#: And of every run that they see; whether it would be set comes first, where devices are in it.
SET, MARK, CHECK = "set", "mark", "check"
CHANGES = (SET, MARK, CHECK)
_LENGTH = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class Begun:
    """A case is about to be made: its diagram, its rig if it has one, whether viewers steer it."""

    name: str
    title: str
    diagram: dict[str, Any] | None
    rig: str
    is_steered: bool = False
    has_devices: bool = False
    #: Computes its margins with other values: pickled, or empty and why it cannot.
    again: bytes = b""
    unknown: str = ""


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
    tunables: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What was changed in the present case, or marked."""

    event: Tuned | Mark


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a wish, by its number: why it is refused, or empty."""

    number: int
    refused: str


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


Message = Begun | Recording | Stands | Done | Answered | Said | Ended


@dataclass(frozen=True, slots=True)
class Wish:
    """What a viewer wishes of a run.

    Parameters
    ----------
    what
        One of :data:`WISHES`, :data:`SET`, :data:`MARK` or :data:`CHECK`.
    case
        Of which case.
    number
        What its answer is told by.
    name, text, ramp
        What is to be set, to what, and in how many seconds; or the text of a mark.
    by, granted
        Who wishes it, and by which margins the supervisor of a rig granted it.
    """

    what: str
    case: str = ""
    number: int = 0
    name: str = ""
    text: str = ""
    ramp: float | None = None
    by: str = ""
    granted: str = ""


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


def send_wish(channel: socket.socket, wish: Wish) -> None:
    """Send the run what a viewer wishes."""
    content = json.dumps(asdict(wish)).encode()
    channel.sendall(_LENGTH.pack(len(content)) + content)


def receive_wish(channel: socket.socket, *, waits: bool) -> Wish | None:
    """Receive what a viewer wishes; ``None``: nothing, or nobody is there to wish."""
    if not select.select([channel], [], [], None if waits else 0)[0]:
        return None
    head = _exactly(channel, _LENGTH.size)
    return Wish(**json.loads(_exactly(channel, *_LENGTH.unpack(head)))) if head else None


def _exactly(channel: socket.socket, size: int) -> bytes:
    """Receive so many bytes; none, if nobody sends any more."""
    data = b""
    while len(data) < size:
        if not (part := channel.recv(size - len(data))):
            return b""
        data += part
    return data
