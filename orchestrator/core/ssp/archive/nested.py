"""Systems in other files: .ssd beside the one that is read, and .ssp archives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.core.ssp.archive.sources import Place, file_bytes
from orchestrator.core.ssp.archive.unpacking import ssd_name, unpacked
from orchestrator.core.ssp.common.names import MAIN_SSD
from orchestrator.core.system import System


@dataclass(frozen=True, slots=True)
class Opened:
    """A system that a component stands for, and the archive that it is in."""

    system: System
    container: Path | None


@dataclass(frozen=True, slots=True)
class Document:
    """The text of another SSD, where it stands, and the archive that it is in."""

    content: bytes
    place: Place
    container: Path | None


def opened_definition(source: str, place: Place) -> Document:
    """Open another .ssd."""
    path = place.file(source, inside=False)
    label = place.named(source, path)
    root = (place.root or place.folder) if place.packed else None
    inner = Place(label, path.parent, packed=place.packed, root=root)
    return Document(file_bytes(path), inner, None)


def opened_package(source: str, place: Place) -> Document:
    """Open an .ssp archive, at its main .ssd or the one that the fragment names."""
    file, _, variant = source.partition("#")
    path = place.file(file, inside=False)
    name = ssd_name(path, variant or MAIN_SSD)
    folder = unpacked(path)
    inner = Place(f"{place.named(file, path)}:{name}", folder, packed=True)
    return Document(file_bytes(folder / name), inner, path)
