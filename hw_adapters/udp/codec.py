"""Bytes of a declared datagram to a message, and back."""

from __future__ import annotations

import math
import struct
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from hw_adapters.udp.layout import Layout, LayoutField
from orchestrator.rig.devices import WireFormatError

_ORDERS = {"little": "<", "big": ">"}


@dataclass(frozen=True, slots=True)
class Message:
    """What a datagram says.

    Parameters
    ----------
    values
        Of the signals, in the order of the layout, in their units.
    sequence, time_s, status, taken
        ``None`` where the layout has no such field.
    """

    values: tuple[float, ...]
    sequence: int | None = None
    time_s: float | None = None
    status: int | None = None
    taken: int | None = None


class Codec:
    """Reads and writes the datagrams of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        order = _ORDERS[layout.byte_order]
        self._struct = struct.Struct(order + "".join(field.code for field in layout.fields))
        self._values = sum(field.count for field in layout.signals)
        self._crc = struct.Struct(order + "I")
        self._has_crc = layout.crc == "crc32"
        self.sequence_period = _period(layout, "sequence")
        #: After so many commands the number of the one that was taken begins again.
        self.taken_period = _period(layout, "taken")
        #: After so many s the time of its field begins again; ``None``: it is no whole number.
        self.time_period = next(
            (f.period * abs(f.scale) for f in layout.fields if f.role == "time" and f.period), None
        )

    @property
    def positions(self) -> dict[str, str]:
        """Where each scalar signal stands, as ``byte 20, f64``, by its name."""
        order, at, descriptions = _ORDERS[self._layout.byte_order], 0, dict[str, str]()
        for field in self._layout.fields:
            size = struct.calcsize(f"{order}{field.code}")
            if field.role == "signal":
                for i, scalar in enumerate(field.connector.scalars):
                    descriptions[scalar] = f"byte {at + i * size // field.count}, {field.type}"
            at += size
        return descriptions

    @property
    def size(self) -> int:
        """Bytes of a datagram."""
        return self._struct.size + (self._crc.size if self._has_crc else 0)

    def decode(self, datagram: bytes) -> Message:
        """Read a datagram.

        Raises
        ------
        WireFormatError
            If its length, its check sum or a constant differs from the layout's, or a signal is
            not finite.
        """
        if len(datagram) != self.size:
            raise _message_error(f"expected {self.size} bytes, found {len(datagram)}")
        body = datagram[: self._struct.size]
        if self._has_crc:
            (checksum,) = self._crc.unpack(datagram[self._struct.size :])
            if checksum != (expected := zlib.crc32(body)):
                raise _message_error(f"expected CRC-32 {expected:#010x}, found {checksum:#010x}")
        values: list[float] = []
        parts: dict[str, int] = {}
        time_s: float | None = None
        raws = iter(self._struct.unpack(body))
        for field in self._layout.fields:
            if field.role == "signal":
                raw_values = islice(raws, field.count)
                values += (_finite(field, raw * field.scale + field.offset) for raw in raw_values)
            elif field.role == "padding":
                deque(islice(raws, field.count), maxlen=0)
            elif field.role == "time":
                time_s = _finite(field, next(raws) * field.scale + field.offset)
            else:
                parts[field.role] = self._checked_constant(field, next(raws))
        return Message(
            tuple(values), parts.get("sequence"), time_s, parts.get("status"), parts.get("taken")
        )

    def _checked_constant(self, field: LayoutField, raw: int | bytes) -> int:
        if isinstance(raw, bytes):
            if field.text and raw.rstrip(b"\0") != field.text.encode():
                raise _message_error(f"expected the text {field.text!r}, found {raw!r}")
            return 0
        if field.role == "constant" and raw != field.value:
            raise _message_error(f"expected the constant {field.value:#x}, found {raw:#x}")
        return raw

    def encode(self, values: Sequence[float], sequence: int = 0, time_s: float = 0.0) -> bytes:
        """Write a datagram; status 0.

        Parameters
        ----------
        values
            Of the signals, in their units.
        sequence
            Any count; it is taken modulo what its field holds.
        time_s
            In s.

        Raises
        ------
        WireFormatError
            If a value is not finite or has no place in its type.
        """
        if len(values) != self._values:
            raise _message_error(f"expected {self._values} values, found {len(values)}")
        remaining_values = iter(values)
        raws: list[int | float | bytes] = []
        for field in self._layout.fields:
            if field.role == "text":
                raws.append(field.text.encode())
                continue
            raws += (
                self._raw(field, remaining_values, sequence, time_s) for _ in range(field.count)
            )
        try:
            body = self._struct.pack(*raws)
        except (struct.error, OverflowError) as error:
            raise _message_error(f"a value does not fit its type: {error}") from None
        return body + self._crc.pack(zlib.crc32(body)) if self._has_crc else body

    def _raw(
        self, field: LayoutField, values: Iterator[float], sequence: int, time_s: float
    ) -> int | float:
        if field.role == "sequence":
            low, high = field.ends
            return low + sequence % (high - low + 1)
        if field.role == "constant":
            return field.value
        if field.role not in {"signal", "time"}:
            return 0
        value = time_s if field.role == "time" else next(values)
        return _to_type(field, (_finite(field, value) - field.offset) / field.scale)


def _period(layout: Layout, role: str) -> int | None:
    return next((field.period for field in layout.fields if field.role == role), None)


def _to_type(field: LayoutField, raw: float) -> int | float:
    if field.type.startswith("f"):
        return raw
    if not (math.isfinite(raw) and field.holds(round(raw))):
        raise _message_error(f"{_name(field)}: {raw:g} does not fit {field.type}")
    return round(raw)


def _finite(field: LayoutField, value: float) -> float:
    if not math.isfinite(value):
        raise _message_error(f"{_name(field)}: expected a finite number, found {value}")
    return value


def _name(field: LayoutField) -> str:
    return f"'{field.name}'" if field.role == "signal" else field.role


def _message_error(message: str) -> WireFormatError:
    return WireFormatError.in_file("datagram", message)
