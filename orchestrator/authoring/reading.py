"""Systems read from files of any kind."""

from __future__ import annotations

from pathlib import Path

from orchestrator.authoring.toml_read import read_toml
from orchestrator.errors import LoadError
from orchestrator.ssp import read_system as read_ssp_system
from orchestrator.system import System

#: A system file in a folder stands for it, where there is no SystemStructure.ssd.
SYSTEM_FILE = "system.toml"


def read_system(
    path: str | Path, variant: str | None = None, *, unpack_to: Path | None = None
) -> System:
    """Read a system from a .toml, .ssd or .ssp file, or from a folder with one.

    Parameters
    ----------
    path
        File or folder.
    variant
        Of an archive or a folder: name of another .ssd beside the main one.
    unpack_to
        Where an archive is unpacked, a new or empty folder. By default a temporary folder that
        lives as long as the process.

    Raises
    ------
    LoadError
        If there is no such file or variant, or it is damaged or unsafe.
    DescriptionError
        If a .toml file is described wrongly.
    """
    path = Path(path)
    if path.is_dir() and variant is None and not (path / "SystemStructure.ssd").is_file():
        inside = path / SYSTEM_FILE
        if inside.is_file():
            path = inside
    if path.suffix == ".toml":
        if variant is not None:
            raise LoadError(f"{path}: a .toml file has no variants, found '{variant}'")
        return read_toml(path)
    expect_kind(path)
    return read_ssp_system(path, variant, unpack_to=unpack_to)


def expect_kind(path: Path) -> None:
    """Expect a folder, or a file that a system may be in by its name, or raise LoadError."""
    if path.is_file() and path.suffix.lower() not in {".ssd", ".ssp"}:
        raise LoadError(f"{path}: expected a .toml, .ssd or .ssp file, or a folder with one")
