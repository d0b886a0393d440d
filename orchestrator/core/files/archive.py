"""Archives: untrusted ones and XML are read with checks of path escape, size and entities."""

from __future__ import annotations

import errno
import hashlib
import lzma
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path, PurePosixPath

from lxml import etree

from orchestrator.core.diagnostics import LoadError, SoftdockError

#: Limits that no honest FMU or SSP of this field comes near; a zip bomb does.
MOST_BYTES = 4 * 1024**3
MOST_ENTRIES = 100_000
MOST_DEPTH = 64
#: Unpacked over packed, of archives that unpack to more than this: tables of zeros have as much.
MOST_RATIO = 100
FREE_BYTES = 256 * 1024**2
#: Environment variable that allows a number of bytes, whatever the ratio.
ALLOWANCE = "SOFTDOCK_MOST_UNPACKED"
#: A description that is read into memory as a whole.
MOST_XML_BYTES = 256 * 1024**2

#: How files begin that are taken for a zip archive, in small letters, and what they are.
_HEADS = (
    (
        b"version https://git-lfs.github.com/spec/",
        "is a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`",
    ),
    (
        b"/annex/objects/",
        "is a pointer of git-annex, not the file itself: fetch it with `git annex get`",
    ),
    (
        b"pk\x03\x04",
        "is a zip archive whose end is missing or damaged: copy or download it again",
    ),
    (b"<!doctype html", "is a web page: download the file itself"),
    (b"<html", "is a web page: download the file itself"),
    (b"\x1f\x8b", "is compressed by gzip: pack it as a zip archive"),
    (b"bzh", "is compressed by bzip2: pack it as a zip archive"),
    (b"\xfd7zxz", "is compressed by xz: pack it as a zip archive"),
    (b"7z\xbc\xaf", "is a 7-Zip archive: pack it as a zip archive"),
    (b"rar!", "is a RAR archive: pack it as a zip archive"),
)
_LONGEST_HEAD = max(len(head) for head, _ in _HEADS)
_DRIVE = re.compile(r"[A-Za-z]:")
#: A flag of an entry, and the methods by which one may be compressed.
_ENCRYPTED = 1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_OTHER_METHODS = {
    1: "Shrink",
    6: "Implode",
    9: "Deflate64",
    93: "Zstandard",
    95: "XZ",
    98: "PPMd",
    99: "AES",
}

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_LIBRARIES = (".so", ".dll", ".dylib")

#: What zipfile raises on a damaged entry, one of an unknown method, or one behind a password.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    MemoryError,  # LZMA with a dictionary of 4 GiB
)


def open_archive(path: Path, error: type[LoadError]) -> zipfile.ZipFile:
    """Open a zip archive after checking every entry's name and the total size.

    Names are as the zip format has them, with ``/`` and relative to the archive, also where the
    tool that packed it wrote backslashes, or ``./`` before them.
    """
    if not path.is_file():
        problem = "expected a file, found a folder" if path.is_dir() else "no such file"
        raise error.in_file(path, problem)
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGE as reason:
        kind = _kind(path) or f"cannot be read: {reason}"
        raise error.in_file(path, f"expected a zip archive, but it {kind}") from None
    _settle_names(archive)
    try:
        _check_entries(path, archive, error)
    except LoadError:
        archive.close()
        raise
    return archive


def _kind(path: Path) -> str:
    """Say what a file is that is no readable zip archive; empty: nothing is known of it."""
    with suppress(OSError), path.open("rb") as file:
        begin = file.read(_LONGEST_HEAD).lower()
        if not begin:
            return "is empty"
        return next((kind for head, kind in _HEADS if begin.startswith(head)), "")
    return ""


def _settle_names(archive: zipfile.ZipFile) -> None:
    for entry in archive.infolist():
        plain = entry.filename.replace("\\", "/")
        parts = [part for part in plain.split("/") if part not in {"", "."}]
        if parts and not plain.startswith("/"):
            entry.filename = "/".join(parts) + "/" * plain.endswith("/")
    archive.NameToInfo = {entry.filename: entry for entry in archive.infolist()}


def _check_entries(path: Path, archive: zipfile.ZipFile, error: type[LoadError]) -> None:
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise error.in_file(
            path, f"the archive has {len(entries)} files; expected at most {MOST_ENTRIES}"
        )
    size, packed = sum(e.file_size for e in entries), max(path.stat().st_size, 1)
    limit = _most_bytes(packed)
    if size > limit:
        raise error.in_file(
            path,
            f"the archive of {packed} bytes unpacks to {size} bytes; expected at most {limit}: if"
            f" it may be trusted, set the environment variable {ALLOWANCE}={size}",
        )
    for entry in entries:
        name = PurePosixPath(entry.filename)
        if len(name.parts) > MOST_DEPTH:
            raise error.in_file(
                path,
                f"an entry lies {len(name.parts)} folders deep; expected at most {MOST_DEPTH}",
            )
        if not name.parts:
            raise error.in_file(path, "an entry has no name; the file was not unpacked")
        if reason := _unsafe(entry, name):
            raise error.in_file(
                path, f"entry '{entry.filename}' {reason}; the file was not unpacked"
            )
    _check_twice(path, entries, error)


def _unsafe(entry: zipfile.ZipInfo, name: PurePosixPath) -> str:
    """Say why an entry is not unpacked; empty if it may be."""
    if name.is_absolute() or ".." in name.parts or _DRIVE.match(entry.filename):
        return "would be written outside of the archive's folder"
    if (entry.external_attr >> 16) & 0o170000 == 0o120000:
        return "is a link, which is not followed: pack the file that it leads to in its place"
    if ":" in entry.filename:
        return "has a colon (':') in its name, which no file of Windows can have: rename it"
    return ""


def _check_twice(path: Path, entries: list[zipfile.ZipInfo], error: type[LoadError]) -> None:
    """Refuse an archive with two contents of one name: each tool takes another one."""
    by_name: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        first = by_name.setdefault(entry.filename, entry)
        if (first.CRC, first.file_size) != (entry.CRC, entry.file_size):
            raise error.in_file(
                path,
                f"has '{entry.filename}' more than once, with different contents: it is not clear"
                " which one counts; pack it once",
            )


def _most_bytes(packed: int) -> int:
    """Return the largest unpacked size of an archive, from its size in bytes."""
    allowed = os.environ.get(ALLOWANCE, "")
    if allowed.isdecimal():
        return int(allowed)
    return min(MOST_BYTES, max(FREE_BYTES, MOST_RATIO * packed))


def read_entry(path: Path, archive: zipfile.ZipFile, name: str, error: type[LoadError]) -> bytes:
    """Read one entry of an archive."""
    try:
        entry = archive.getinfo(name)
        _expect_readable(path, entry, error)
        if entry.file_size > MOST_XML_BYTES:
            raise error.in_file(path, f"'{name}' is larger than {MOST_XML_BYTES} bytes")
        return archive.read(name)
    except KeyError:
        text = f"the archive has no '{name}'"
        last = name.rpartition("/")[2].lower()
        similar = [n for n in archive.namelist() if n.rpartition("/")[2].lower() == last]
        if similar:
            text += f", but '{similar[0]}': pack that file as '{name}'"
        raise error.in_file(path, text) from None
    except DAMAGE as reason:
        raise error.in_file(path, f"'{name}' {_reason_text(reason)}") from None


def extract(
    path: Path, target: Path, error: type[LoadError], without: tuple[str, ...] = ()
) -> None:
    """Unpack a checked archive into a folder, without what begins so."""
    with open_archive(path, error) as archive:
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as reason:
            raise error.in_file(
                path, f"cannot be unpacked to {target}: {reason.strerror or reason}"
            ) from None
        try:
            entries = [e for e in archive.infolist() if not e.filename.startswith(without)]
            for entry in entries:
                _expect_readable(path, entry, error)
            archive.extractall(target, [entry.filename for entry in entries])
        except DAMAGE as reason:
            raise error.in_file(path, f"the archive {_reason_text(reason, target)}") from None


def _expect_readable(path: Path, entry: zipfile.ZipInfo, error: type[LoadError]) -> None:
    """Expect an entry whose content needs no password and no method that zipfile lacks."""
    name, method = entry.filename, entry.compress_type
    if entry.flag_bits & _ENCRYPTED:
        raise error.in_file(
            path, f"'{name}' is encrypted, and needs a password: pack it without one"
        )
    if method not in _METHODS:
        method_name = _OTHER_METHODS.get(method, "another method")
        raise error.in_file(
            path,
            f"'{name}' is compressed by {method_name} (method {method}), which cannot be read here:"
            " pack it by Deflate (method 8)",
        )


def _reason_text(reason: Exception, target: Path | None = None) -> str:
    """Tell what an archive cannot help, such as a full disk, from its damage."""
    if isinstance(reason, OSError) and reason.errno is not None:
        failure = "cannot be read" if target is None else f"cannot be unpacked to {target}"
        return f"{failure}: {reason.strerror or reason}"
    return f"is damaged: {reason}"


def parse_xml(content: bytes, origin: str, error: type[SoftdockError]) -> etree._Element:
    """Parse XML with entities, DTDs and network off."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as reason:
        raise error.in_file(origin, f"malformed XML: {reason.msg}") from None
    if root.getroottree().docinfo.doctype:  # type: ignore[union-attr] # the stubs lack it
        raise error.in_file(
            origin, "a document type declaration is not accepted (entities are off)"
        )
    return root


def digest(path: Path, method: str = "sha256") -> str:
    """Return the checksum of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, method).hexdigest()


def plain_entry(name: str) -> zipfile.ZipInfo:
    """Return an entry that is not compressed and without the time: equal files are equal."""
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.external_attr = (0o755 if name.endswith(_LIBRARIES) else 0o644) << 16
    return entry


def add_file(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a file without the time, compressed."""
    archive.writestr(plain_entry(name), content, zipfile.ZIP_DEFLATED)


def store_file(archive: zipfile.ZipFile, name: str, file: Path) -> None:
    """Add a file of the disk without the time, not compressed."""
    entry = plain_entry(name)
    entry.file_size = file.stat().st_size
    with file.open("rb") as source, archive.open(entry, "w") as target:
        shutil.copyfileobj(source, target)


def numbered(stem: str, suffix: str = "") -> Iterator[str]:
    """Yield names until one is free: ``"a.fmu"``, ``"a_2.fmu"``, ``"a_3.fmu"``."""
    yield stem + suffix
    yield from (f"{stem}_{number}{suffix}" for number in count(2))


def write_error(error: Exception) -> OSError | None:
    """Return why a file of a draft was not written; ``None``: the error has another cause.

    Of a SoftdockError that is a full disk only: other errors of files can be those of sources.
    """
    if isinstance(error, OSError):
        return error
    cause, full = error.__cause__, {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    return cause if isinstance(cause, OSError) and cause.errno in full else None
