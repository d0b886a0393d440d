"""Reading of a system from an SSD."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.garbage import collection_paused
from orchestrator.core.ssp.archive.sources import Place, file_bytes
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.read.reading import Reading, parsed
from orchestrator.core.ssp.read.system_reader import read_file
from orchestrator.core.system import System


def read_ssd(path: str | Path) -> System:
    """Read a system from an .ssd file.

    Relative sources start from the file's folder. The feed-through and the start values of
    connectors are not part of SSP: they come from the sources, when the system is resolved.

    Raises
    ------
    SspError
        If the file is missing, is not valid SSP or uses something that is not supported; all
        problems are listed together, with file and line.
    """
    path = Path(path)
    return read_document(file_bytes(path), Place(str(path), path.parent))


def read_document(source: bytes | etree._Element, place: Place) -> System:
    """Read a system from an SSD that stands at some place.

    Parameters
    ----------
    source
        Its text, or the root of its tree, which is not changed.
    place
        Where it stands, or would.

    Raises
    ------
    SspError
        All problems together, with file and line.
    """
    findings = Findings(place.label)
    system = read_into(source, place, findings)
    findings.close()
    if system is None:  # there is an error then
        raise SspError.in_file(place.label, "cannot be read")
    return system


@collection_paused()
def read_into(source: bytes | etree._Element, place: Place, findings: Findings) -> System | None:
    """Read a system as far as it goes; what is wrong and what is lost goes to the findings."""
    root: etree._Element | None = None
    try:
        root = parsed(source, place.label) if isinstance(source, bytes) else source
        return read_file(root, place, findings, Reading())
    except SspError as error:
        findings.refused(error, root, codes.UNREADABLE)
    finally:
        findings.settle()
    return None
