"""Checksums of FMUs in an SSD, by the meta data of SSP 2.0 and SSP Traceability."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from orchestrator.checks.finding import finding
from orchestrator.checks.rules.fmus import digest
from orchestrator.core.diagnostics import Diagnostic, LoadError
from orchestrator.core.ssp.archive.locations import SspFile, elements, line_of
from orchestrator.core.ssp.common.names import child, children, full, tag
from orchestrator.core.system import SEPARATOR, SourceKind, System

_META_DATA = "application/x-srmd-meta-data"
_METHODS = {"SHA3-256": "sha3_256"}


def check(ssp_file: SspFile, system: System) -> Iterator[Diagnostic]:
    """Compare checksums of the components' FMUs with their files (the codes are those of FMUs)."""
    for top in ssp_file.root.iterfind(full("ssd:System")):
        yield from _inside(ssp_file, top, "", system)


def _inside(
    ssp_file: SspFile, element: etree._Element, path: str, system: System
) -> Iterator[Diagnostic]:
    for at, inner in elements(element, path):
        name = at.rpartition(SEPARATOR)[2]
        if tag(inner) == "ssd:System" and name in system.systems:
            yield from _inside(ssp_file, inner, at, system.systems[name])
        elif name in system.components:
            source = system.components[name].source
            file = Path(source.location)
            if source.kind is SourceKind.FMU and file.is_file():
                for meta in inner.iterfind(full("ssc:MetaData")):
                    yield from _compared(ssp_file, meta, at, file)


def _compared(ssp_file: SspFile, meta: etree._Element, at: str, file: Path) -> Iterator[Diagnostic]:
    if meta.get("type") != _META_DATA:
        return
    source = meta.get("source")
    try:
        here = ssp_file.beside(source) if source else ssp_file
    except (LoadError, OSError):
        return  # the reader has told
    content = child(meta, "ssc:Content")
    root = (
        here.root
        if source
        else next(iter(children(content)), None)
        if content is not None
        else None
    )
    wanted = None if root is None else root.get("checksum")
    if root is None or wanted is None or root.get("data"):
        return  # nothing is said, or of another file
    place = here.label, line_of(root)
    method = root.get("checksumType", "SHA3-256")
    if method not in _METHODS or _METHODS[method] not in hashlib.algorithms_available:
        text = f"the checksum of {file} is of the type {method}; it was not checked"
        yield finding("FMU110", at, text, *place)
        return
    found = digest(file, _METHODS[method])
    if found.lower() != wanted.lower():
        text = f"{file}: expected the {method} {wanted}, found {found}: it is another file"
        yield finding("FMU108", at, text, *place)
