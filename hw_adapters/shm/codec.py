r"""Records in shared memory, guarded by a seqlock and a check sum.

Little endian. The block begins with 32 bytes: ``b"SDSHM1\0\0"``, u32 number of measurements, u32
number of commands, 16 bytes 0. The record of the measurements follows, then that of the commands.
A record has 32 bytes and its values: u64 counter, odd while it is written; u64 number of the
sample; u64 time in ns by the writer's clock; u32 status, 0 where all is in order; u32 CRC-32 of
number, time, status and values; f64 values.

References
----------
Lameter: Effective synchronization on Linux/NUMA systems, 2005 (seqlocks). The check sum is an
addition: it finds torn records also where the processor orders writes as it likes.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.rig.devices import WireFormatError

_HEAD = struct.Struct("<8sII16x")
_MARK = b"SDSHM1\0\0"
_COUNTER = struct.Struct("<Q")
_FIXED = struct.Struct("<QQI")
_CRC = struct.Struct("<I")
_RECORD_HEAD = 32


@dataclass(frozen=True, slots=True)
class Record:
    """One sample.

    Parameters
    ----------
    values
        In their order.
    sequence
        Number of the sample.
    time_ns
        By the clock of whoever wrote it.
    status
        0: all is in order.
    """

    values: tuple[float, ...]
    sequence: int = 0
    time_ns: int = 0
    status: int = 0


def record_size(count: int) -> int:
    """Return the bytes of a record with so many values."""
    return _RECORD_HEAD + 8 * count


def measurements_at() -> int:
    """Return where the record of the measurements begins."""
    return _HEAD.size


def commands_at(measurements: int) -> int:
    """Return where the record of the commands begins."""
    return _HEAD.size + record_size(measurements)


def block_size(measurements: int, commands: int) -> int:
    """Return the bytes of a whole block."""
    return commands_at(measurements) + record_size(commands)


def check_head(block: bytes, measurements: int, commands: int) -> None:
    """Refuse a block that is of another kind or of other numbers of values.

    Raises
    ------
    WireFormatError
        With what was expected and found.
    """
    if len(block) < _HEAD.size:
        raise _block_error(f"expected at least {_HEAD.size} bytes, found {len(block)}")
    mark, measured, commanded = _HEAD.unpack_from(block)
    if mark != _MARK:
        raise _block_error(f"expected the mark {_MARK!r}, found {mark!r}")
    if (measured, commanded) != (measurements, commands):
        raise _block_error(
            f"expected {measurements} measurements and {commands} commands,"
            f" found {measured} and {commanded}"
        )
    expected = block_size(measurements, commands)
    if len(block) < expected:
        raise _block_error(f"expected {expected} bytes, found {len(block)}")


def decode(record: bytes) -> Record | None:
    """Read a copy of a record; ``None`` if it was being written, or never was.

    Raises
    ------
    WireFormatError
        If its check sum differs, or a value is not finite.
    """
    if len(record) < _RECORD_HEAD or len(record) % 8:
        raise _block_error(
            f"expected a record of 32 bytes and its values, found {len(record)} bytes"
        )
    (counter,) = _COUNTER.unpack_from(record)
    if counter == 0 or counter % 2:
        return None
    fixed, values = record[8:28], record[_RECORD_HEAD:]
    (checksum,) = _CRC.unpack_from(record, 28)
    if checksum != (expected := zlib.crc32(values, zlib.crc32(fixed))):
        raise _block_error(f"expected CRC-32 {expected:#010x}, found {checksum:#010x}")
    numbers = struct.unpack(f"<{len(values) // 8}d", values)
    if not all(map(math.isfinite, numbers)):
        raise _block_error(f"expected finite values, found {numbers}")
    return Record(numbers, *_FIXED.unpack(fixed))


def encode(record: Record) -> bytes:
    """Write what follows the counter of a record.

    Raises
    ------
    WireFormatError
        If a value is not finite: none such is handed on.
    """
    if not all(map(math.isfinite, record.values)):
        raise _block_error(f"expected finite values, found {record.values}")
    fixed = _FIXED.pack(record.sequence % 2**64, record.time_ns % 2**64, record.status)
    values = _doubles(record.values)
    return fixed + _CRC.pack(zlib.crc32(values, zlib.crc32(fixed))) + values


def _doubles(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def _block_error(message: str) -> WireFormatError:
    return WireFormatError.in_file("shared memory", message)
