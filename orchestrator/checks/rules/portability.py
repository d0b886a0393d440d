"""What of a system only Softdock reads, and what other tools often do not."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from lxml import etree

from orchestrator.checks.context import finding
from orchestrator.core.diagnostics import Diagnostic
from orchestrator.core.diagnostics.errors import Code, note
from orchestrator.core.ssp.archive.locations import SspFile, line_of
from orchestrator.core.ssp.common.annotations import OWN_TYPES
from orchestrator.core.ssp.common.names import BLOCK_TYPE, tag

CODES: tuple[Code, ...] = (
    note(
        "POR101",
        "annotations that only Softdock reads",
        "Delays, their variation, the interpolation of a line, the algorithm and the step have no"
        " place in SSP and stand in annotations. Other tools pass over them: there the system runs"
        " without these delays.",
        "SSP 1.0.1, 2.1.1",
    ),
    note(
        "POR102",
        "a component that only Softdock runs",
        "A Python block is no FMU. Other tools refuse the component or treat it as missing; export"
        " the block as an FMU, or leave the component out there.",
        "SSP 1.0.1, 5.4",
    ),
    note(
        "POR103",
        "a construct that few tools read",
        "It is part of the standard, but no public system that we know of uses it, so other tools"
        " have had little to test it with.",
    ),
    note(
        "POR104",
        "SSP 2.0",
        "Many tools still read only SSP 1.0. What is said here holds for both where nothing else is"
        " said.",
        "SSP 2.0, 2.2",
    ),
    note(
        "POR105",
        "a source outside of the folder",
        "Tools need not follow absolute paths or paths that lead out of the folder of the .ssd, and"
        " many do not. Pack the system (.ssp), or put the file below the .ssd.",
        "SSP 1.0.1, 5.4",
    ),
)

#: What no public system uses, by element.
_RARE = {
    "ssd:SignalDictionaryReference": "signal dictionaries",
    "ssc:BooleanMappingTransformation": "tables of Boolean values",
    "ssc:IntegerMappingTransformation": "tables of Integer values",
    "ssc:EnumerationMappingTransformation": "tables of enumeration values",
    "ssc:Dimension": "arrays",
    "ssd:Dimension": "arrays",
    "ssc:Clock": "clocks",
}
_NESTED = {
    "application/x-ssp-definition": "an .ssd as a component",
    "application/x-ssp-package": "an .ssp as a component",
}


def check(ssp_file: SspFile) -> Iterator[Diagnostic]:
    """Look through an .ssd for what others do not read."""
    seen: dict[tuple[str, str], list[etree._Element]] = {}
    for element in ssp_file.root.iter(etree.Element):
        for kind in _kinds(element):
            seen.setdefault(kind, []).append(element)
    for (code, what), elements in seen.items():
        times = f", {len(elements)} times" if len(elements) > 1 else ""
        yield finding(code, "", f"{what}{times}", ssp_file.label, line_of(elements[0]))
    version = ssp_file.root.get("version", "")
    if version.startswith("2"):
        text = f"the file is of SSP {version}"
        yield finding("POR104", "", text, ssp_file.label, line_of(ssp_file.root))


def _kinds(element: etree._Element) -> Iterator[tuple[str, str]]:
    name = tag(element)
    if name == "ssc:Annotation" and element.get("type", "").startswith(OWN_TYPES):
        yield "POR101", f"annotation {element.get('type')}"
    elif name in _RARE:
        yield "POR103", _RARE[name]
    elif name == "ssd:Component":
        kind = element.get("type", "")
        if kind == BLOCK_TYPE:
            yield "POR102", f"Python block {element.get('source', '').removeprefix('block:')}"
        if kind in _NESTED:
            yield "POR103", _NESTED[kind]
    elif name == "ssd:Connector" and element.get("kind") == "inout":
        yield "POR103", "connectors of kind inout"
    source = element.get("source", "")
    if name.startswith("ssd:") and source and _leads_out(source):
        yield "POR105", f"source '{source}'"
    if element.get("sourceBase") == "component":
        yield "POR103", "sourceBase component"


def _leads_out(source: str) -> bool:
    try:
        parts = urlsplit(source)
    except ValueError:
        return False  # the reader has told
    path = parts.path
    outside = path.startswith("/") or ".." in path.split("/")
    return outside and parts.scheme in {"", "file"}
