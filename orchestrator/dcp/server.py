"""The sockets of a slave: UDP or TCP, one thread, one machine."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable

from orchestrator.core.accounts import Peers, foreign_owner
from orchestrator.core.diagnostics import DeviceError, WireFormatError
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.identifiers import Transport
from orchestrator.dcp.pdus import Frames, framed
from orchestrator.dcp.slave import Slave
from orchestrator.dcp.slave_data import Address, Origin, SlaveModel, SlaveWire

_DATAGRAM = 65535
#: Connections at the same time; more are closed at once.
_MOST_PEERS = 16
#: How long a peer that does not read may hold a slave up, in s.
_SEND_S = 1.0


def _host(origin: Origin) -> object:
    """Return the host of a peer; ``None`` if it is gone."""
    try:
        address = origin.getpeername() if isinstance(origin, socket.socket) else origin
    except OSError:
        return None
    return address[0] if isinstance(address, tuple) else None


class SlaveServer(SlaveWire):
    """Serves one slave until the caller stops it.

    about: What the slave says of itself; its first transport protocol carries the control PDUs.
    model: What it computes with.
    transport: Of the control PDUs.
    host, port: Where to listen; port 0: any.
    Raises DeviceError: if the port is taken, or not allowed.
    """

    def __init__(
        self,
        description: SlaveDescription,
        model: SlaveModel,
        transport: Transport,
        host: str,
        port: int,
    ) -> None:
        self._host, self._transport = host, transport
        self._longest = min(description.transports[transport].max_pdu_size, _DATAGRAM)
        self._control = self._opened(transport, port)
        self._data: dict[tuple[Transport, int], socket.socket] = {}
        self._peers: dict[socket.socket, Frames] = {}
        self._outgoing: dict[Address, socket.socket] = {}
        self.slave = Slave(description, model, self)
        self._known = Peers(socket.SOCK_DGRAM, "DCP slave")
        self._wake, self._woken = socket.socketpair()
        self._stopped = False

    @property
    def address(self) -> Address:
        """Host and port of the control PDUs."""
        address: Address = self._control.getsockname()
        return address

    def _opened(self, transport: Transport, port: int) -> socket.socket:
        stream = transport is Transport.TCP_IPV4
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
        try:
            if stream:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind((self._host, port))
            if stream:
                opened.listen(_MOST_PEERS)
        except OSError as error:
            opened.close()
            name = "TCP" if stream else "UDP"
            raise DeviceError(
                f"DCP slave: {name} {self._host}:{port} cannot be opened: {error.strerror or error}"
            ) from None
        opened.setblocking(False)  # noqa: FBT003 # positional only
        return opened

    # As the slave uses it

    def answer(self, origin: Origin, content: bytes) -> None:
        """Send a control PDU to where one came from."""
        try:
            if isinstance(origin, socket.socket):
                origin.sendall(framed(content))
            elif isinstance(origin, tuple):
                self._control.sendto(content, origin)
        except OSError:
            return  # whoever asked is gone, which is noticed where it is received from

    def is_same(self, origin: Origin, master: Origin) -> bool:
        """Compare sockets of UDP by host and port; a connection of TCP by the host it is from."""
        if isinstance(origin, tuple) and isinstance(master, tuple):
            return origin == master
        return _host(origin) == _host(master) is not None

    def listen(self, transport: Transport, port: int) -> None:
        """Receive data on a port."""
        is_control = transport is self._transport and port == self.address[1]
        if not is_control and (transport, port) not in self._data:
            self._data[transport, port] = self._opened(transport, port)

    def connect(self, transport: Transport, address: Address) -> None:
        """Connect to a receiver of data; UDP needs nothing."""
        if transport is Transport.TCP_IPV4 and address not in self._outgoing:
            connection = socket.create_connection(address, timeout=_SEND_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._outgoing[address] = connection

    def send(self, transport: Transport, address: Address, content: bytes) -> None:
        """Send a data PDU."""
        if transport is Transport.TCP_IPV4:
            self._outgoing[address].sendall(framed(content))
        elif self._transport is Transport.UDP_IPV4:
            self._control.sendto(content, address)
        else:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.sendto(content, address)

    def take_waiting(self) -> None:
        """Hand over the data that have arrived on ports of their own."""
        peers = (peer for peer in self._peers if peer is not self.slave.master)
        waiting = [*self._data.values(), *peers]
        for peer in select.select(waiting, [], [], 0.0)[0]:
            self._read(peer)

    def release(self) -> None:
        """Close what was opened for data."""
        for connection in (*self._data.values(), *self._outgoing.values()):
            connection.close()
        self._data.clear()
        self._outgoing.clear()

    # The loop

    def serve(self, until: Callable[[], bool] = lambda: False) -> None:
        """Serve until :meth:`stop`, or until something is so after a PDU or a step."""
        while not self._stopped and not until():
            sockets = [self._control, self._woken, *self._data.values(), *self._peers]
            due_ns = self.slave.due_ns
            remaining_s = (
                None if due_ns is None else max(0.0, (due_ns - time.monotonic_ns()) * 1e-9)
            )
            ready, _, _ = select.select(sockets, [], [], remaining_s)
            for ready_socket in ready:
                if ready_socket is not self._woken:
                    self._read(ready_socket)
            self.slave.tick()

    def stop(self) -> None:
        """Let :meth:`serve` return; from another thread, or a signal."""
        self._stopped = True
        self._wake.send(b"\0")

    def close(self) -> None:
        """Close everything; the model is ended."""
        self.slave.exit()
        for opened in (*self._peers, self._control, self._wake, self._woken):
            opened.close()

    def _read(self, ready: socket.socket) -> None:
        if ready in self._peers:
            self._read_stream(ready)
        elif ready.type == socket.SOCK_STREAM:
            self._accept(ready)
        else:
            self._read_datagrams(ready)

    def _read_datagrams(self, ready: socket.socket) -> None:
        for _ in range(64):  # others have their turn after this many
            try:
                content, address = ready.recvfrom(_DATAGRAM)
            except OSError:  # nothing more, or a peer that refused an earlier one
                return
            if self._known.may_come(address):
                self.slave.receive(content, address)

    def _accept(self, ready: socket.socket) -> None:
        try:
            connection, address = ready.accept()
        except OSError:
            return
        crowded = len(self._peers) >= _MOST_PEERS
        if crowded or foreign_owner(socket.SOCK_STREAM, *address):
            connection.close()
            return
        connection.settimeout(_SEND_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peers[connection] = Frames(self._longest)

    def _read_stream(self, peer: socket.socket) -> None:
        try:
            content = peer.recv(_DATAGRAM)
            frames = self._peers[peer].feed(content)
        except (OSError, WireFormatError):
            content, frames = b"", []
        if not content:
            self._peers.pop(peer, None)
            self.slave.lose(peer)
            peer.close()
            return
        for pdu in frames:
            self.slave.receive(pdu, peer)
