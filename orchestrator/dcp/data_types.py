"""The data types of DCP 1.0, their conversions, and the payload of data and parameter PDUs."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping
from enum import IntEnum

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.core.structs import Struct

#: One element of a variable.
Scalar = int | float | str | bytes

_LENGTH = struct.Struct("<I")


class DcpType(IntEnum):
    """Data types by the number that PDUs have for them (Table 2)."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT32 = 8
    FLOAT64 = 9
    STRING = 10
    BINARY = 11

    @property
    def element(self) -> str:
        """Name of its element in a description, such as ``Float64``."""
        return self.name.capitalize()

    @property
    def is_integer(self) -> bool:
        """Whether its values are whole numbers."""
        return self <= DcpType.INT64

    @property
    def is_text(self) -> bool:
        """Whether its values have a length of their own."""
        return self >= DcpType.STRING

    @property
    def range(self) -> tuple[int, int]:
        """Least and largest value of a whole number."""
        bits = 8 << (self % 4)
        return (
            (0, 2**bits - 1)
            if self <= DcpType.UINT64
            else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )

    @property
    def size(self) -> int:
        """Bytes of a value; of strings and binaries, of the least."""
        return _LENGTH.size if self.is_text else _CODES[self].size

    def refusal(self, value: object) -> str | None:
        """Say what is expected of a value that it cannot hold; ``None`` if it can."""
        if self is DcpType.STRING:
            return None if isinstance(value, str) else "expected a text"
        if self is DcpType.BINARY:
            return None if isinstance(value, bytes) else "expected bytes"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return "expected a number"
        if not self.is_integer:
            return None if _fits(self, float(value)) else f"expected a finite {self.element}"
        low, high = self.range
        is_whole = isinstance(value, int) or value.is_integer()
        return (
            None
            if is_whole and low <= value <= high
            else f"expected a whole number, {low} to {high}"
        )


def _fits(kind: DcpType, value: float) -> bool:
    limit = 3.4028234663852886e38 if kind is DcpType.FLOAT32 else math.inf
    return math.isfinite(value) and abs(value) <= limit


_CODES = {
    kind: struct.Struct(f"<{code}")
    for kind, code in zip(list(DcpType)[:10], "BHIQbhiqfd", strict=True)
}


def _names(text: str) -> frozenset[DcpType]:
    return frozenset(DcpType[name.upper()] for name in text.split())


#: What an input or parameter may have, by the type that is sent (Table 11).
CONVERSIONS: Mapping[DcpType, frozenset[DcpType]] = {
    DcpType.UINT8: _names("uint8 uint16 uint32 uint64 int16 int32 int64 float32 float64"),
    DcpType.UINT16: _names("uint16 uint32 uint64 int32 int64 float32 float64"),
    DcpType.UINT32: _names("uint32 uint64 int64 float64"),
    DcpType.UINT64: _names("uint64"),
    DcpType.INT8: _names("int8 int16 int32 int64 float32 float64"),
    DcpType.INT16: _names("int16 int32 int64 float32 float64"),
    DcpType.INT32: _names("int32 int64 float64"),
    DcpType.INT64: _names("int64"),
    DcpType.FLOAT32: _names("float32 float64"),
    DcpType.FLOAT64: _names("float64"),
    DcpType.STRING: _names("string"),
    DcpType.BINARY: _names("binary"),
}


def converts(sent: int, held: DcpType) -> bool:
    """Whether a value of a type that is sent (its number, known or not) may go into another."""
    return sent in CONVERSIONS and held in CONVERSIONS[DcpType(sent)]


def pack_value(kind: DcpType, value: Scalar) -> bytes:
    """Write one value."""
    if (expected := kind.refusal(value)) is not None:
        raise WireFormatError(f"DCP {kind.element}: {expected}, found {value!r}")
    if kind.is_text:
        content = value.encode() if isinstance(value, str) else bytes(value)  # type: ignore[arg-type]
        return _LENGTH.pack(len(content)) + content
    return _CODES[kind].pack(int(value) if kind.is_integer else float(value))


def unpack_value(kind: DcpType, content: bytes, begin: int) -> tuple[Scalar, int]:
    """Read one value, and where the next begins."""
    end = begin + kind.size
    if end > len(content):
        raise _cut(kind, end, content)
    if not kind.is_text:
        value: Scalar = _CODES[kind].unpack_from(content, begin)[0]
        if not kind.is_integer and not math.isfinite(value):  # type: ignore[arg-type]
            raise WireFormatError(f"DCP {kind.element}: expected a finite value, found {value!r}")
        return value, end
    (length,) = _LENGTH.unpack_from(content, begin)
    if end + length > len(content):
        raise _cut(kind, end + length, content)
    part = content[end : end + length]
    if kind is DcpType.BINARY:
        return part, end + length
    try:
        return part.decode(), end + length
    except UnicodeDecodeError:
        raise WireFormatError(f"DCP String: expected UTF-8, found {part[:16]!r}") from None


def _cut(kind: DcpType, end: int, content: bytes) -> WireFormatError:
    return WireFormatError(
        f"DCP {kind.element}: expected {end} bytes of payload, found {len(content)}"
    )


Values = tuple[Scalar, ...]
#: Type, sequence number and data id before the payload.
HEADER_BYTES = 5


class PayloadPlace(Struct):
    """One variable in a payload.

    reference: Of the variable.
    type: Of the values in the payload: that of the output.
    size: Number of its elements.
    """

    reference: int
    type: DcpType
    size: int


class Payload:
    """Writes and reads payloads of one layout.

    places: By position, without gaps.
    """

    def __init__(self, values_in_payload: Iterable[PayloadPlace]) -> None:
        self.places = tuple(values_in_payload)

    @property
    def least_size(self) -> int:
        """Bytes of the shortest payload: strings and binaries are empty."""
        return sum(field.type.size * field.size for field in self.places)

    def pack(self, values: Mapping[int, Values]) -> bytes:
        """Write the values of all variables, by reference."""
        parts = []
        for field in self.places:
            entry = values[field.reference]
            if len(entry) != field.size:
                raise WireFormatError(
                    f"value reference {field.reference}: expected {field.size} values, found"
                    f" {len(entry)}"
                )
            parts += [pack_value(field.type, value) for value in entry]
        return b"".join(parts)

    def unpack(self, content: bytes) -> dict[int, Values]:
        """Read the values of all variables, by reference."""
        entries, at = {}, 0
        for field in self.places:
            values = []
            for _ in range(field.size):
                value, at = unpack_value(field.type, content, at)
                values.append(value)
            entries[field.reference] = tuple(values)
        if at != len(content):
            raise WireFormatError(f"DCP data: expected {at} bytes of payload, found {len(content)}")
        return entries


def has_gap(positions: Iterable[int]) -> bool:
    """Whether positions do not count from 0 on one by one."""
    ordered = sorted(positions)
    return ordered != list(range(len(ordered)))
