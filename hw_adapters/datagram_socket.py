"""A UDP socket as adapters use it: one peer, and waiting for a time at most."""

from __future__ import annotations

import socket
import time
from collections import deque

from orchestrator.core.accounts import Peers
from orchestrator.rig.devices import DeviceError

Address = tuple[str, int]
#: The largest payload of UDP over IPv4.
MOST_BYTES = 65507
#: Wanted for datagrams that wait; the kernel gives at most net.core.rmem_max.
_BUFFER_BYTES = 1 << 20
#: Datagrams of a device follow each other, but for a few that are lost.
_NEXT = 3
#: Numbers that are remembered of each: among live datagrams there may be old ones.
_NUMBERS = 16
#: So many senders are told apart.
_SENDERS = 64


class DatagramSocket:
    """A bound socket with one peer; what others send is refused, and counted.

    Parameters
    ----------
    host, port
        Here; port 0: any.
    peer
        Of the device; ``None``: it is known by what it sends.
    from_host
        The only host that is heard while the peer is not known; empty: any.

    Raises
    ------
    OSError
        If the port is in use or not allowed, or an address is none; the text names it.
    """

    def __init__(self, host: str, port: int, peer: Address | None, from_host: str = "") -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.peer: Address | None = None
        self._foreign, self._last = 0, ""
        self._peers = Peers(socket.SOCK_DGRAM, f"UDP {host}:{port}")
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            self._socket.bind((host, port))
            self._host = socket.gethostbyname(from_host) if from_host else ""
            if peer is not None:
                self.lock_to((socket.gethostbyname(peer[0]), peer[1]))
        except OSError as error:
            self._socket.close()
            description = f"UDP {host}:{port}" + (f" to {peer[0]}:{peer[1]}" if peer else "")
            raise OSError(error.errno, f"{error.strerror or error}: {description}") from None

    @property
    def address(self) -> Address:
        """Host and port here."""
        name: Address = self._socket.getsockname()
        return name

    def lock_to(self, peer: Address) -> None:
        """Take datagrams of this peer only, from now on."""
        self.peer = peer

    def refuse(self, sender: Address) -> None:
        """Count a datagram of somebody else."""
        self._foreign, self._last = self._foreign + 1, f"{sender[0]}:{sender[1]}"

    def account(self) -> str:
        """Say who the peer is, how many datagrams of others came, and who sent the last."""
        peer_text = f"its peer was {self.peer[0]}:{self.peer[1]}" if self.peer else "it had no peer"
        if not self._foreign:
            return peer_text
        were = "datagram of others was" if self._foreign == 1 else "datagrams of others were"
        return f"{peer_text}, {self._foreign} {were} refused, the last from {self._last}"

    def receive(self, timeout_s: float) -> tuple[bytes, Address] | None:
        """Return the next datagram and its sender; ``None`` if none came in time.

        Programs of other accounts of this machine are not heard.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.0))
            try:
                content, sender = self._socket.recvfrom(MOST_BYTES)
            except (TimeoutError, BlockingIOError):
                return None
            is_peer = sender == self.peer
            is_first = self.peer is None and self._host in {"", sender[0]}
            if (is_peer or is_first) and self._peers.may_come(sender):
                return content, sender
            self.refuse(sender)
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
            raise DeviceError("nothing can be sent before the device has sent its first datagram")
        self._socket.sendto(datagram, self.peer)

    def close(self) -> None:
        """Close; more than once is no harm."""
        self._socket.close()


class PeerSearch:
    """Finds the one sender whose datagrams count on, before it is believed.

    Parameters
    ----------
    enough
        So many that follow each other are those of the device.
    step
        By how much their number goes on, at least; 0: they have none.
    hint
        What to set if two senders send such datagrams.
    """

    def __init__(self, enough: int, step: int, hint: str) -> None:
        self._enough, self._step, self._hint = enough, step, hint
        self._found: dict[Address, tuple[int, deque[int]]] = {}

    def offer(self, sender: Address, number: int) -> bool:
        """Take a datagram of the right form; return whether its sender is the device.

        Raises
        ------
        DeviceError
            If another sends such datagrams, too.
        """
        count, numbers = self._found.pop(sender, (1, deque(maxlen=_NUMBERS)))
        follows = any(self._step <= number - earlier <= _NEXT * self._step for earlier in numbers)
        if not self._step:
            follows = bool(numbers)
        if number not in numbers or not self._step:
            count += follows
            numbers.append(number)
        self._found[sender] = count, numbers
        while len(self._found) > _SENDERS:
            self._found.pop(next(iter(self._found)))
        others = [address for address in self._found if address != sender]
        # one whose datagrams were lost until now gets the time to send more
        if self._found[sender][0] < self._enough + (_NEXT if others else 0):
            return False
        others = [address for address in others if self._found[address][0] > 1]
        if others:
            names = " and ".join(sorted(f"{host}:{port}" for host, port in (sender, *others)))
            raise DeviceError(f"more than one sends as the device: {names}; {self._hint}")
        return True


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
