"""Systems in .ssp archives and in source folders, each with variants next to its main .ssd."""

from __future__ import annotations

from pathlib import Path

from orchestrator.core.diagnostics import Diagnostic, SspError
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.diagnostics.reading import reading, reads
from orchestrator.core.ssp.archive.sources import Place, file_bytes
from orchestrator.core.ssp.archive.unpacking import ssd_of, unpacked, violations
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import MAIN_SSD
from orchestrator.core.ssp.read.ssd import read_document, read_into
from orchestrator.core.system import System


@reads("the system cannot be read", SspError)
def read_system(
    path: str | Path, variant: str | None = None, *, unpack_to: str | Path | None = None
) -> System:
    """Read a system from an .ssd file, an .ssp archive, or a folder with SystemStructure.ssd."""
    into = None if unpack_to is None else Path(unpack_to)
    file, location, findings = _opened(Path(path), variant, into)
    return read_document(file_bytes(file), location, findings)


def diagnose(
    path: str | Path, variant: str | None = None
) -> tuple[System | None, list[Diagnostic]]:
    """Read a system and return all findings, without raising.

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
        with reading(path, "the system cannot be read", SspError):
            file, location, findings = _opened(Path(path), variant, None)
            system = read_into(file_bytes(file), location, findings)
    except SspError as error:
        findings.refused(error, None, _unreadable(path))
        system = None
    except OSError as error:
        findings.error(_unreadable(path), None, str(error))
        system = None
    return (None if findings.has_errors else system), findings.diagnostics


def _unreadable(path: str | Path) -> Code:
    return codes.ARCHIVE if Path(path).suffix.lower() == ".ssp" else codes.UNREADABLE


def _opened(
    path: Path, variant: str | None, unpack_to: Path | None
) -> tuple[Path, Place, Findings]:
    """Find the .ssd, and say what is wrong with the archive that it is in."""
    path, name = ssd_of(path, variant)
    if name:
        label = f"{path}:{name}"
        findings = Findings(label)
        for text in violations(path):
            findings.for_file(str(path)).warning(codes.FOREIGN_ZIP, None, text, "SSP 2.0, 3")
        folder = unpacked(path, unpack_to)
        return folder / name, Place(label, folder, packed=True), findings
    if not path.is_file():
        raise refusal(
            codes.UNREADABLE,
            f"no such file; expected an .ssd, an .ssp, or a folder with {MAIN_SSD}",
            file=str(path),
        )
    return path, Place(str(path), path.parent), Findings(str(path))
