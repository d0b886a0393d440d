"""Files of SSP that are no system: parameter sets, mappings, signal dictionaries."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from orchestrator.checking.code import Code, error, warning
from orchestrator.checking.finding import Finding
from orchestrator.ssp.locations import Sheet, line_of
from orchestrator.ssp.names import children, listed, tag
from orchestrator.ssp.schema import Schema, violations

CODES: tuple[Code, ...] = (
    error(
        "FIL104",
        "the file is not what its name says",
        "The root element is none of SSP, or another one than the ending of the file means.",
        "SSP 1.0.1, 3",
    ),
    error(
        "FIL105",
        "the file is not valid",
        "The XML schema of SSP does not allow what stands there.",
    ),
    warning(
        "FIL106",
        "a name is given twice",
        "A parameter, a dictionary entry or the target of a mapping stands there twice: for values"
        " the later one holds, for mappings it is not said which.",
        "SSP 1.0.1, 5.2.3",
    ),
)

_ROOTS = {
    ".ssv": "ssv:ParameterSet",
    ".ssm": "ssm:ParameterMapping",
    ".ssb": "ssb:SignalDictionary",
}


def check_sheet(sheet: Sheet, suffix: str) -> Iterator[Finding]:
    """Check one file by itself."""
    root, wanted = sheet.root, _ROOTS[suffix]
    if tag(root) != wanted:
        text = f"expected the root element {wanted}, found {tag(root)}"
        yield Finding("FIL104", "", text, sheet.label, line_of(root))
        return
    for line, text in violations(root, Schema(wanted)):
        yield Finding("FIL105", "", text, sheet.label, line)
    seen: dict[str, int] = {}
    for name, element in _named(root):
        line = line_of(element)
        if name in seen:
            text = f"'{name}' stands here again; first at line {seen[name]}"
            yield Finding("FIL106", name, text, sheet.label, line)
        seen.setdefault(name, line)


def _named(root: etree._Element) -> Iterator[tuple[str, etree._Element]]:
    for parameter in listed(root, "ssv:Parameters", "ssv:Parameter"):
        yield parameter.get("name", ""), parameter
    for element in children(root):
        if tag(element) == "ssm:MappingEntry":
            yield element.get("target", ""), element
        if tag(element) == "ssb:DictionaryEntry":
            yield element.get("name", ""), element
