"""Messages between a run and its processes of units, memory that they share, a sure end.

A message is two lengths, then text as :mod:`.blocks.state_text` writes it,
then the bytes. Nothing that is read is executed.
"""

from __future__ import annotations

import signal
import socket
import struct
import threading
from dataclasses import asdict
from typing import Any, Self

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.simunits.blocks.block_unit import decode, encode

_LENGTHS = struct.Struct("<QQ")
_SIGNALS = struct.Struct("<Q")
#: More than any state that was ever saved; a length beyond it is damage.
_LARGEST = 1 << 34


def send(channel: socket.socket, content: object, data: bytes = b"") -> None:
    """Write one message."""
    text = encode(content)
    channel.sendall(_LENGTHS.pack(len(text), len(data)) + text + data)


def receive(channel: socket.socket) -> tuple[Any, bytes]:
    """Read one message."""
    length, size = _LENGTHS.unpack(_exactly(channel, _LENGTHS.size))
    if length + size > _LARGEST:
        raise ValueError(f"a message of {length + size} bytes")
    return decode(_exactly(channel, length)), _exactly(channel, size)


def send_memory(channel: socket.socket, memory: int, signals: int) -> None:
    """Send a unit's memory, with its numbers of inputs and outputs."""
    operating_system.send_memory(channel, _SIGNALS.pack(signals), memory)


def receive_memory(channel: socket.socket) -> tuple[int, int]:
    """Take what :func:`send_memory` handed over."""
    data, memory = operating_system.receive_memory(channel, _SIGNALS.size)
    if memory is None:
        raise EOFError
    return memory, _SIGNALS.unpack(data)[0]


def packed(error: SoftdockError) -> list[dict[str, Any]]:
    """Return the diagnostics of an error as plain data."""
    return [
        asdict(diagnostic) | {"severity": diagnostic.severity.value}
        for diagnostic in error.diagnostics
    ]


def _exactly(channel: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = channel.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


class Interruption:
    """Holds an interrupt back until the block is left.

    Python raises KeyboardInterrupt in the main thread only; elsewhere this does nothing. Where
    SIGINT is ignored, as in the background of a script, it stays so, and SIGTERM is held back.

    raise_after: Whether it is raised when the block is left; otherwise the caller looks at
        ``seen``.
    """

    def __init__(self, *, raise_after: bool = True) -> None:
        self.seen = False
        self._raise_after = raise_after
        self._before: object = None
        self._number = signal.SIGINT

    def _note(self, _signal: int, _frame: object) -> None:
        self.seen = True

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            self._number = signal.SIGTERM
        # None: a handler that is not of Python, which Python could not put back
        if signal.getsignal(self._number) not in {None, signal.SIG_IGN}:
            self._before = signal.signal(self._number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        signal.signal(self._number, self._before)  # type: ignore[arg-type]
        if self.seen and self._raise_after:
            signal.raise_signal(self._number)
