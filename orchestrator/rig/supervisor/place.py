"""Where a rig's supervisor is reached on this machine, and that there is only one."""

from __future__ import annotations

import errno
import os
import socket
import struct
from pathlib import Path

from orchestrator.core.diagnostics import DeviceError

#: Major numbers of pseudo terminals.
_PTS = range(136, 144)
#: How long an answer of a supervisor may take, s.
ANSWER_S = 5.0
_CREDENTIALS = struct.Struct("3i")  # process, user, group


def rig_address(rig: str) -> str:
    """Return the abstract address of a rig: the kernel frees it when its process ends."""
    return f"\0softdock.{os.getuid()}.{rig}"


def peer_of(channel: socket.socket) -> tuple[int, int]:
    """Return process and user at the other end, as the kernel knows them."""
    data = channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(data)
    return process, user


def operator_at(channel: socket.socket) -> str:
    """Return whose terminal the other end is: all processes of a session are one operator.

    It is what the kernel says, not what the process says of itself.
    """
    process, _ = peer_of(channel)
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:  # it has ended meanwhile
        return f"process {process}"
    fields = text.rpartition(")")[2].split()
    session, terminal = int(fields[3]), int(fields[4])
    name = f"pts/{terminal & 0xFF | terminal >> 12 & 0xFFF00}"
    return f"{name} (session {session})" if terminal >> 8 & 0xFFF in _PTS else f"session {session}"


def take_rig(rig: str) -> socket.socket:
    """Take a rig for as long as this process lives; return the socket that others connect to."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        made.bind(rig_address(rig))
    except OSError as error:
        made.close()
        if error.errno != errno.EADDRINUSE:
            raise
        with connect_to(rig) as other:
            owner, _ = peer_of(other)
        raise DeviceError(
            f"rig '{rig}' has a supervisor already, process {owner}; expected none: end that run,"
            " or give this rig another name (supervisor.rig)"
        ) from None
    made.listen()
    made.settimeout(0.0)
    return made


def connect_to(rig: str, seconds: float = ANSWER_S) -> socket.socket:
    """Return a connection to the supervisor of a rig."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.settimeout(seconds)
    try:
        made.connect(rig_address(rig))
    except OSError:
        made.close()
        raise DeviceError(
            f"rig '{rig}' has no supervisor on this machine; expected one that runs: a run with"
            " [supervisor] starts it"
        ) from None
    return made
