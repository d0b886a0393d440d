"""Packing of systems with their FMUs into an .ssp archive."""

from __future__ import annotations

import filecmp
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from orchestrator.errors import DescriptionError, FmuError
from orchestrator.ssp.files import replacing
from orchestrator.ssp.names import MAIN_SSD, SSD_SUFFIX
from orchestrator.ssp.sources import fmu_path
from orchestrator.ssp.write import document
from orchestrator.system import Component, SourceKind, System

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that zip has


def write_ssp(
    system: System,
    path: str | Path,
    variants: Mapping[str, System] = MappingProxyType({}),
    version: str = "1.0",
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
    version
        Of SSP: ``"1.0"`` or ``"2.0"``.

    Raises
    ------
    DescriptionError
        If a variant has no usable name, or this version of SSP cannot hold a system.
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
    texts = {
        name: document(one, lambda c: fmus[fmu_path(c)], version) for name, one in systems.items()
    }
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


def _fmu_components(systems: Iterable[System]) -> Iterator[Component]:
    for system in systems:
        parts = system.components.values()
        yield from (part for part in parts if part.source.kind is SourceKind.FMU)
        yield from _fmu_components(system.systems.values())


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
