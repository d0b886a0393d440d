"""A UDP socket as adapters use it: one peer, and waiting for a time at most."""

from __future__ import annotations

import socket
import time

from orchestrator.rig.devices import DeviceError

Address = tuple[str, int]
#: The largest payload of UDP over IPv4.
MOST_BYTES = 65507
#: Wanted for datagrams that wait; the kernel gives at most net.core.rmem_max.
_BUFFER_BYTES = 1 << 20


class DatagramSocket:
    """A bound socket with one peer; the kernel drops what others send once the peer is known.

    Parameters
    ----------
    host, port
        Here; port 0: any.
    peer
        Of the device; ``None``: it is whoever sends first.

    Raises
    ------
    OSError
        If the port is in use or not allowed, or an address is none; the text names it.
    """

    def __init__(self, host: str, port: int, peer: Address | None) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.peer: Address | None = None
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            self._socket.bind((host, port))
            if peer is not None:
                self.lock_to(peer)
        except OSError as error:
            self._socket.close()
            place = f"UDP {host}:{port}" + (f" to {peer[0]}:{peer[1]}" if peer else "")
            raise OSError(error.errno, f"{error.strerror or error}: {place}") from None

    @property
    def address(self) -> Address:
        """Host and port here."""
        found: Address = self._socket.getsockname()
        return found

    def lock_to(self, peer: Address) -> None:
        """Take datagrams of this peer only, from now on."""
        self._socket.connect(peer)
        self.peer = peer

    def receive(self, timeout_s: float) -> tuple[bytes, Address] | None:
        """Return the next datagram and its sender; ``None`` if none came in time.

        A peer that refuses is a peer that is silent: it may be starting anew.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.0))
            try:
                return self._socket.recvfrom(MOST_BYTES)
            except (TimeoutError, BlockingIOError):
                return None
            except ConnectionRefusedError:
                if time.monotonic() >= deadline:
                    return None

    def send(self, datagram: bytes) -> None:
        """Send to the peer.

        Raises
        ------
        DeviceError
            If no peer is known yet.
        """
        if self.peer is None:
            raise DeviceError("nothing can be sent before the device has sent something")
        try:
            self._socket.send(datagram)
        except ConnectionRefusedError:
            self._socket.send(datagram)  # the refusal was of an earlier one

    def answer(self, datagram: bytes, address: Address) -> None:
        """Send to an address, whoever the peer is."""
        self._socket.sendto(datagram, address)

    def close(self) -> None:
        """Close; more than once is no harm."""
        self._socket.close()


def connected(socket_: DatagramSocket | None) -> DatagramSocket:
    """Return a socket that is open.

    Raises
    ------
    DeviceError
        If the device has not been opened.
    """
    if socket_ is None:
        raise DeviceError("the device is not open")
    return socket_
