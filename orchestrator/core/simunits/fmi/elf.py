"""Inspect a shared library before it is loaded."""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr, little endian (System V ABI)
_SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr


def is_whole(library: Path) -> bool:
    """Whether a file is a 64-bit little-endian ELF library that holds all it promises.

    The loader maps a library without looking at its size; one that was cut short ends the process
    (SIGBUS) when it is touched.
    """
    size = library.stat().st_size
    with library.open("rb") as file:
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size or head[:6] != b"\x7fELF\x02\x01":
            return False
        fields = _HEADER.unpack(head)
        first, sections, segment_size, count = fields[5], fields[6], fields[9], fields[10]
        section_size, section_count = fields[11], fields[12]
        if segment_size != _SEGMENT.size or first + count * segment_size > size:
            return False
        if sections + section_size * section_count > size:
            return False
        file.seek(first)
        table = file.read(count * segment_size)
    segments = _SEGMENT.iter_unpack(table)
    return all(segment[2] + segment[5] <= size for segment in segments)
