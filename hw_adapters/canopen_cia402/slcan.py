"""The lines of serial CAN adapters (LAWICEL, slcan): text that ends with a carriage return.

References
----------
LAWICEL AB, CAN232 and CANUSB manuals: ``Sn`` sets the bit rate, ``O`` opens, ``C`` closes the line,
``Z0`` leaves out times, ``tIIILDD..`` is a frame with an identifier of 11 bits, ``F`` asks
for the flags. A line has no check sum: where characters are lost, what is left of two frames can
look like one. So a line has exactly the length that it says.
"""

from __future__ import annotations

import re

from hw_adapters.canopen_cia402.codec import CanFrame
from orchestrator.rig.devices import WireFormatError

#: ``S0`` to ``S8``, bit/s.
BITRATES = (10_000, 20_000, 50_000, 100_000, 125_000, 250_000, 500_000, 800_000, 1_000_000)
CLOSE, OPEN, STATUS, NO_TIMES = b"C\r", b"O\r", b"F\r", b"Z0\r"
#: An extended frame is the longest line.
_MOST_BYTES = 1 + 8 + 1 + 16
_FRAME = re.compile(rb"t([0-7][0-9A-Fa-f]{2})([0-8])((?:[0-9A-Fa-f]{2})*)")
_OTHER = re.compile(rb"T[01][0-9A-Fa-f]{7}([0-8])((?:[0-9A-Fa-f]{2})*)|r[0-7][0-9A-Fa-f]{2}[0-8]")
_REPLY = re.compile(rb"|z|Z|[VvN][0-9A-Za-z]{1,8}|F[0-9A-Fa-f]{2}")


def set_bitrate(bitrate: int) -> bytes:
    """Return the line that sets one of :data:`BITRATES`."""
    return f"S{BITRATES.index(bitrate)}\r".encode()


def encode_line(frame: CanFrame) -> bytes:
    """Write a frame as a line.

    Raises
    ------
    WireFormatError
        If it is no frame with an identifier of 11 bits and at most 8 bytes.
    """
    if not (0 <= frame.identifier < 0x800 and len(frame.data) <= 8):
        raise WireFormatError(f"slcan: expected 11 bits and at most 8 bytes, found {frame}")
    return f"t{frame.identifier:03X}{len(frame.data)}{frame.data.hex().upper()}\r".encode()


def decode_line(line: bytes) -> CanFrame | None:
    """Read a line without its end; ``None`` if it is a reply, or a frame that no drive sends.

    Raises
    ------
    WireFormatError
        If it is none of the protocol.
    """
    if (frame := _FRAME.fullmatch(line)) is not None:
        length, digits = int(frame[2]), frame[3]
        if len(digits) == 2 * length:
            return CanFrame(int(frame[1], 16), bytes.fromhex(digits.decode()))
    elif (foreign := _OTHER.fullmatch(line)) is not None:
        if foreign[1] is None or len(foreign[2]) == 2 * int(foreign[1]):
            return None
    elif _REPLY.fullmatch(line):
        return None
    elif line == b"\a":
        raise WireFormatError("slcan: the CAN adapter refused a command, or its buffer is full")
    raise WireFormatError(f"slcan: expected a line of a CAN adapter, found {line[:40]!r}")


def status_flags(line: bytes) -> int | None:
    """Return the flags of the adapter if the line has them: bit 7 is a bus error."""
    is_status = re.fullmatch(rb"F[0-9A-Fa-f]{2}", line) is not None
    return int(line[1:], 16) if is_status else None


class LineSplitter:
    """Cuts what comes into lines; a refusal (BEL) is a line of its own."""

    def __init__(self) -> None:
        self._rest = b""

    def split(self, data: bytes) -> list[bytes]:
        """Take what came, and return the lines that are complete.

        What is longer than any line before its end comes as it is, and is refused then.
        """
        *lines, incomplete = (self._rest + data).replace(b"\a", b"\r\a\r").split(b"\r")
        if len(incomplete) > _MOST_BYTES:
            lines.append(incomplete)
            incomplete = b""
        self._rest = incomplete
        return [line for line in lines if line]
