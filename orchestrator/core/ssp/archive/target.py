"""What a path leads to that a user gives: a file, or a folder that stands for one in it."""

from __future__ import annotations

from pathlib import Path

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.ssp.common.names import MAIN_SSD

EXPERIMENT_FILE = "experiment.toml"
SYSTEM_FILE = "system.toml"
#: What a folder stands for; the first that is there.
_STANDS_FOR = (EXPERIMENT_FILE, MAIN_SSD, SYSTEM_FILE)


def main_file(target: Path) -> Path:
    """Return the file of a target: itself, or that of a folder.

    A folder stands for the ``experiment.toml`` in it, else for its ``SystemStructure.ssd``, else
    for its ``system.toml``.
    """
    if target.is_dir():
        found = next((target / name for name in _STANDS_FOR if (target / name).is_file()), None)
        if found is None:
            *others, last = _STANDS_FOR
            raise LoadError.in_file(target, f"expected {', '.join(others)} or {last} in it")
        return found
    if not target.is_file():
        raise LoadError.in_file(target, "no such file or folder")
    return target


def system_path(path: Path, variant: str | None) -> Path:
    """Return the .toml, .ssd or .ssp file of a path, or a folder that has an .ssd.

    A folder stands for its ``SystemStructure.ssd`` or another variant, else for its
    ``system.toml``.
    """
    if path.is_dir() and variant is None and not (path / MAIN_SSD).is_file():
        inside = path / SYSTEM_FILE
        path = inside if inside.is_file() else path
    if path.suffix == ".toml":
        if variant is not None:
            raise LoadError.in_file(path, f"a .toml file has no variants, found '{variant}'")
    elif path.is_file() and path.suffix.lower() not in {".ssd", ".ssp"}:
        raise LoadError.in_file(path, "expected a .toml, .ssd or .ssp file, or a folder with one")
    return path
