"""The frames of CANopen that drives are led by: NMT, SYNC, heartbeat, emergency, SDO.

References
----------
CiA 301, CANopen application layer and communication profile: predefined connection set (7.3.3),
SDO protocols (7.2.4.3), emergency (7.2.7), heartbeat (7.2.8.3). Everything is little endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from orchestrator.rig.devices import WireFormatError

#: Of the NMT commands.
START, STOP, PRE_OPERATIONAL, RESET_NODE = 0x01, 0x02, 0x80, 0x81
#: Of the heartbeat.
BOOT_UP, STOPPED, OPERATIONAL = 0x00, 0x04, 0x05
_NMT_STATES = frozenset((BOOT_UP, STOPPED, OPERATIONAL, 0x7F))
_NODES = range(1, 128)
_EMERGENCY, _SDO_ANSWER, _SDO_REQUEST, _HEARTBEAT = 0x080, 0x580, 0x600, 0x700
_SDO = struct.Struct("<BHB4s")
_EMCY = struct.Struct("<HB5s")
#: First byte of an expedited download, by the number of bytes; of an upload's answer, to it.
_WRITES = {1: 0x2F, 2: 0x2B, 3: 0x27, 4: 0x23}
_READ_ANY = 0x42  # which does not say how many of its 4 bytes count
_READS = {0x4F: 1, 0x4B: 2, 0x47: 3, 0x43: 4, _READ_ANY: 4}
_READ, _WRITTEN, _ABORT = 0x40, 0x60, 0x80
#: Of transfers in segments: announcements of a size by the node (of none: 0x40), and by the master;
#: the master asks for a segment; the node has taken one.
_ANNOUNCED, _ANNOUNCED_ANY, _ANNOUNCE, _ASK_SEGMENT, _TAKEN = 0x41, 0x40, 0x21, 0x60, 0x20
_SEGMENT_BYTES = 7


@dataclass(frozen=True, slots=True)
class CanFrame:
    """A data frame with an identifier of 11 bits and at most 8 bytes."""

    identifier: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A node says that it lives, and in which NMT state."""

    node: int
    state: int


@dataclass(frozen=True, slots=True)
class Emergency:
    """A node says that it is in error; code 0: no longer.

    Parameters
    ----------
    node
        Of the drive.
    code
        As CiA 301 and CiA 402 list them, such as 0x8611 for a following error.
    register
        Error register 0x1001.
    detail
        Five bytes of the manufacturer.
    """

    node: int
    code: int
    register: int
    detail: bytes


@dataclass(frozen=True, slots=True)
class SdoAnswer:
    """The answer of a node to an access to one of its objects.

    Parameters
    ----------
    node, index, sub
        Whose object, and which.
    data
        What was read; empty if something was written, or refused.
    abort
        Why it was refused; 0: it was not.
    has_size
        Whether the node says how many bytes it has read; if not, there are 4, and the object has
        the first of them.
    """

    node: int
    index: int
    sub: int
    data: bytes = b""
    abort: int = 0
    has_size: bool = True


@dataclass(frozen=True, slots=True)
class SdoAnnouncement:
    """A node will send an object in segments.

    Parameters
    ----------
    node, index, sub
        Whose object, and which.
    size
        Its bytes; ``None``: it does not say.
    """

    node: int
    index: int
    sub: int
    size: int | None


@dataclass(frozen=True, slots=True)
class SdoSegment:
    """Up to 7 bytes of an object that is read; ``toggle`` is 0 and 1 in turn."""

    node: int
    toggle: int
    data: bytes
    is_last: bool


@dataclass(frozen=True, slots=True)
class SdoTaken:
    """A node has taken a segment of an object that is written."""

    node: int
    toggle: int


SdoMessage = SdoAnswer | SdoAnnouncement | SdoSegment | SdoTaken
Message = Heartbeat | Emergency | SdoMessage
SYNC = CanFrame(0x080)


def nmt(command: int, node: int) -> CanFrame:
    """Tell a node, or with 0 all, which NMT state it shall take."""
    return CanFrame(0x000, bytes((command, node)))


def heartbeat(node: int) -> CanFrame:
    """Say that the master lives."""
    return CanFrame(_HEARTBEAT + node, bytes((OPERATIONAL,)))


def boot_up(node: int) -> CanFrame:
    """Say, as a node does once after power-on or a reset, that it begins anew."""
    return CanFrame(_HEARTBEAT + node, bytes((BOOT_UP,)))


def read_object(node: int, index: int, sub: int) -> CanFrame:
    """Ask a node for an object."""
    return CanFrame(_SDO_REQUEST + node, _SDO.pack(_READ, index, sub, b""))


def write_object(node: int, index: int, sub: int, data: bytes) -> CanFrame:
    """Write an object of 1 to 4 bytes.

    Raises
    ------
    WireFormatError
        If there are more bytes, or none.
    """
    if len(data) not in _WRITES:
        raise WireFormatError(f"SDO: expected 1 to 4 bytes to write, found {len(data)}")
    return CanFrame(_SDO_REQUEST + node, _SDO.pack(_WRITES[len(data)], index, sub, data))


def announce_object(node: int, index: int, sub: int, size: int) -> CanFrame:
    """Announce so many bytes of an object, which follow in segments."""
    return CanFrame(
        _SDO_REQUEST + node, _SDO.pack(_ANNOUNCE, index, sub, size.to_bytes(4, "little"))
    )


def ask_segment(node: int, toggle: int) -> CanFrame:
    """Ask for the next segment of what is read."""
    return CanFrame(_SDO_REQUEST + node, bytes((_ASK_SEGMENT | toggle << 4, *bytes(7))))


def write_segment(node: int, toggle: int, data: bytes, *, is_last: bool) -> CanFrame:
    """Write up to 7 bytes of what was announced."""
    first = toggle << 4 | (_SEGMENT_BYTES - len(data)) << 1 | is_last
    return CanFrame(_SDO_REQUEST + node, bytes((first,)) + data.ljust(_SEGMENT_BYTES, b"\0"))


def abort_access(node: int, index: int, sub: int, code: int) -> CanFrame:
    """Tell a node that an access to an object is given up, and why."""
    return CanFrame(_SDO_REQUEST + node, _SDO.pack(_ABORT, index, sub, code.to_bytes(4, "little")))


def decode(frame: CanFrame) -> Message | None:
    """Read a frame; ``None`` if it is none of these, such as a PDO or what a master sends.

    Raises
    ------
    WireFormatError
        If its identifier says what it is and its content is none of that.
    """
    kind, node = frame.identifier & 0x780, frame.identifier & 0x07F
    if node not in _NODES:
        return None
    if kind == _HEARTBEAT:
        return _heartbeat(node, frame.data)
    if kind == _EMERGENCY:
        return _emergency(node, frame.data)
    if kind == _SDO_ANSWER:
        return _sdo_answer(node, frame.data)
    return None


def _heartbeat(node: int, data: bytes) -> Heartbeat:
    if len(data) != 1 or data[0] not in _NMT_STATES:
        raise WireFormatError(f"heartbeat of node {node}: expected an NMT state, found {data!r}")
    return Heartbeat(node, data[0])


def _emergency(node: int, data: bytes) -> Emergency:
    if len(data) != _EMCY.size:
        raise WireFormatError(f"emergency of node {node}: expected 8 bytes, found {data!r}")
    return Emergency(node, *_EMCY.unpack(data))


def _sdo_answer(node: int, data: bytes) -> SdoMessage:
    if len(data) != _SDO.size:
        raise WireFormatError(f"SDO of node {node}: expected 8 bytes, found {data!r}")
    command, index, sub, content = _SDO.unpack(data)
    if command == _WRITTEN:
        return SdoAnswer(node, index, sub)
    if command == _ABORT and any(content):
        return SdoAnswer(node, index, sub, abort=int.from_bytes(content, "little"))
    if command in _READS:
        value = content[: _READS[command]]
        return SdoAnswer(node, index, sub, value, has_size=command != _READ_ANY)
    if command in {_ANNOUNCED, _ANNOUNCED_ANY}:
        size = int.from_bytes(content, "little") if command == _ANNOUNCED else None
        return SdoAnnouncement(node, index, sub, size)
    toggle = command >> 4 & 1
    if command & ~0x10 == _TAKEN:
        return SdoTaken(node, toggle)
    if command < _TAKEN:
        used_bytes = _SEGMENT_BYTES - (command >> 1 & 7)
        return SdoSegment(node, toggle, data[1 : 1 + used_bytes], bool(command & 1))
    raise WireFormatError(
        f"SDO of node {node}: expected an answer to an access, found {data.hex(' ')}"
    )
