"""Messages between a run and a process of units: plain data, and bytes beside it.

A message is two lengths, then text as :mod:`.blocks.state_text` writes it,
then the bytes. Nothing that is read is executed.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import asdict
from typing import Any

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
    """Hand a unit's memory over, which is for so many inputs and outputs."""
    socket.send_fds(channel, [_SIGNALS.pack(signals)], [memory])


def receive_memory(channel: socket.socket) -> tuple[int, int]:
    """Take what :func:`send_memory` handed over."""
    data, handles, _, _ = socket.recv_fds(channel, _SIGNALS.size, 1, socket.MSG_CMSG_CLOEXEC)
    return handles[0], _SIGNALS.unpack(data)[0]


def packed(error: SoftdockError) -> list[dict[str, Any]]:
    """Return the diagnostics of an error as plain data."""
    return [asdict(found) | {"severity": found.severity.value} for found in error.diagnostics]


def _exactly(channel: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = channel.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
