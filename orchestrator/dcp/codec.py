"""Bytes to PDUs and back: pure functions, no socket, no clock."""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields
from typing import TypeVar

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.dcp.identifiers import PduType
from orchestrator.dcp.pdus import (
    PDUS,
    NetworkInformation,
    Pdu,
    StateAck,
    StateChanged,
    place_fits,
)
from orchestrator.dcp.states import State

#: Of every PDU that is looked at: shorter ones are dropped (Table 105, note on the length).
_SHORTEST = {PduType.NTF_STATE_CHANGED: 3}
_LEAST = 4
_HEADER = struct.Struct("<BHB")
_PREFIX = struct.Struct("<I")

T = TypeVar("T", bound=Pdu)


@dataclass(frozen=True, slots=True)
class Header:
    """What is common to all requests, read before anything else is looked at."""

    kind: PduType
    sequence: int
    receiver: int


class LengthError(WireFormatError):
    """A PDU of a known type has another length than that type."""


#: Fields by class, in the order of the wire.
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in PDUS.values()}


def encode(pdu: Pdu) -> bytes:
    """Write a PDU, without the length that TCP has before it."""
    values = [getattr(pdu, name) for name in _NAMES[type(pdu)]]
    tail = values.pop() if pdu.has_tail else b""
    try:
        return bytes([pdu.kind]) + pdu.layout.pack(*values) + tail
    except struct.error as error:
        raise WireFormatError(f"{pdu.kind.title}: {error}; found {pdu}") from None


def kind_of(content: bytes) -> PduType:
    """Return what a PDU is, by its first byte."""
    try:
        kind = PduType(content[0])
    except (IndexError, ValueError):
        raise WireFormatError(
            f"DCP: expected a PDU, found {len(content)} bytes that begin {content[:8].hex()!r}"
        ) from None
    if len(content) < _SHORTEST.get(kind, _LEAST):
        raise LengthError(f"{kind.title}: expected {_LEAST} bytes or more, found {len(content)}")
    return kind


def header_of(content: bytes) -> Header:
    """Read the header of a request."""
    kind = kind_of(content)
    if not kind.is_request:
        raise WireFormatError(f"DCP: expected a request, found {kind.title}")
    _, sequence, receiver = _HEADER.unpack_from(content)
    return Header(kind, sequence, receiver)


def decode(content: bytes) -> Pdu:
    """Read a PDU."""
    kind = kind_of(content)
    shape = PDUS[kind]
    end = 1 + shape.layout.size
    if len(content) < end or (len(content) > end and not shape.has_tail):
        more = " or more" if shape.has_tail else ""
        raise LengthError(f"{kind.title}: expected {end} bytes{more}, found {len(content)}")
    tail = (content[end:],) if shape.has_tail else ()
    found = shape(*shape.layout.unpack_from(content, 1), *tail)
    _check(found, content)
    return found


def decode_as(wanted: type[T], content: bytes) -> T:
    """Read a PDU of a class; raises as :func:`decode`, and if it is another one."""
    found = decode(content)
    if not isinstance(found, wanted):
        raise WireFormatError(f"DCP: expected {wanted.kind.title}, found {found.kind.title}")
    return found


def _check(pdu: Pdu, content: bytes) -> None:
    if isinstance(pdu, NetworkInformation) and not place_fits(pdu.transport, pdu.place):
        raise LengthError(f"{pdu.kind.title}: expected 13 bytes, found {len(content)}")
    if isinstance(pdu, (StateAck, StateChanged)) and pdu.state > State.ERRORRESOLVED:
        raise WireFormatError(f"{pdu.kind.title}: expected a state, found {pdu.state:#04x}")


class Frames:
    """Takes a stream of TCP apart: each PDU has its length before it (section 4.2.3.2).

    Parameters
    ----------
    longest
        A longer PDU is none of this protocol, in bytes.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = bytearray()

    def feed(self, content: bytes) -> list[bytes]:
        """Return the PDUs that are complete now."""
        self._held += content
        found = []
        while len(self._held) >= _PREFIX.size:
            (length,) = _PREFIX.unpack_from(self._held)
            if not 0 < length <= self._longest:
                raise WireFormatError(
                    f"DCP over TCP: expected a PDU of 1 to {self._longest} bytes, found the length"
                    f" {length}"
                )
            end = _PREFIX.size + length
            if len(self._held) < end:
                break
            found.append(bytes(self._held[_PREFIX.size : end]))
            del self._held[:end]
        return found


def framed(content: bytes) -> bytes:
    """Return a PDU as TCP carries it."""
    return _PREFIX.pack(len(content)) + content
