"""Messages between a supervisor and those who talk to it: plain data, one in each packet."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any

#: A longer message is none of ours.
_LONGEST = 1 << 18


def tell(channel: socket.socket, message: Mapping[str, Any], memory: int | None = None) -> None:
    """Send a message, with the descriptor of a memory beside it if there is one."""
    data = json.dumps(dict(message)).encode()
    socket.send_fds(channel, [data], [] if memory is None else [memory])


def hear(channel: socket.socket) -> tuple[dict[str, Any], int | None]:
    """Read a message, and the descriptor beside it."""
    try:
        data, handles, _, _ = socket.recv_fds(channel, _LONGEST, 1, socket.MSG_CMSG_CLOEXEC)
    except ConnectionError:
        raise EOFError from None
    if not data:
        raise EOFError
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError("no message")  # noqa: TRY004 - damage, as of any other form
    return message, handles[0] if handles else None
