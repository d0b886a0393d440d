"""The link of a master to one slave: control and data PDUs over UDP or TCP."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque
from contextlib import suppress

from orchestrator.core.accounts import Peers, foreign_owner
from orchestrator.core.diagnostics import DeviceError
from orchestrator.dcp.identifiers import Transport
from orchestrator.dcp.pdus import Frames, framed

Address = tuple[str, int]
_DATAGRAM = 65535
_BUFFER_BYTES = 1 << 20


class HungUpError(DeviceError):
    """A slave closed the connection of its control PDUs."""


class UdpLink:
    """One socket for everything: what a slave sends comes in the order in which it was sent.

    The slave may answer from another port than it listens at. From its first answer on only what
    comes from that port is taken.

    peer: Where the slave takes control PDUs.
    """

    def __init__(self, peer: Address, timeout_s: float) -> None:
        self.peer = (socket.gethostbyname(peer[0]), peer[1])
        self._own_port: int | None = None
        self._last_port = 0
        #: Datagrams that came from elsewhere, and the sender of the last.
        self.foreign, self.last_foreign = 0, ""
        self._known = Peers(socket.SOCK_DGRAM, f"DCP slave at UDP {peer[0]}:{peer[1]}")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect(self.peer)
                self._socket.bind((probe.getsockname()[0], 0))  # as the slave sees this machine
        except OSError:
            self._socket.close()
            raise

    @property
    def address(self) -> Address:
        """Where the slave can send data to."""
        address: Address = self._socket.getsockname()
        return address

    def send(self, content: bytes) -> None:
        """Send a control PDU."""
        self._socket.sendto(content, self.peer)

    def send_data(self, port: int, content: bytes) -> None:
        """Send a data PDU to a port of the slave."""
        self._socket.sendto(content, (self.peer[0], port))

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next datagram of the slave."""
        deadline = time.monotonic() + timeout_s
        while True:
            remaining_s = max(deadline - time.monotonic(), 0.0)
            if not select.select([self._socket], [], [], remaining_s)[0]:
                return None
            content, address = self._socket.recvfrom(_DATAGRAM)
            is_own = address[0] == self.peer[0] and self._own_port in {None, address[1]}
            if is_own and self._known.may_come(address):
                self._last_port = address[1]
                return content
            self.foreign, self.last_foreign = self.foreign + 1, f"{address[0]}:{address[1]}"

    def answered(self) -> None:
        """Take note that what came last answers a request: its sender is the slave."""
        self._own_port = self._own_port or self._last_port

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class TcpLink:
    """A connection for control PDUs, and one for each way of the data that needs another.

    peer: As of :class:`UdpLink`.
    """

    def __init__(self, peer: Address, timeout_s: float) -> None:
        #: Connections that came from another machine or account, and from where the last came.
        self.foreign, self.last_foreign = 0, ""
        self.peer = (socket.gethostbyname(peer[0]), peer[1])
        self._patience = timeout_s
        self._control = self._connected(self.peer)
        self._outgoing = {self.peer[1]: self._control}
        try:
            self._listening = socket.create_server((self._control.getsockname()[0], 0))
        except OSError:
            self._control.close()
            raise
        self._frames = {self._control: Frames(_DATAGRAM)}
        self._sending = threading.Lock()
        self._found: deque[bytes] = deque()

    def _connected(self, peer: Address) -> socket.socket:
        connection = socket.create_connection(peer, timeout=self._patience)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if whose := foreign_owner(socket.SOCK_STREAM, *connection.getpeername()):
            connection.close()
            raise DeviceError(f"DCP slave at TCP {peer[0]}:{peer[1]}: the port is of {whose}")
        return connection

    @property
    def address(self) -> Address:
        """Where the slave connects to for its outputs."""
        address: Address = self._listening.getsockname()
        return address

    def send(self, content: bytes) -> None:
        """Send a control PDU."""
        with self._sending:
            self._control.sendall(framed(content))

    def send_data(self, port: int, content: bytes) -> None:
        """Send a data PDU, by the control connection if that has the port."""
        if port not in self._outgoing:
            self._outgoing[port] = self._connected((self.peer[0], port))
        with self._sending:  # a heartbeat of another thread must not come in between
            self._outgoing[port].sendall(framed(content))

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next PDU of any connection."""
        deadline = time.monotonic() + timeout_s
        while not self._found:
            remaining_s = max(deadline - time.monotonic(), 0.0)
            ready, _, _ = select.select([self._listening, *self._frames], [], [], remaining_s)
            if not ready:
                return None
            for stream in ready:
                self._read(stream)
        return self._found.popleft()

    def answered(self) -> None:
        """Do nothing: what comes by a connection is of whoever it was made to."""

    def _read(self, ready: socket.socket) -> None:
        if ready is self._listening:
            connection, address = ready.accept()
            if address[0] != self.peer[0] or foreign_owner(socket.SOCK_STREAM, *address):
                connection.close()
                self.foreign, self.last_foreign = self.foreign + 1, f"{address[0]}:{address[1]}"
            else:
                self._frames[connection] = Frames(_DATAGRAM)
            return
        content = b""
        with suppress(ConnectionError):
            content = ready.recv(_DATAGRAM)
        if content:
            self._found += self._frames[ready].feed(content)
            return
        del self._frames[ready]
        ready.close()
        if ready is self._control:
            raise HungUpError(f"DCP slave at TCP {self.peer[0]}:{self.peer[1]}: it has hung up")

    def close(self) -> None:
        """Close all connections."""
        for stream in (self._listening, *self._outgoing.values(), *self._frames):
            stream.close()


def open_link(transport: Transport, peer: Address, timeout_s: float) -> UdpLink | TcpLink:
    """Return a link to a slave."""
    kind = TcpLink if transport is Transport.TCP_IPV4 else UdpLink
    try:
        return kind(peer, timeout_s)
    except OSError as error:
        name = transport.name.partition("_")[0]
        raise DeviceError(
            f"DCP slave at {name} {peer[0]}:{peer[1]} cannot be reached:"
            f" {error.strerror or error}; is it started, and are address and port right?"
        ) from None
