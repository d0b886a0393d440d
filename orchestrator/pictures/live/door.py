"""Where viewers connect: the address of a page, its token, and how many may ask at one time.

The token is made for each run, and stands in the address that the run prints. The process that
serves the page gets it by its channel, never as an argument, which every account can read. A
connection that has not shown it is a stranger's. There is room for some strangers: one more closes
the oldest of the address that has most. So nobody keeps those out who know the token.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from orchestrator.core import operating_system
from orchestrator.core.accounts import is_trusted, peer_of
from orchestrator.core.diagnostics import DescriptionError

#: Port where nobody says another.
PORT = 8700
LOOPBACK = "127.0.0.1"
#: Connections that have not shown the token, at one time.
MOST_STRANGERS = 64
#: Bytes of what a viewer asks, without which it is none of ours.
LONGEST_REQUEST = 80_000
_WAITING = 512


def listening(address: str) -> tuple[socket.socket, str]:
    """Return a socket that browsers reach at ``PORT`` or ``HOST:PORT``, and a token.

    Raises DescriptionError: if that is no address, or another program has it.
    """
    host, colon, port = address.rpartition(":")
    host = host.strip("[]") if colon else LOOPBACK
    option_text = f"live: {address}"
    if not port.isdecimal() or int(port) > 65535 or not host:
        raise DescriptionError(
            f"{option_text}: expected PORT or HOST:PORT, with a port up to 65535"
        )
    try:
        family, *_, endpoint = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        # On Windows SO_REUSEADDR lets a second program listen to the same port.
        alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        listener.setsockopt(socket.SOL_SOCKET, alone, 1)
    except OSError as error:
        raise DescriptionError(f"{option_text}: no such host: {error.strerror or error}") from None
    try:
        listener.bind(endpoint)
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        reason = error.strerror or error
        raise DescriptionError(
            f"{option_text}: cannot be listened to: {reason}; give another port, or 0 for a free"
            " one"
        ) from None
    return listener, secrets.token_urlsafe(18)


def is_local(listener: socket.socket) -> bool:
    """Whether only this machine reaches a socket."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def url_of(listener: socket.socket, token: str) -> str:
    """Return what a viewer opens."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = socket.gethostname()
    host_text = f"[{host}]" if ":" in host else host
    return f"http://{host_text}:{port}/?token={token}"


class Door(ThreadingHTTPServer):
    """Answers viewers, each by a thread.

    listener: Where they connect: a port, or a socket of this account alone.
    handler: Answers one connection; it calls :meth:`welcome` for one who has shown the token.
    token: What viewers must know; empty: nothing, as the kernel says who they are.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, listener: socket.socket, handler: type[BaseHTTPRequestHandler], token: str
    ) -> None:
        self.is_port = listener.family in {socket.AF_INET, socket.AF_INET6}
        super().__init__((LOOPBACK, 0), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.token = token
        self._strangers: dict[socket.socket, str] = {}
        self._lock = threading.Lock()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Let nobody else in who comes by a socket of this account."""
        del client_address
        return self.is_port or is_trusted(peer_of(request)[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a viewer by a thread of its own; another stranger may have to go for it."""
        with self._lock:
            self._strangers[request] = client_address[0] if client_address else ""
            while len(self._strangers) > MOST_STRANGERS:
                self._close_one()
        super().process_request(request, client_address)

    def _close_one(self) -> None:
        """Close the oldest of the address with most strangers, unless it knows the token."""
        crowded = Counter(self._strangers.values()).most_common(1)[0][0]
        oldest = next(stranger for stranger, host in self._strangers.items() if host == crowded)
        del self._strangers[oldest]
        if not self._knows(oldest):
            try:
                oldest.shutdown(socket.SHUT_RDWR)  # its thread sees the end
            except OSError:
                return  # it is gone already

    def _knows(self, stranger: socket.socket) -> bool:
        """Whether what a connection has sent, and nobody has read yet, has the token in it."""
        try:
            is_ready = operating_system.ready(0.0, channel=stranger)
            sent = stranger.recv(LONGEST_REQUEST, socket.MSG_PEEK) if is_ready else b""
        except (OSError, ValueError):  # it is closed
            return False
        return bool(self.token) and self.token.encode() in sent

    def welcome(self, viewer: socket.socket) -> None:
        """Let a connection stay that has shown the token."""
        with self._lock:
            self._strangers.pop(viewer, None)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self.welcome(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a viewer may go at any time."""


class Head:
    """A viewer's request, read by lines up to a number of bytes."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.left = LONGEST_REQUEST

    def readline(self, size: int = -1) -> bytes:
        """Return the next line.

        Raises ConnectionError: if the request is too long.
        """
        limit = self.left + 1 if size < 0 else min(size, self.left + 1)
        line: bytes = self._file.readline(limit)
        self.left -= len(line)
        if self.left < 0:
            raise ConnectionError("the request is too long")
        return line

    def close(self) -> None:
        """Close it."""
        self._file.close()
