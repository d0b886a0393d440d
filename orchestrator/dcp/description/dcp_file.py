"""Files of descriptions: ``.dcpx``, or a ``.dcp`` archive with one inside (section 3.1.4)."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from orchestrator.core.archive import MOST_XML_BYTES, open_archive, read_entry
from orchestrator.core.diagnostics import LoadError
from orchestrator.dcp.description.dcpx_reader import read_dcpx
from orchestrator.dcp.description.dcpx_writer import write_dcpx
from orchestrator.dcp.description.description import (
    SlaveDescription,
)

ENTRY = "v1.0/dcpSlaveDescription.dcpx"


def read_description(path: str | Path) -> SlaveDescription:
    """Read a ``.dcpx`` file or a ``.dcp`` archive, of whatever origin."""
    file = Path(path)
    if file.suffix == ".dcp":
        with open_archive(file, LoadError) as archive:
            _expect_version(file, archive)
            return read_dcpx(read_entry(file, archive, ENTRY, LoadError), f"{file}/{ENTRY}")
    if file.suffix != ".dcpx":
        raise LoadError.in_file(file, "expected a description, .dcpx or .dcp")
    try:
        if file.stat().st_size > MOST_XML_BYTES:
            raise LoadError.in_file(file, f"expected at most {MOST_XML_BYTES} bytes")
        content = file.read_bytes()
    except OSError as error:
        raise LoadError.in_file(file, f"cannot be read: {error.strerror or error}") from None
    return read_dcpx(content, str(file))


def _expect_version(file: Path, archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    if ENTRY in names:
        return
    versions = sorted({name.partition("/")[0] for name in names if name.startswith("v")})
    found = ", ".join(versions[:5]) or "none"
    raise LoadError.in_file(file, f"expected DCP 1.0 ('{ENTRY}'); folders of versions: {found}")


def archive_of(about: SlaveDescription) -> bytes:
    """Return a ``.dcp`` archive; equal descriptions give equal bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo(ENTRY)  # of 1980: the time of its writing is no part of it
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, write_dcpx(about))
    return target.getvalue()
