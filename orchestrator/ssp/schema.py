"""Validation against the XML schemas of SSP 1.0, as FMPy ships them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lxml import etree

from orchestrator.errors import SspError
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.names import full, short, tag


class Schema(StrEnum):
    """A kind of SSP document: the qualified name of its root element."""

    DESCRIPTION = "ssd:SystemStructureDescription"
    PARAMETER_VALUES = "ssv:ParameterSet"


# SystemStructureDescription11.xsd is the same SSP 1.0 in XML Schema 1.1, which lxml does not read.
_FILES = {
    Schema.DESCRIPTION: "SystemStructureDescription.xsd",
    Schema.PARAMETER_VALUES: "SystemStructureParameterValues.xsd",
}


@cache
def _schema(kind: Schema) -> etree.XMLSchema:
    package = find_spec("fmpy")  # found, not imported: only its files are needed
    if package is None or package.origin is None:
        raise SspError("the SSP schemas are part of FMPy, which is not installed")
    path = Path(package.origin).parent / "ssp" / "schema" / _FILES[kind]
    try:
        return etree.XMLSchema(file=str(path))
    except etree.LxmlError as reason:
        raise SspError(f"{path}: cannot be read as an XML schema: {reason}") from None


def violations(root: etree._Element, kind: Schema) -> list[tuple[int, str]]:
    """List line and text of everything that the schema does not allow, in the order of lines.

    The parameter sets inside a description are checked too: its own schema lets them pass.
    """
    found = _violations(root, kind)
    if kind is Schema.DESCRIPTION:
        inner = f"{full('ssd:ParameterValues')}/{full(Schema.PARAMETER_VALUES)}"
        for values in root.iterfind(f".//{inner}"):
            found += _violations(values, Schema.PARAMETER_VALUES)
    return sorted(found)


def _violations(root: etree._Element, kind: Schema) -> list[tuple[int, str]]:
    schema = _schema(kind)
    if schema.validate(root):
        return []
    log: Iterable[Any] = schema.error_log  # type: ignore[assignment] # the stubs lack __iter__
    return [(entry.line, short(entry.message)) for entry in log]


def check(root: etree._Element, kind: Schema, label: str) -> None:
    """Raise an SspError that lists everything the schema does not allow, with file and line."""
    if tag(root) != kind:
        raise SspError(
            f"{label}:{root.sourceline}: expected the root element {kind} of SSP 1.0,"
            f" found {short(str(root.tag))}"
        )
    version = root.get("version", "none")
    if not version.startswith("1."):
        raise SspError(f"{label}:{root.sourceline}: expected SSP version 1.0, found {version}")
    found = Findings(label)
    for line, text in violations(root, kind):
        found.problems.append(f"{label}:{line}: not valid SSP 1.0: {text}")
    found.close()
