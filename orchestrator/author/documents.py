"""Files that hold a system, edited in place: SSDs, archives and system files."""

from __future__ import annotations

from pathlib import Path

from orchestrator.author.ssp_edit.document import Document
from orchestrator.author.toml_document import TomlDocument
from orchestrator.core.ssp.archive.target import system_path


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
    path = system_path(Path(path), variant)
    return TomlDocument(path) if path.suffix == ".toml" else Document.open(path, variant)
