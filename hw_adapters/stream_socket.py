"""A TCP connection as adapters use it: waiting for a time at most, and sending at once."""

from __future__ import annotations

import select
import socket
import time

from orchestrator.core.accounts import DEVICE_ACCOUNTS, foreign_owner
from orchestrator.rig.devices import DeviceError

_MOST_BYTES = 65536
#: A peer that takes nothing for so long is lost, s.
_SEND_S = 0.5


class ConnectionLostError(DeviceError):
    """A device has closed the connection, or takes nothing any more."""


class StreamSocket:
    """A connection to a device.

    Parameters
    ----------
    host, port
        Of the device.
    timeout_s
        For connecting.

    Raises
    ------
    OSError
        If nothing listens there, or there is no way to it; the text names it.
    DeviceError
        If it does not answer in time, or is a program of another account of this machine.
    """

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self._name = f"TCP {host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout_s)
        except TimeoutError:
            raise DeviceError(f"{self._name}: no answer within {timeout_s:g} s") from None
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror or error}: {self._name}") from None
        whose = foreign_owner(socket.SOCK_STREAM, *self._socket.getpeername()[:2])
        if whose:
            self._socket.close()
            raise DeviceError(
                f"{self._name}: the port is of {whose}; expected a program of your account, or of"
                f" one that {DEVICE_ACCOUNTS} names"
            )
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(_SEND_S)

    def receive(self, deadline: float) -> bytes:
        """Return what is there as soon as something is; nothing at the deadline.

        Parameters
        ----------
        deadline
            CLOCK_MONOTONIC in s.

        Raises
        ------
        DeviceError
            If the device has closed the connection, or it broke.
        """
        remaining_s = max(deadline - time.monotonic(), 0.0)
        if not select.select([self._socket], [], [], remaining_s)[0]:
            return b""
        try:
            data = self._socket.recv(_MOST_BYTES)
        except OSError as error:
            raise ConnectionLostError(f"{self._name}: {error.strerror or error}") from None
        if not data:
            raise ConnectionLostError(f"{self._name}: the device has closed the connection")
        return data

    def send(self, data: bytes) -> None:
        """Send all of it.

        Raises
        ------
        DeviceError
            If the device takes nothing, or the connection broke.
        """
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise ConnectionLostError(f"{self._name}: it took nothing for {_SEND_S:g} s") from None
        except OSError as error:
            raise ConnectionLostError(f"{self._name}: {error.strerror or error}") from None

    def close(self) -> None:
        """Close; more than once is no harm."""
        self._socket.close()
