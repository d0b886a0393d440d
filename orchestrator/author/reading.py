"""Systems read from files of any kind."""

from __future__ import annotations

from pathlib import Path

from orchestrator.core.ssp import read_system as read_ssp_system
from orchestrator.core.ssp.archive.target import system_path
from orchestrator.core.system import System


def read_system(
    path: str | Path, variant: str | None = None, *, unpack_to: str | Path | None = None
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
    path = system_path(Path(path), variant)
    if path.suffix == ".toml":
        from orchestrator.author.toml_read import read_toml

        return read_toml(path)
    return read_ssp_system(path, variant, unpack_to=unpack_to)
