"""Files that hold a system, edited in place: SSDs, archives and system files."""

from __future__ import annotations

from pathlib import Path

from orchestrator.authoring.reading import SYSTEM_FILE, expect_kind
from orchestrator.authoring.toml_document import TomlDocument
from orchestrator.errors import LoadError
from orchestrator.ssp import Document


def open_document(path: str | Path, variant: str | None = None) -> Document | TomlDocument:
    """Open a .ssd, .ssp or .toml file, or a folder with one, to be edited in place.

    Parameters
    ----------
    path
        File or folder.
    variant
        Of an archive or a folder: name of another .ssd beside the main one.

    Raises
    ------
    LoadError
        If there is no such file or variant, or it is refused.
    DescriptionError
        If a .toml file is described wrongly.
    """
    path = Path(path)
    if path.is_dir() and variant is None and not (path / "SystemStructure.ssd").is_file():
        inside = path / SYSTEM_FILE
        path = inside if inside.is_file() else path
    if path.suffix != ".toml":
        expect_kind(path)
        return Document.open(path, variant)
    if variant is not None:
        raise LoadError(f"{path}: a .toml file has no variants, found '{variant}'")
    return TomlDocument(path)
