"""What a slave needs of the network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable

from orchestrator.dcp.identifiers import Transport

Address = tuple[str, int]
#: Where a control PDU came from, and where its answer goes to.
Origin = Hashable


class Wire(ABC):
    """Sends for a slave, and opens what it will receive by. Its errors are ``OSError``."""

    @abstractmethod
    def answer(self, origin: Origin, content: bytes) -> None:
        """Send a control PDU to where one came from; a peer that is gone is no error."""

    def is_same(self, origin: Origin, master: Origin) -> bool:
        """Whether data came from a master, which may have connections of their own for them."""
        return origin == master

    @abstractmethod
    def listen(self, transport: Transport, port: int) -> None:
        """Receive data on a port, which may be that of control PDUs or one that is open already."""

    @abstractmethod
    def connect(self, transport: Transport, address: Address) -> None:
        """Make ready to send data to an address."""

    @abstractmethod
    def send(self, transport: Transport, address: Address, content: bytes) -> None:
        """Send a data PDU."""

    @abstractmethod
    def take_waiting(self) -> None:
        """Hand over all data that have arrived, before a step that must know them."""

    @abstractmethod
    def release(self) -> None:
        """Close all that was opened by :meth:`listen` and :meth:`connect`."""
