"""Systems in .ssp archives and in source folders, each with variants beside its main .ssd."""

from __future__ import annotations

import atexit
import filecmp
import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from orchestrator.archive import extract, open_archive
from orchestrator.errors import DescriptionError, FmuError, SspError
from orchestrator.ssp.files import replacing
from orchestrator.ssp.names import MAIN_SSD, SSD_SUFFIX
from orchestrator.ssp.read import file_bytes, read_document, read_ssd
from orchestrator.ssp.sources import Place, fmu_path
from orchestrator.ssp.write import document
from orchestrator.system import Component, SourceKind, System

_SUFFIX = ".ssp"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that zip has
#: Folders of the archives that this process has unpacked, by the archive's SHA-256.
_unpacked: dict[str, Path] = {}


def read_system(
    path: str | Path, variant: str | None = None, *, unpack_to: Path | None = None
) -> System:
    """Read a system from an .ssd file, an .ssp archive, or a folder with SystemStructure.ssd.

    Parameters
    ----------
    path
        File, archive or folder.
    variant
        Name of another .ssd beside the main one, with or without the suffix.
    unpack_to
        Where an archive is unpacked, a new or empty folder. By default a temporary folder that
        lives as long as the process.

    Raises
    ------
    SspError
        If there is no such file or variant, the archive is unsafe, or the SSD is refused (see
        :func:`read_ssd`).
    """
    path = Path(path)
    if path.is_file() and path.suffix.lower() == _SUFFIX:
        name = _ssd_name(path, variant)
        folder = _unpack(path, unpack_to)
        place = Place(f"{path}:{name}", folder, packed=True)
        return read_document(file_bytes(folder / name), place)
    if path.is_dir() or (variant is not None and path.is_file()):
        folder = path if path.is_dir() else path.parent
        return read_ssd(folder / _ssd_name(folder, variant))
    if not path.is_file():
        raise SspError(f"{path}: no such file; expected an .ssd, an .ssp, or a folder of an .ssd")
    return read_ssd(path)


def variants(path: Path) -> list[str]:
    """Return the names of the .ssd files of an .ssp archive or a folder, the main one first."""
    if path.is_dir():
        names = [file.name for file in path.iterdir() if file.is_file()]
    else:
        with open_archive(path, SspError) as archive:
            names = [name for name in archive.namelist() if "/" not in name]
    found = sorted({name for name in names if name.endswith(SSD_SUFFIX)} - {MAIN_SSD})
    return [MAIN_SSD, *found] if MAIN_SSD in names else found


def _ssd_name(path: Path, variant: str | None) -> str:
    name = MAIN_SSD if variant is None else variant.removesuffix(SSD_SUFFIX) + SSD_SUFFIX
    known = variants(path)
    if name not in known:
        raise SspError(f"{path}: has no '{name}'; it has: {', '.join(known) or 'no .ssd'}")
    return name


def _unpack(path: Path, target: Path | None) -> Path:
    if target is not None:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise SspError(f"{path}: expected a new or empty folder to unpack to, found {target}")
        extract(path, target, SspError)
        return target.resolve()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    known = _unpacked.get(digest)
    if known is not None and known.is_dir():
        return known
    folder = Path(tempfile.mkdtemp(prefix="softdock-ssp-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    extract(path, folder, SspError)
    _unpacked[digest] = folder
    return folder


def write_ssp(
    system: System, path: str | Path, variants: Mapping[str, System] = MappingProxyType({})
) -> None:
    """Pack a system, its variants and all their FMUs into an .ssp archive.

    The same systems with the same FMUs give the same bytes: entries are stored in a fixed order
    with a fixed time and without compression (FMUs are compressed themselves).

    Parameters
    ----------
    system
        Becomes SystemStructure.ssd.
    path
        The archive.
    variants
        Other systems by name; each becomes NAME.ssd beside the main one.

    Raises
    ------
    DescriptionError
        If a variant has no usable name, or SSP 1.0 cannot hold a system.
    FmuError
        All FMUs that are missing, together.
    SspError
        If the archive cannot be written; an old one is untouched.
    """
    path = Path(path)
    systems = {MAIN_SSD: system}
    for name, variant in sorted(variants.items()):
        systems[_variant_file(name)] = variant
    fmus = _fmus(list(systems.values()))
    texts = {name: document(one, lambda c: fmus[fmu_path(c)]) for name, one in systems.items()}
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            archive.writestr(_entry(name), text)
        for fmu, name in sorted(fmus.items(), key=lambda item: item[1]):
            if name in archive.NameToInfo:
                continue
            entry = _entry(name)
            entry.file_size = fmu.stat().st_size
            with fmu.open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)


def _variant_file(name: str) -> str:
    plain = name.removesuffix(SSD_SUFFIX)
    if not plain or set(plain) & set("/\\:\0") or f"{plain}{SSD_SUFFIX}" == MAIN_SSD:
        raise DescriptionError(
            f"variant '{name}': expected the name of a file other than {MAIN_SSD}"
        )
    return plain + SSD_SUFFIX


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.create_system = 3  # Unix, wherever it is written
    entry.external_attr = 0o644 << 16
    return entry


def _fmus(systems: list[System]) -> dict[Path, str]:
    """Give every FMU its place under resources/; equal files of equal names share one."""
    places: dict[Path, str] = {}
    taken: dict[str, Path] = {}
    missing = []
    for component in _fmu_components(systems):
        path = fmu_path(component)
        if path in places:
            continue
        if not path.is_file():
            missing.append(f"component '{component.name}': {path}: no such FMU")
            continue
        places[path] = f"resources/{_free_name(path, taken)}"
    if missing:
        raise FmuError("\n".join(missing))
    return places


def _fmu_components(systems: list[System]) -> list[Component]:
    parts = [part for system in systems for part in system.components.values()]
    return [part for part in parts if part.source.kind is SourceKind.FMU]


def _free_name(path: Path, taken: dict[str, Path]) -> str:
    """Find a name that is not taken by another file, on any file system."""
    name, count = path.name, 1
    while name.casefold() in taken:
        if filecmp.cmp(taken[name.casefold()], path, shallow=False):
            return name
        count += 1
        name = f"{path.stem}_{count}{path.suffix}"
    taken[name.casefold()] = path
    return name
