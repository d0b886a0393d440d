"""Plain values as bytes, little-endian, as engine/src/byte_reader.hpp reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sized


class ByteWriter:
    """Puts values one after the other."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def content(self) -> bytes:
        """Return all bytes so far."""
        return b"".join(self._parts)

    def tag(self, four: str) -> None:
        """Write the four letters that a table begins with."""
        self._parts.append(four.encode("ascii"))

    def u8(self, *values: int) -> None:
        """Write bytes, or flags."""
        self._parts.append(bytes(int(value) for value in values))

    def u32(self, *values: int) -> None:
        """Write whole numbers >= 0 of 32 bits."""
        self._parts.append(struct.pack(f"<{len(values)}I", *values))

    def i32(self, *values: int) -> None:
        """Write whole numbers of 32 bits."""
        self._parts.append(struct.pack(f"<{len(values)}i", *values))

    def u64(self, *values: int) -> None:
        """Write whole numbers >= 0 of 64 bits."""
        self._parts.append(struct.pack(f"<{len(values)}Q", *values))

    def i64(self, *values: int) -> None:
        """Write whole numbers of 64 bits, such as times in nanoseconds."""
        self._parts.append(struct.pack(f"<{len(values)}q", *values))

    def f64(self, *values: float) -> None:
        """Write doubles."""
        self._parts.append(struct.pack(f"<{len(values)}d", *values))

    def text(self, text: str | bytes) -> None:
        """Write the length of a text in bytes, and its UTF-8."""
        data = text.encode() if isinstance(text, str) else text
        self.u32(len(data))
        self._parts.append(data)

    def count(self, rows: Sized) -> None:
        """Write the number of rows that follow."""
        self.u32(len(rows))

    def references(self, values: Iterable[int]) -> None:
        """Write a counted row of value references or sizes."""
        listed = list(values)
        self.u32(len(listed), *listed)

    def slots(self, values: Iterable[int]) -> None:
        """Write a counted row of places in a table."""
        listed = list(values)
        self.u32(len(listed))
        self.i32(*listed)

    def numbers(self, values: Iterable[float]) -> None:
        """Write a counted row of doubles."""
        listed = list(values)
        self.u32(len(listed))
        self.f64(*listed)

    def times(self, values: Iterable[int]) -> None:
        """Write a counted row of times in nanoseconds."""
        listed = list(values)
        self.u32(len(listed))
        self.i64(*listed)

    def texts(self, values: Iterable[str | bytes]) -> None:
        """Write a counted row of texts."""
        listed = list(values)
        self.u32(len(listed))
        for value in listed:
            self.text(value)
