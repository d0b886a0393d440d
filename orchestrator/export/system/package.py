"""The archive of an exported system: description, library, tables, and the FMUs inside."""

from __future__ import annotations

import platform
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.core.archive import add_file, open_archive
from orchestrator.core.diagnostics import CapabilityError, FmuError
from orchestrator.core.recording import whole_file
from orchestrator.core.simunits.fmi.elf import is_whole
from orchestrator.core.simunits.fmi.model_exchange_unit import sundials_folder
from orchestrator.engine import system_library
from orchestrator.export.platforms import Platform
from orchestrator.export.system.engine_library import engine_library
from orchestrator.export.system.inner_fmu import InnerFmu

TABLES = "resources/system.bin"
#: What of an inner FMU is of use when it runs, beside its library.
_KEPT = ("modelDescription.xml", "resources/", "documentation/licenses/")


def expect_library() -> None:
    """Raise CapabilityError where no library for the exported FMU is built, or it is damaged."""
    if platform.system() != "Linux" or platform.machine() not in {"x86_64", "AMD64"}:
        raise CapabilityError(
            f"systems are exported on 64-bit Linux on x86; this is {platform.system()} on"
            f" {platform.machine()}"
        )
    library = system_library()
    if not (library.is_file() and is_whole(library)):
        raise CapabilityError(
            f"'{library}', the library of exported systems, is missing or damaged: install Softdock"
            " again"
        )


def write_package(
    path: Path,
    version: int,
    identifier: str,
    content: Mapping[str, bytes],
    fmus: Sequence[InnerFmu],
    platforms: Sequence[Platform],
) -> None:
    """Write the archive; an older one stays if anything fails."""
    with whole_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, data in content.items():
            add_file(archive, name, data)
        for platform in platforms:
            library = f"{platform.folder(f'{version}.0')}/{identifier}{platform.suffix}"
            add_file(archive, library, engine_library(platform).read_bytes())
        for folder, inner in {inner.folder: inner for inner in fmus}.items():
            for name, data in _parts(inner, platforms):
                add_file(archive, f"resources/{folder}/{name}", data)
        if any(inner.component.options.solver == "cvode" for inner in fmus):
            for file in sorted(sundials_folder().iterdir()):
                add_file(archive, f"resources/sundials/{file.name}", file.read_bytes())


def _parts(inner: InnerFmu, platforms: Sequence[Platform]) -> Iterator[tuple[str, bytes]]:
    """Files of an inner FMU that it needs to run, with those beside its libraries."""
    beside = tuple(f"{each.folder(f'{inner.fmu.version}.0')}/" for each in platforms)
    with open_archive(inner.path, FmuError) as archive:
        for name in sorted(archive.namelist()):
            wanted = name == _KEPT[0] or name.startswith((*beside, *_KEPT[1:]))
            if wanted and not name.endswith("/"):
                yield name, archive.read(name)
