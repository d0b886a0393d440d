"""Systems in .ssp archives and in source folders, each with variants beside its main .ssd."""

from __future__ import annotations

from pathlib import Path

from orchestrator.core.diagnostics import Diagnostic, SspError
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.ssp.archive.sources import Place, file_bytes
from orchestrator.core.ssp.archive.unpacking import ssd_name, unpacked, violations
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import MAIN_SSD
from orchestrator.core.ssp.read.ssd import read_into
from orchestrator.core.system import System

_SUFFIX = ".ssp"


def read_system(
    path: str | Path, variant: str | None = None, *, unpack_to: str | Path | None = None
) -> System:
    """Read a system from an .ssd file, an .ssp archive, or a folder with SystemStructure.ssd."""
    into = None if unpack_to is None else Path(unpack_to)
    file, place, findings = _opened(Path(path), variant, into)
    system = read_into(file_bytes(file), place, findings)
    findings.close()
    if system is None:  # there is an error then
        raise SspError.in_file(path, "cannot be read")
    return system


def diagnose(
    path: str | Path, variant: str | None = None
) -> tuple[System | None, list[Diagnostic]]:
    """Read a system and tell everything that is found, without raising.

    Parameters
    ----------
    path, variant
        As of :func:`read_system`.

    Returns
    -------
    tuple
        The system, ``None`` if there are errors; and what is found, codes ``SSP001`` to
        ``SSP399``.
    """
    findings = Findings(str(path))
    try:
        file, place, findings = _opened(Path(path), variant, None)
        system = read_into(file_bytes(file), place, findings)
    except SspError as error:
        findings.refused(error, None, _unreadable(path))
        system = None
    except OSError as error:
        findings.error(_unreadable(path), None, str(error))
        system = None
    return (None if findings.has_errors else system), findings.diagnostics


def _unreadable(path: str | Path) -> Code:
    return codes.ARCHIVE if Path(path).suffix.lower() == _SUFFIX else codes.UNREADABLE


def _opened(
    path: Path, variant: str | None, unpack_to: Path | None
) -> tuple[Path, Place, Findings]:
    """Find the .ssd, and say what is wrong with the archive that it is in."""
    if path.is_file() and path.suffix.lower() == _SUFFIX:
        wrong = violations(path)
        name = ssd_name(path, variant)
        folder = unpacked(path, unpack_to)
        label = f"{path}:{name}"
        findings = Findings(label)
        for text in wrong:
            findings.beside(str(path)).warning(codes.FOREIGN_ZIP, None, text, "SSP 2.0, 3")
        return folder / name, Place(label, folder, packed=True), findings
    if path.is_dir() or (variant is not None and path.is_file()):
        folder = path if path.is_dir() else path.parent
        path = folder / ssd_name(folder, variant)
    if not path.is_file():
        raise refusal(
            codes.UNREADABLE,
            f"no such file; expected an .ssd, an .ssp, or a folder with {MAIN_SSD}",
            file=str(path),
        )
    return path, Place(str(path), path.parent), Findings(str(path))
