"""Archives unpacked once in a process, systems in other files, and files that are written whole."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from orchestrator.core.diagnostics import SspError
from orchestrator.core.files.archive import digest, extract, open_archive
from orchestrator.core.ssp.archive.sources import Place, file_bytes
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.names import MAIN_SSD, SSD_SUFFIX

#: Folders of the archives that this process has unpacked, by the archive's SHA-256.
_unpacked: dict[str, Path] = {}
_METHODS: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def variants(path: Path) -> list[str]:
    """Return the names of the .ssd files of an .ssp archive or a folder, the main one first."""
    if path.is_dir():
        names = [file.name for file in path.iterdir() if file.is_file()]
    else:
        with open_archive(path, SspError) as archive:
            names = [name for name in archive.namelist() if "/" not in name]
    files = sorted({name for name in names if name.endswith(SSD_SUFFIX)} - {MAIN_SSD})
    return [MAIN_SSD, *files] if MAIN_SSD in names else files


def ssd_name(path: Path, variant: str | None) -> str:
    """Return the name of a variant's .ssd; of the main one if none is wanted."""
    name = MAIN_SSD if variant is None else variant.removesuffix(SSD_SUFFIX) + SSD_SUFFIX
    choices = variants(path)
    if name not in choices:
        raise refusal(
            codes.VARIANT,
            f"has no '{name}'; it has: {', '.join(choices) or 'no .ssd'}",
            file=str(path),
        )
    return name


def ssd_of(path: Path, variant: str | None) -> tuple[Path, str]:
    """Return the file that holds an SSD, and its name in that if it is an archive."""
    if path.is_file() and path.suffix.lower() == ".ssp":
        return path, ssd_name(path, variant)
    if path.is_dir() or (variant is not None and path.is_file()):
        folder = path if path.is_dir() else path.parent
        path = folder / ssd_name(folder, variant)
    return path, ""


def violations(path: Path) -> list[str]:
    """List what an archive has that SSP does not allow in one (SSP 2.0, 3)."""
    with open_archive(path, SspError) as archive:
        entries = archive.infolist()
    problems = []
    odd = [entry.filename for entry in entries if entry.compress_type not in _METHODS]
    if odd:
        problems.append(f"expected entries that are stored or deflated, found '{odd[0]}'")
    if MAIN_SSD not in (entry.filename for entry in entries):
        problems.append(f"expected an entry '{MAIN_SSD}'")
    return problems


def unpacked(path: Path, target: Path | None = None) -> Path:
    """Return the folder that an archive is unpacked to, absolute."""
    if target is not None:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise SspError.in_file(
                path, f"expected a new or empty folder to unpack to, found {target}"
            )
        _extract(path, target)
        return target.resolve()
    content = digest(path)
    target_known = _unpacked.get(content)
    if target_known is not None and target_known.is_dir():
        return target_known
    folder = Path(tempfile.mkdtemp(prefix="softdock-ssp-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _extract(path, folder)
    _unpacked[content] = folder
    return folder


def named_as_entries(text: str, archive: Path) -> str:
    """Name files of unpacked archives as entries of one: each process has other folders."""
    for folder in _unpacked.values():
        file = re.escape(f"{folder}{os.sep}") + r"([^':\n]*)"
        text = re.sub(file, lambda entry: f"{archive}:{entry[1].replace(os.sep, '/')}", text)
    return text


def _extract(path: Path, folder: Path) -> None:
    with open_archive(path, SspError) as archive:
        twice = [name for name, count in Counter(archive.namelist()).items() if count > 1]
    if twice:
        raise refusal(codes.ARCHIVE, f"has '{twice[0]}' more than once", file=str(path))
    extract(path, folder, SspError)


def nested_definition(source: str, location: Place) -> tuple[bytes, Place]:
    """Return the text of another .ssd, and where it stands."""
    path = location.file(source, inside=False)
    root = (location.root or location.folder) if location.packed else None
    inner = Place(location.file_name(source, path), path.parent, packed=location.packed, root=root)
    return file_bytes(path), inner


def nested_package(source: str, location: Place) -> tuple[bytes, Place, Path]:
    """Return the main .ssd of an archive, or the one that the fragment names, with the archive."""
    file, _, variant = source.partition("#")
    path = location.file(file, inside=False)
    name = ssd_name(path, variant or MAIN_SSD)
    folder = unpacked(path)
    inner = Place(f"{location.file_name(file, path)}:{name}", folder, packed=True)
    return file_bytes(folder / name), inner, path


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a draft next to ``path``, which replaces it if nothing fails.

    It has the permissions of the old one. Of a link, the file that it leads to is replaced.
    """
    final = path.resolve()
    draft = final.with_name(f".{final.name}.{os.getpid()}.draft")
    # Root may write anything: so its permissions are checked, too.
    if final.exists() and not (final.stat().st_mode & 0o222 and os.access(final, os.W_OK)):
        raise SspError.in_file(path, "is read-only; make it writable, or write another file")
    try:
        with draft.open("wb") as file:
            if final.exists():
                shutil.copymode(final, draft)
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(final)
    except OSError as reason:
        raise SspError.in_file(
            path, f"cannot be written: {reason.strerror or reason}; the old file is untouched"
        ) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
