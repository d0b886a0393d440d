"""The CAN line as the adapter sees it: frames out at once, frames in until a deadline."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from types import ModuleType
from typing import Protocol

from hw_adapters.canopen_cia402 import slcan
from hw_adapters.canopen_cia402.codec import CanFrame
from hw_adapters.canopen_cia402.serial_port import SerialPort
from orchestrator.rig.devices import DeviceError, WireFormatError

#: How long a CAN adapter may take to say its flags, s.
_REPLY_S = 0.2
_BUS_ERROR = 0x80


class Bus(Protocol):
    """A CAN line."""

    def send(self, frames: Sequence[CanFrame]) -> None:
        """Send frames in their order."""

    def receive(self, deadline: float) -> CanFrame | None:
        """Return the next frame; ``None`` if none came until then (CLOCK_MONOTONIC, s).

        Raises
        ------
        WireFormatError
            If what came is no frame; receiving goes on.
        DeviceError, OSError
            If the line is lost.
        """

    def trouble(self) -> str:
        """Say what is wrong with the line, as far as the CAN adapter knows; empty: nothing."""

    def close(self) -> None:
        """Leave the line; more than once is no harm."""


class SlcanBus:
    """A line behind a serial CAN adapter.

    Parameters
    ----------
    path
        Of the serial port; nobody else may have it.
    bitrate
        Of the line.
    baudrate
        Of the port.

    Raises
    ------
    OSError
        If the port is not there, not allowed, or in use.
    """

    def __init__(self, path: str, bitrate: int, baudrate: int) -> None:
        self._port = SerialPort(path, baudrate)
        self._splitter = slcan.LineSplitter()
        self._lines: deque[bytes] = deque()
        self._flags = 0
        try:
            self._port.write(b"\r" + slcan.CLOSE)
            self._port.write(slcan.NO_TIMES + slcan.set_bitrate(bitrate) + slcan.OPEN)
        except BaseException:
            self._port.close()
            raise

    def send(self, frames: Sequence[CanFrame]) -> None:
        """Send frames, all of them in one write."""
        self._port.write(b"".join(map(slcan.encode_line, frames)))

    def receive(self, deadline: float) -> CanFrame | None:
        """Return the next frame."""
        while True:
            while self._lines:
                line = self._lines.popleft()
                frame = slcan.decode_line(line)
                if frame is not None:
                    return frame
                self._flags = slcan.status_flags(line) or self._flags
            data = self._port.read(deadline)
            if not data:
                return None
            self._lines.extend(self._splitter.split(data))

    def trouble(self) -> str:
        """Ask for the flags of the CAN adapter."""
        self._flags = 0
        self._port.write(slcan.STATUS)
        deadline = time.monotonic() + _REPLY_S
        while not self._flags and time.monotonic() < deadline:
            try:
                self.receive(deadline)
            except WireFormatError:
                continue
        if self._flags & _BUS_ERROR:
            return f"the CAN adapter sees errors on the line (flags {self._flags:#04x})"
        return ""

    def close(self) -> None:
        """Close the channel of the CAN adapter, and the port."""
        try:
            self._port.write(slcan.CLOSE)
        except (OSError, DeviceError):
            pass  # it is gone already
        finally:
            self._port.close()


class PythonCanBus:
    """A line behind any interface of python-can.

    It is read without python-can's ``Notifier``: a thread beside the cycle would take the
    interpreter's lock in the middle of it.
    """

    def __init__(self, interface: str, channel: str, bitrate: int) -> None:
        can = _python_can()
        self._error: type[Exception] = can.CanError
        self._message = can.Message
        try:
            self._bus = can.Bus(interface=interface, channel=channel, bitrate=bitrate)
        except (can.CanError, ValueError, ImportError, NotImplementedError) as error:
            raise DeviceError(
                f"CAN interface '{interface}', channel '{channel}': {error}"
            ) from None

    def send(self, frames: Sequence[CanFrame]) -> None:
        """Send frames."""
        for frame in frames:
            message = self._message(
                arbitration_id=frame.identifier, data=frame.data, is_extended_id=False
            )
            try:
                self._bus.send(message)
            except self._error as error:
                raise DeviceError(f"the CAN line is lost: {error}") from None

    def receive(self, deadline: float) -> CanFrame | None:
        """Return the next data frame with an identifier of 11 bits."""
        while True:
            try:
                message = self._bus.recv(max(deadline - time.monotonic(), 0.0))
            except self._error as error:
                raise DeviceError(f"the CAN line is lost: {error}") from None
            if message is None:
                return None
            if not (message.is_extended_id or message.is_remote_frame or message.is_error_frame):
                return CanFrame(message.arbitration_id, bytes(message.data))

    def trouble(self) -> str:
        """Return the state of the controller, if it is not in order."""
        state = self._bus.state.name
        return "" if state == "ACTIVE" else f"the CAN controller is in state {state}"

    def close(self) -> None:
        """Shut the interface down."""
        self._bus.shutdown()


def _python_can() -> ModuleType:
    try:
        import can
    except ImportError:
        raise DeviceError(
            "every interface but 'slcan' needs python-can: pip install 'softdock[rig]'"
        ) from None
    return can


def open_bus(interface: str, channel: str, bitrate: int, baudrate: int) -> Bus:
    """Open a line.

    Raises
    ------
    DeviceError, OSError
        If it cannot be opened; the text names the channel.
    """
    if interface == "slcan":
        return SlcanBus(channel, bitrate, baudrate)
    return PythonCanBus(interface, channel, bitrate)
