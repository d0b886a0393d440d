"""SSP Traceability: what an archive says of how its system was assured, as STMD and SRMD.

References
----------
Modelica Association: SSP Traceability Specification 1.0, layered standard of SSP: where both files
stand in an archive (packaging), and their elements.
"""

from __future__ import annotations

import hashlib
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path

from lxml import etree

from orchestrator.core.archive import open_archive
from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp.common.files import replacing
from orchestrator.core.ssp.common.names import MAIN_SSD

_BASE = "http://ssp-standard.org/SSPTraceability1/"
_STC, _STMD, _SRMD = (
    f"{_BASE}{name}"
    for name in ("SSPTraceabilityCommon", "SimulationTaskMetaData", "SimulationResourceMetaData")
)
#: Where both stand in an archive, as the standard says, and beside the first what it leads to.
STMD_ENTRY = "extra/org.ssp-standard.ssp-traceability.stmd/SimulationTask.stmd"
SRMD_ENTRY = "extra/org.ssp-standard.ssp-traceability.srmd/resourceMetaData.srmd"
REPORT_ENTRY = "extra/org.softdock.certificate/certificate.json"
_VERSION = "1.0.0"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that zip has


def write_traced(
    archive: Path, target: Path, report: bytes, facts: Mapping[str, str], kind: str
) -> None:
    """Write a copy of an .ssp archive with a report of how its system was assured.

    Parameters
    ----------
    archive, target
        The archive, which stays as it is, and the copy; equal input gives equal bytes.
    report
        JSON, stored as it is.
    facts
        Its main figures by keyword, for whoever reads the metadata alone.
    kind
        Name of the classification that they are in, in reverse domain order.

    Raises
    ------
    SspError
        If the archive cannot be read, or the copy cannot be written.
    """
    with open_archive(archive, SspError) as source:
        if MAIN_SSD not in source.namelist():
            raise SspError.in_file(archive, f"expected an archive with {MAIN_SSD}")
        system = source.read(MAIN_SSD)
        added = {
            REPORT_ENTRY: report,
            SRMD_ENTRY: srmd(archive.stem, system, facts, kind),
            STMD_ENTRY: stmd(archive.stem, system, report),
        }
        with replacing(target) as draft, zipfile.ZipFile(draft, "w") as copy:
            for entry in source.infolist():
                if entry.filename not in added:
                    copy.writestr(entry, source.read(entry))
            for name, data in added.items():
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.create_system = 3  # Unix, wherever it is written
                entry.external_attr = 0o644 << 16
                copy.writestr(entry, data)


def srmd(name: str, system: bytes, facts: Mapping[str, str], kind: str) -> bytes:
    """Return the metadata of an archive as a whole: the figures by keyword."""
    root = etree.Element(
        f"{{{_SRMD}}}SimulationResourceMetaData",
        {
            "version": _VERSION,
            "name": name,
            "data": f"../../{MAIN_SSD}",
            "checksum": hashlib.sha3_256(system).hexdigest(),
            "checksumType": "SHA3-256",
            "generationTool": "Softdock",
        },
        nsmap={"srmd": _SRMD, "stc": _STC},
    )
    listed = etree.SubElement(root, f"{{{_STC}}}Classification", {"type": kind})
    for keyword, text in facts.items():
        entry = etree.SubElement(listed, f"{{{_STC}}}ClassificationEntry", {"keyword": keyword})
        entry.text = text
    return _bytes(root)


def stmd(name: str, system: bytes, report: bytes) -> bytes:
    """Return the simulation task: its quality was assured, of which system and by which report."""
    guid = uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(system + report).hexdigest())
    root = etree.Element(
        f"{{{_STMD}}}SimulationTaskMetaData",
        {
            "version": _VERSION,
            "name": name,
            "GUID": str(guid),
            "generationTool": "Softdock",
        },
        nsmap={"stmd": _STMD, "stc": _STC},
    )
    phase = etree.SubElement(root, f"{{{_STMD}}}ImplementationPhase")
    step = etree.SubElement(phase, f"{{{_STMD}}}AssureSimulationSetupQuality")
    taken = etree.SubElement(step, f"{{{_STC}}}Input")
    _resource(taken, "system", "application/x-ssp-definition", f"../../{MAIN_SSD}")
    given = etree.SubElement(step, f"{{{_STC}}}Output")
    told = _resource(given, "report", "application/json", f"../../{REPORT_ENTRY}")
    source = {"source": f"../../{SRMD_ENTRY}", "type": "application/x-srmd-meta-data"}
    etree.SubElement(told, f"{{{_STC}}}MetaData", {"kind": "quality", **source})
    return _bytes(root)


def _resource(parent: etree._Element, kind: str, mime: str, source: str) -> etree._Element:
    attributes = {"kind": kind, "type": mime, "source": source}
    return etree.SubElement(parent, f"{{{_STC}}}Resource", attributes)


def _bytes(root: etree._Element) -> bytes:
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))
