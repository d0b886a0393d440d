"""Raw Data Transfer (RDT): requests to the sensor, records from it; big endian, UDP 49152.

References
----------
ATI Industrial Automation, Network Force/Torque Sensor System, 9620-05-NET FT; Ethernet Axia,
9610-05. The meaning of single status bits is checked for bit 31 only.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from orchestrator.rig.devices import WireFormatError

_REQUEST = struct.Struct(">HHI")
_RECORD = struct.Struct(">III6i")
_HEADER = 0x1234
#: Summary of the status word: the sensor is not in order, its counts mean nothing.
ERROR_BIT = 31
#: Bits of the status word that have a name of their own here.
STATUS_BITS = {31: "error", 17: "saturation", 16: "threshold latched"}

Counts = tuple[int, int, int, int, int, int]


class Command(IntEnum):
    """What a request asks for."""

    STOP = 0x0000
    STREAM = 0x0002
    STREAM_BUFFERED = 0x0003
    RESET_LATCH = 0x0041
    TARE = 0x0042


@dataclass(frozen=True, slots=True)
class Request:
    """A request.

    Parameters
    ----------
    command
        What is asked for.
    samples
        How many records; 0: until a stop, or another request of anyone.
    """

    command: Command
    samples: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """One sample of the sensor.

    Parameters
    ----------
    rdt_sequence
        Number of the record since the request, 32 bits.
    ft_sequence
        Number of the sample by the sensor's own clock, 32 bits.
    status
        Status word; see :data:`STATUS_BITS`.
    counts
        Fx, Fy, Fz, Tx, Ty, Tz in counts; see :class:`Calibration`.
    """

    rdt_sequence: int
    ft_sequence: int
    status: int
    counts: Counts

    @property
    def valid(self) -> bool:
        """Whether the sensor says that it is in order."""
        return not self.status >> ERROR_BIT & 1


def encode_request(request: Request) -> bytes:
    """Write a request, 8 bytes.

    Raises
    ------
    WireFormatError
        If the number of samples has no place in 32 bits.
    """
    if not 0 <= request.samples < 2**32:
        raise _record_error(
            f"expected 0 to 2**32 - 1 samples in a request, found {request.samples}"
        )
    return _REQUEST.pack(_HEADER, request.command, request.samples)


def decode_records(datagram: bytes) -> tuple[Record, ...]:
    """Read the records of a datagram: one, or several of a buffered stream.

    Raises
    ------
    WireFormatError
        If its length is no multiple of 36 bytes. RDT has neither a mark nor a check sum.
    """
    if not datagram or len(datagram) % _RECORD.size:
        raise _record_error(f"expected a multiple of {_RECORD.size} bytes, found {len(datagram)}")
    return tuple(_record(*fields) for fields in _RECORD.iter_unpack(datagram))


def status_names(status: int) -> tuple[str, ...]:
    """Name the bits that are set, the highest first; ``"bit 5"`` for one without a name."""
    return tuple(
        STATUS_BITS.get(bit, f"bit {bit}") for bit in range(31, -1, -1) if status >> bit & 1
    )


def _record(rdt: int, ft: int, status: int, *counts: int) -> Record:
    fx, fy, fz, tx, ty, tz = counts
    return Record(rdt, ft, status, (fx, fy, fz, tx, ty, tz))


def _record_error(message: str) -> WireFormatError:
    return WireFormatError.in_file("RDT", message)
