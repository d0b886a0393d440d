"""The emulated object dictionary: what is in it, and why an access is refused."""

from __future__ import annotations

from dataclasses import dataclass

NO_OBJECT, NO_SUB, LENGTH, READ_ONLY = 0x06020000, 0x06090011, 0x06070010, 0x06010002
NOT_MAPPABLE, PDO_TOO_LONG, WRONG_STATE, OUT_OF_RANGE = (
    0x06040041,
    0x06040042,
    0x08000022,
    0x06090030,
)
UNKNOWN_COMMAND = 0x05040001
WRONG_TOGGLE = 0x05030000
#: What it is called, object 0x1008: text, which is read in segments.
_NAME = b"Emulated drive of CiA 402"
#: Cyclic synchronous position, velocity, torque.
_MODES = (8, 9, 10)
_OFF = 1 << 31


class AbortError(Exception):
    """An access is refused with an abort code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"{code:#010x}")
        self.code = code


@dataclass(slots=True)
class Entry:
    """One object: bytes, whether it has a sign, may be written, may be mapped; its value."""

    size: int
    signed: bool = False
    writable: bool = True
    mappable: bool = False
    value: int = 0


def _entries(node: int) -> dict[tuple[int, int], Entry]:
    fixed = {"writable": False}
    entries = {
        (0x1000, 0): Entry(4, value=0x0002_0192, **fixed),
        (0x1001, 0): Entry(1, **fixed),
        (0x1006, 0): Entry(4),
        (0x1016, 0): Entry(1, value=1, **fixed),
        (0x1016, 1): Entry(4),
        (0x1017, 0): Entry(2),
        (0x1018, 0): Entry(1, value=1, **fixed),
        (0x1018, 1): Entry(4, value=0x0000_05DC, **fixed),
        (0x603F, 0): Entry(2, writable=False, mappable=True),
        (0x6007, 0): Entry(2, signed=True, value=1),
        (0x6040, 0): Entry(2, mappable=True),
        (0x6041, 0): Entry(2, writable=False, mappable=True),
        (0x605A, 0): Entry(2, signed=True, value=2),
        (0x6060, 0): Entry(1, signed=True, mappable=True),
        (0x6061, 0): Entry(1, signed=True, writable=False, mappable=True),
        (0x6062, 0): Entry(4, signed=True, writable=False, mappable=True),
        (0x6064, 0): Entry(4, signed=True, writable=False, mappable=True),
        (0x6065, 0): Entry(4, value=0xFFFF_FFFF),
        (0x6066, 0): Entry(2, value=10),
        (0x606B, 0): Entry(4, signed=True, writable=False, mappable=True),
        (0x606C, 0): Entry(4, signed=True, writable=False, mappable=True),
        (0x6071, 0): Entry(2, signed=True, mappable=True),
        (0x6072, 0): Entry(2, value=3000),
        (0x6074, 0): Entry(2, signed=True, writable=False, mappable=True),
        (0x6077, 0): Entry(2, signed=True, writable=False, mappable=True),
        (0x607A, 0): Entry(4, signed=True, mappable=True),
        (0x6085, 0): Entry(4, value=10_000_000),
        (0x60C2, 1): Entry(1, value=1),
        (0x60C2, 2): Entry(1, signed=True, value=(-3) & 0xFF),
        (0x60C5, 0): Entry(4, value=0xFFFF_FFFF),
        (0x60F4, 0): Entry(4, signed=True, writable=False, mappable=True),
        (0x60FF, 0): Entry(4, signed=True, mappable=True),
        (0x6502, 0): Entry(4, value=0x380, **fixed),
    }
    for i in range(4):
        for first, cob in ((0x1400, 0x200), (0x1800, 0x180)):
            entries[first + i, 0] = Entry(1, value=2, **fixed)
            entries[first + i, 1] = Entry(4, value=_OFF | cob + 0x100 * i + node)
            entries[first + i, 2] = Entry(1, value=0xFF)
            entries[first + 0x200 + i, 0] = Entry(1)
            entries |= {(first + 0x200 + i, sub): Entry(4) for sub in range(1, 9)}
    return entries


class Dictionary:
    """The objects of one drive; values as they are read on the wire, without sign."""

    def __init__(self, node: int) -> None:
        self._entries = _entries(node)
        self._rest, self._toggle = b"", 0

    def __getitem__(self, key: tuple[int, int]) -> int:
        entry = self._entries[key]
        top = 1 << (8 * entry.size)
        return entry.value - top if entry.signed and entry.value >= top // 2 else entry.value

    def __setitem__(self, key: tuple[int, int], value: int) -> None:
        entry = self._entries[key]
        entry.value = value & ((1 << (8 * entry.size)) - 1)

    def answer(self, request: bytes) -> bytes:
        """Answer an SDO of 8 bytes: in one frame, the name in segments, or with an abort."""
        index, sub, multiplexer = request[1] | request[2] << 8, request[3], request[1:4]
        try:
            if request[0] == 0x40 and (index, sub) == (0x1008, 0):
                self._rest, self._toggle = _NAME, 0
                return b"\x41" + multiplexer + len(_NAME).to_bytes(4, "little")
            if request[0] & 0xEF == 0x60:
                return self._segment(request[0] >> 4 & 1)
            if request[0] == 0x40:
                content = self.read(index, sub)
                return (
                    bytes((0x43 | (4 - len(content)) << 2,)) + multiplexer + content.ljust(4, b"\0")
                )
            if request[0] & 0xE3 != 0x23:
                raise AbortError(UNKNOWN_COMMAND)
            self.write(index, sub, request[4 : 8 - (request[0] >> 2 & 3)])
        except AbortError as error:
            return b"\x80" + multiplexer + error.code.to_bytes(4, "little")
        return b"\x60" + multiplexer + bytes(4)

    def _segment(self, toggle: int) -> bytes:
        if toggle != self._toggle or not self._rest:
            raise AbortError(WRONG_TOGGLE)
        part, self._rest, self._toggle = self._rest[:7], self._rest[7:], 1 - toggle
        first = toggle << 4 | (7 - len(part)) << 1 | (not self._rest)
        return bytes((first,)) + part.ljust(7, b"\0")

    def read(self, index: int, sub: int) -> bytes:
        """Return the bytes of an object."""
        entry = self._find(index, sub)
        return entry.value.to_bytes(entry.size, "little")

    def write(self, index: int, sub: int, data: bytes) -> None:
        """Set an object, as an SDO does."""
        entry = self._find(index, sub)
        if not entry.writable:
            raise AbortError(READ_ONLY)
        if len(data) != entry.size:
            raise AbortError(LENGTH)
        value = int.from_bytes(data, "little")
        self._check(index, sub, value)
        entry.value = value

    def mapped(self, first: int, number: int) -> list[tuple[int, int, int]] | None:
        """Return index, sub-index and bytes of what a PDO has; ``None`` if it is off."""
        if self[first + number, 1] & _OFF:
            return None
        mapping = first + 0x200 + number
        return [
            (entry >> 16, entry >> 8 & 0xFF, (entry & 0xFF) // 8)
            for entry in (self[mapping, sub] for sub in range(1, self[mapping, 0] + 1))
        ]

    def _find(self, index: int, sub: int) -> Entry:
        entry = self._entries.get((index, sub))
        if entry is None:
            raise AbortError(NO_SUB if (index, 0) in self._entries else NO_OBJECT)
        return entry

    def _check(self, index: int, sub: int, value: int) -> None:
        if index == 0x6060 and value not in _MODES:
            raise AbortError(OUT_OF_RANGE)
        if index & 0xFFFC not in {0x1600, 0x1A00}:
            return
        first = index - 0x200
        if not self[first, 1] & _OFF or (sub and self[index, 0]):
            raise AbortError(WRONG_STATE)
        if sub:
            mapped = self._entries.get((value >> 16, value >> 8 & 0xFF))
            if mapped is None or not mapped.mappable or mapped.size * 8 != value & 0xFF:
                raise AbortError(NOT_MAPPABLE)
        elif sum(self[index, i] & 0xFF for i in range(1, value + 1)) > 64:
            raise AbortError(PDO_TOO_LONG)
