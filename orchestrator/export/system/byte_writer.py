"""Plain values as bytes, little-endian, as engine/src/exported/byte_reader.hpp reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence, Sized
from typing import Any

from orchestrator.engine import ROWS

#: Letters of `struct` for kinds of one value.
_LETTERS = {"u8": "B", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f64": "d"}


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

    def row(self, table: str, values: Sequence[Any]) -> None:
        """Write a row of one of the engine's tables, by its fields."""
        for (_, kind), value in zip(ROWS[table], values, strict=True):
            if kind in _LETTERS:
                self._parts.append(struct.pack(f"<{_LETTERS[kind]}", value))
            elif kind == "text[]":
                self.texts(value)
            else:
                self._listed(kind.removesuffix("[]"), value)

    def rows(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write counted rows of one of the engine's tables."""
        self.count(rows)
        for values in rows:
            self.row(table, values)

    def _listed(self, kind: str, values: Sequence[Any]) -> None:
        """Write a counted row of numbers, or of tuples of them: ``i32``, or ``(i32, i32)``."""
        letters = "".join(_LETTERS[each] for each in kind.strip("()").split(", "))
        self.count(values)
        for value in values:
            self._parts.append(
                struct.pack(f"<{letters}", *(value if len(letters) > 1 else [value]))
            )
