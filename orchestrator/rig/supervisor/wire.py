"""Where a rig's supervisor is reached, messages with it, and an operator's wishes."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from orchestrator.core.accounts import (
    NamedSocket,
    NameTakenError,
    account_name,
    connect_to_name,
    peer_of,
)
from orchestrator.core.diagnostics import DeviceError

#: A longer message is none of ours.
_LONGEST = 1 << 18


def tell(channel: socket.socket, message: Mapping[str, Any], memory: int | None = None) -> None:
    """Send a message, with the descriptor of a memory if there is one."""
    data = json.dumps(dict(message)).encode()
    socket.send_fds(channel, [data], [] if memory is None else [memory])


def hear(channel: socket.socket) -> tuple[dict[str, Any], int | None]:
    """Read a message and its descriptor."""
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


#: Major numbers of pseudo terminals.
_PTS = range(136, 144)
#: How long an answer of a supervisor may take, s.
ANSWER_S = 5.0


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
    try:
        listener = NamedSocket(_name(rig), socket.SOCK_SEQPACKET)
    except NameTakenError:
        with connect_to(rig) as client:
            owner, _ = peer_of(client)
        raise DeviceError(
            f"rig '{rig}' has a supervisor already, process {owner}; end that run, or give this"
            " rig another name (supervisor.rig)"
        ) from None
    listener.settimeout(0.0)
    return listener


def _name(rig: str) -> str:
    return f"rig-{rig}"


def connect_to(rig: str) -> socket.socket:
    """Return a connection to the supervisor of a rig of this account."""
    try:
        return connect_to_name(_name(rig), socket.SOCK_SEQPACKET, ANSWER_S)
    except OSError:
        raise DeviceError(
            f"rig '{rig}' has no supervisor on this machine; a run with [supervisor] under your"
            f" account starts it: {account_name(os.geteuid())}"
        ) from None


_FORCES = ("N", "N.m")


class Operator:
    """A connection to the supervisor of a rig; used in a ``with`` statement.

    rig: Its name.
    Raises DeviceError: if it has no supervisor.
    """

    def __init__(self, rig: str) -> None:
        self._rig = rig
        self._channel = connect_to(rig)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def wish(self, wish: str, **more: Any) -> dict[str, Any]:
        """Say what is wished; return the status, with ``refused`` if it is not granted.

        It is ``"status"``, ``"attend"``, or one of
        :data:`~orchestrator.rig.supervisor.supervisor.WISHES`.
        ``"tune"`` asks for consent to another value: ``what`` in words, and ``margins`` with it.
        """
        try:
            tell(self._channel, {"hello": "operator", "wish": wish, **more})
            return hear(self._channel)[0]
        except (OSError, EOFError, ValueError) as error:
            raise DeviceError(f"the supervisor of rig '{self._rig}' has ended: {error}") from None


class StateLine:
    """Says in one line how a rig is, on request; nothing while nobody watches the rig."""

    def __init__(self, rig: str) -> None:
        self._rig = rig
        self._operator: Operator | None = None

    def __call__(self) -> str:
        """Ask its supervisor."""
        try:
            self._operator = self._operator or Operator(self._rig)
            return state_line(self._operator.wish("status"))
        except DeviceError:
            self._operator = None
            return ""


def state_line(status: dict[str, Any]) -> str:
    """Return state, time, forces and margins of a rig in one line."""
    follows = status["state"] in ("BLEND", "ACTIVE")
    since = status["engaged_s" if follows else "in_state_s"] or 0.0
    parts = [f"{status['rig']} {status['state']} {since:.1f} s"]
    if armed := status["armed"]:
        parts.append(f"armed by {armed['by']}, {armed['left_s']:.0f} s left to engage")
    signals = status["signals"].items()
    for name, entry in sorted(signals, key=lambda pair: pair[1]["unit"] not in _FORCES):
        value = "no number" if entry["value"] is None else f"{entry['value']:.4g} {entry['unit']}"
        margin_text = "" if entry["margin"] is None else f" ({entry['margin']:.3g} to its limit)"
        parts.append(f"{name} {value}{margin_text}")
    for entry in status["limits"]:
        is_said = entry["main"] and entry["where"] in status["signals"]
        if entry["level"] in ("amber", "red") and not is_said:
            parts += [f"{entry['where']}: {entry['figures']}"]
    for name, entry in status["margins"].items():
        parts.append(f"{name} margins {entry['delay_s'] * 1e3:.1f} ms, gain {entry['gain']:.3g}")
    return " | ".join(parts)
