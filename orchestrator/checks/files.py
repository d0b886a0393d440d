"""Files that cannot be checked or are no system, and what of them other tools often do not read."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from lxml import etree

from orchestrator.checks.context import finding
from orchestrator.checks.locations import SspFile, line_of
from orchestrator.core.diagnostics import Diagnostic
from orchestrator.core.diagnostics.errors import Code, error, note
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.annotations import OWN_TYPES
from orchestrator.core.ssp.common.codes import Findings
from orchestrator.core.ssp.common.names import BLOCK_TYPE, tag
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.ssp.read.bindings import read_mapping
from orchestrator.core.ssp.read.connectors import read_entries
from orchestrator.core.ssp.read.parameter_values import read_parameters
from orchestrator.core.ssp.read.reading import expect_valid, kinds_of, survey

CODES: tuple[Code, ...] = (
    error(
        "FIL101",
        "the target cannot be checked",
        "The target does not exist, cannot be read, is a folder without a system, or is of an"
        " unknown kind. The exit code is 2.",
    ),
    note(
        "FIL102",
        "steps, loops and capabilities were not checked",
        "These checks need a system with components, sources that can be opened, and correct"
        " connections. Correct the listed errors and check again.",
    ),
    error(
        "TOM101",
        "the system file has a wrong key or value",
        "A key is unknown or missing, or a value does not fit. See docs/reference/system-toml.md.",
    ),
    error(
        "TOM102",
        "a system file cannot be read",
        "The system file of a case does not exist or is not TOML.",
    ),
    note(
        "POR101",
        "annotations that only Softdock reads",
        "SSP has no elements for delays, their variation, the interpolation of a connection, the"
        " algorithm and the step. Softdock stores them in annotations, which other tools ignore:"
        " there the system runs without these delays.",
        "SSP 1.0.1, 2.1.1",
    ),
    note(
        "POR102",
        "a component that only Softdock runs",
        "A Python block is not an FMU. Other tools refuse the component or treat it as missing."
        " Export the block as an FMU, or omit the component there.",
        "SSP 1.0.1, 5.4",
    ),
    note(
        "POR103",
        "a construct that few tools read",
        "The standard contains it, but no public system that we know of uses it, so other tools"
        " have had little to test it with.",
    ),
    note(
        "POR104",
        "SSP 2.0",
        "Many tools still read only SSP 1.0. Write version 1.0 if the system needs nothing of 2.0.",
        "SSP 2.0, 2.2",
    ),
    note(
        "POR105",
        "a source outside of the folder",
        "Tools need not follow absolute paths or paths that lead out of the folder of the .ssd,"
        " and many do not. Pack the system (.ssp), or put the file below the .ssd.",
        "SSP 1.0.1, 5.4",
    ),
)

#: What the ending of a file means.
KINDS = {
    ".ssv": Schema.PARAMETER_VALUES,
    ".ssm": Schema.PARAMETER_MAPPING,
    ".ssb": Schema.SIGNAL_DICTIONARY,
}


def check_ssp_file(ssp_file: SspFile, kind: Schema) -> list[Diagnostic]:
    """Check one file by itself, as the reader of systems would."""
    findings = Findings(ssp_file.label)
    with findings.guard(ssp_file.root, codes.ROOT):
        expect_valid(ssp_file.root, kind, findings)
        survey(ssp_file.root, findings)
        if kind is Schema.PARAMETER_VALUES:
            list(read_parameters(ssp_file.root, "", findings))
        elif kind is Schema.PARAMETER_MAPPING:
            read_mapping(ssp_file.root, findings)
        else:
            read_entries(ssp_file.root, findings)
    return findings.diagnostics


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


def check_portability(ssp_file: SspFile) -> Iterator[Diagnostic]:
    """Look through an .ssd for what others do not read."""
    every = ssp_file.root.iter(etree.Element)
    for code, described, element in kinds_of(
        (*kind, root) for root in every for kind in _kinds(root)
    ):
        yield finding(code, "", described, ssp_file.label, line_of(element))
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
