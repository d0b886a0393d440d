"""Shared libraries of FMUs as files: whether they are whole, for this machine, and what they need.

Sources: System V ABI (ELF); Microsoft, "PE Format" (libraries of Windows).
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from orchestrator.core.operating_system.platforms import WINDOWS

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr, little endian (System V ABI)
_SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr


def is_whole_elf(library: Path) -> bool:
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
    return all(segment[2] + segment[5] <= size for segment in _SEGMENT.iter_unpack(table))


def wrong_library(library: Path) -> str:
    """Return why this machine cannot load a file; empty if it looks like a library for it."""
    if not WINDOWS.is_here:
        return "" if is_whole_elf(library) else "is damaged: expected a whole 64-bit ELF library"
    if problem := wrong_windows_library(library.read_bytes()):
        return problem
    try:
        needed = needed_libraries(library.read_bytes())
    except ValueError:
        return _DAMAGED
    system = Path(os.environ.get("SYSTEMROOT", "C:/Windows"), "System32")
    # Python has loaded those of its own folder, and a loaded library is found by its name.
    folders = [library.parent, system, Path(sys.base_prefix), *map(Path, os.get_exec_path())]
    absent = [
        name
        for name in needed
        if not name.lower().startswith(_OF_SYSTEM)
        and not any((folder / name).is_file() for folder in folders)
    ]
    if not absent:
        return ""
    advice = "ask whoever made the FMU for them"
    if any(name.lower().startswith(_VISUAL_CPP) for name in absent):
        advice = "install the Microsoft Visual C++ Redistributable for x64"
    return f"needs {', '.join(absent)}, found neither in the FMU nor on this computer; {advice}"


#: Sets of functions of Windows itself, which have no files on all of its versions.
_OF_SYSTEM = ("api-ms-win-", "ext-ms-")
#: Libraries of Microsoft's compiler.
_VISUAL_CPP = ("vcruntime", "msvcp", "vcomp", "concrt", "mfc1")

_DAMAGED = "is damaged: expected a whole library of 64-bit Windows (PE32+)"
_AMD64, _I386, _ARM64 = 0x8664, 0x014C, 0xAA64
_MACHINES = {_I386: "32-bit x86", _ARM64: "64-bit ARM"}


def wrong_windows_library(content: bytes) -> str:
    """Return why content is no whole library for 64-bit Windows; empty if it is one."""
    try:
        headers = _Headers(content)
    except (ValueError, struct.error, IndexError):
        return _DAMAGED
    if headers.machine == _AMD64:
        return ""
    machine = _MACHINES.get(headers.machine, f"processor number {headers.machine:#x}")
    return f"is a library for {machine}; expected one for 64-bit x86"


def needed_libraries(content: bytes) -> tuple[str, ...]:
    """Return the names of the libraries that a Windows library imports, as it spells them.

    Raises
    ------
    ValueError
        If the content is no whole library for Windows.
    """
    try:
        return tuple(_Headers(content).imports())
    except (struct.error, IndexError):
        raise ValueError from None


class _Headers:
    """The headers of a Windows library (PE/COFF, Microsoft's "PE Format")."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        (at,) = struct.unpack_from("<I", data, 0x3C)
        if data[:2] != b"MZ" or data[at : at + 4] != b"PE\0\0":
            raise ValueError
        self.machine, count = struct.unpack_from("<HH", data, at + 4)
        (size,) = struct.unpack_from("<H", data, at + 20)
        optional = at + 24
        (magic,) = struct.unpack_from("<H", data, optional)
        self._directories = optional + (112 if magic == 0x20B else 96)
        self._sections = [
            struct.unpack_from("<IIII", data, optional + size + 40 * i + 8) for i in range(count)
        ]
        if any(at + length > len(data) for _, _, length, at in self._sections):
            raise ValueError

    def imports(self) -> Iterator[str]:
        """Yield the names in the import table."""
        (address,) = struct.unpack_from("<I", self._data, self._directories + 8)
        at = self._offset(address) if address else None
        while at is not None:
            row = struct.unpack_from("<IIIII", self._data, at)
            if not any(row):
                return
            name = self._offset(row[3])
            yield self._data[name : self._data.index(b"\0", name)].decode("latin-1")
            at += 20

    def _offset(self, address: int) -> int:
        """Return where in the file a relative virtual address is."""
        for size, begin, length, at in self._sections:
            if begin <= address < begin + max(size, length):
                return int(at + address - begin)
        raise ValueError
