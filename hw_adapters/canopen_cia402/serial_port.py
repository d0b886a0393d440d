"""A serial port, raw, with one owner."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import termios
import time
import tty

from orchestrator.rig.devices import DeviceError

_MOST_BYTES = 65536
#: A port that takes nothing for so long is lost, s.
_WRITE_S = 0.5


class SerialPort:
    """Bytes to and from a terminal device.

    Parameters
    ----------
    path
        Such as ``/dev/ttyACM0``.
    baudrate
        Of a UART; others ignore it.

    Raises
    ------
    DeviceError
        If another program has it, or it is no terminal.
    OSError
        If it is not there or not allowed; the text names it.
    """

    def __init__(self, path: str, baudrate: int) -> None:
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _make_raw(self._file, baudrate)
        except BlockingIOError:
            self.close()
            raise DeviceError(
                f"serial port {path}: another program uses it; end that program"
            ) from None
        except termios.error:
            self.close()
            raise DeviceError(f"serial port {path}: expected a terminal device") from None
        except OSError as error:
            self.close()
            raise OSError(error.errno, f"{error.strerror or error}: serial port {path}") from None

    def read(self, deadline: float) -> bytes:
        """Return what is there, as soon as something is; nothing at the deadline.

        Raises
        ------
        DeviceError
            If the port has gone.
        """
        while True:
            ready, _, _ = select.select([self._file], [], [], max(deadline - time.monotonic(), 0.0))
            if not ready:
                return b""
            try:
                data = os.read(self._file, _MOST_BYTES)
            except BlockingIOError:
                continue
            except OSError as error:
                raise _gone(error) from None
            if not data:
                raise DeviceError(
                    "the serial port has gone: check whether the CAN adapter is unplugged"
                )
            return data

    def write(self, data: bytes) -> None:
        """Write all of it.

        Raises
        ------
        DeviceError
            If the port takes nothing, or has gone.
        """
        deadline = time.monotonic() + _WRITE_S
        while data:
            try:
                data = data[os.write(self._file, data) :]
            except BlockingIOError:
                self._wait_to_write(deadline)
            except OSError as error:
                raise _gone(error) from None

    def close(self) -> None:
        """Close; more than once is no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _wait_to_write(self, deadline: float) -> None:
        remaining_s = max(deadline - time.monotonic(), 0.0)
        if not select.select([], [self._file], [], remaining_s)[1]:
            raise DeviceError(f"the serial port took nothing for {_WRITE_S:g} s")


def _make_raw(file: int, baudrate: int) -> None:
    tty.setraw(file, termios.TCSANOW)
    attributes = termios.tcgetattr(file)
    attributes[4] = attributes[5] = getattr(termios, f"B{baudrate}")
    termios.tcsetattr(file, termios.TCSANOW, attributes)
    termios.tcflush(file, termios.TCIOFLUSH)


def _gone(error: OSError) -> DeviceError | OSError:
    if error.errno == errno.EIO:
        return DeviceError("the serial port has gone: check whether the CAN adapter is unplugged")
    return error
