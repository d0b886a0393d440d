"""Validation against the XML schemas: FMPy has those of SSP 1.0, pyssp_standard those of 2.0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, SspError, nearest_name
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import NAMESPACES, file_text, full, short, tag
from orchestrator.core.ssp.common.signal_types import TYPES

_TYPES: Final = tuple(f"ssc:{name}" for name in TYPES)
_VALUES: Final = tuple(f"ssv:{name}" for name in TYPES)
_MAPPINGS: Final = tuple(
    f"ssc:{kind}Transformation"
    for kind in ("Linear", "BooleanMapping", "IntegerMapping", "EnumerationMapping")
)
_FILE: Final = ("ssc:MetaData", "ssc:Signature")
_IN_ELEMENT: Final = ("ssd:Connectors", "ssd:ElementGeometry", "ssd:ParameterBindings", *_FILE)

#: Children that an element has somewhere in one of the versions, in the order of the schema.
CHILDREN: Final[Mapping[str, tuple[str, ...]]] = {
    "ssd:SystemStructureDescription": (
        "ssd:System",
        "ssd:Enumerations",
        "ssd:Units",
        "ssd:DefaultExperiment",
        *_FILE,
        "ssd:Annotations",
    ),
    "ssd:System": (
        *_IN_ELEMENT,
        "ssd:Elements",
        "ssd:Connections",
        "ssd:SignalDictionaries",
        "ssd:SystemGeometry",
        "ssd:GraphicalElements",
        "ssd:Annotations",
    ),
    "ssd:Component": (*_IN_ELEMENT, "ssd:Annotations"),
    "ssd:SignalDictionaryReference": (*_IN_ELEMENT, "ssd:Annotations"),
    "ssd:Connector": (
        *_TYPES,
        "ssc:Dimension",
        "ssd:Clock",
        "ssd:ConnectorGeometry",
        "ssd:Annotations",
    ),
    "ssd:Connection": (*_MAPPINGS, "ssd:ConnectionGeometry", "ssd:Annotations"),
    "ssd:ParameterBinding": (
        "ssd:ParameterValues",
        "ssd:ParameterMapping",
        *_FILE,
        "ssd:Annotations",
    ),
    "ssv:ParameterSet": (
        "ssv:Parameters",
        "ssv:Enumerations",
        "ssv:Units",
        *_FILE,
        "ssv:Annotations",
    ),
    "ssv:Parameter": (*_VALUES, "ssc:Dimension", "ssv:Annotations"),
    "ssm:ParameterMapping": ("ssm:MappingEntry", *_FILE, "ssm:Annotations"),
    "ssm:MappingEntry": (*_MAPPINGS, "ssm:Annotations"),
    "ssb:SignalDictionary": (
        "ssb:DictionaryEntry",
        "ssb:Enumerations",
        "ssb:Units",
        *_FILE,
        "ssb:Annotations",
    ),
    "ssb:DictionaryEntry": (*_TYPES, "ssc:Dimension", "ssb:Annotations"),
}
#: Of these one is enough, and the others would be read for it.
_ONCE: Final = {*_TYPES, *_VALUES, *_MAPPINGS, "ssd:System", "ssv:Parameters"}
#: These stand any number of times.
_LISTED: Final = {*_FILE, "ssc:Dimension", "ssd:Clock", "ssm:MappingEntry", "ssb:DictionaryEntry"}
#: Groups that may as well not be there if they are empty.
_MAY_BE_EMPTY: Final = {
    *(f"{p}:{group}" for p in ("ssd", "ssv", "ssb") for group in ("Units", "Enumerations")),
    *(f"{prefix}:Annotations" for prefix in ("ssd", "ssv", "ssm", "ssb", "ssc")),
    "ssd:Connectors",
    "ssd:Elements",
    "ssd:Connections",
    "ssd:ParameterBindings",
    "ssd:SignalDictionaries",
    "ssd:GraphicalElements",
    "ssc:Annotation",
}
#: Elements that are left out with all that is in them.
LEFT_OUT: Final = {
    "ssd:ElementGeometry": codes.GEOMETRY,
    "ssd:ConnectorGeometry": codes.GEOMETRY,
    "ssd:ConnectionGeometry": codes.GEOMETRY,
    "ssd:SystemGeometry": codes.GEOMETRY,
    "ssd:GraphicalElements": codes.GEOMETRY,
    "ssc:MetaData": codes.METADATA,
    "ssc:Signature": codes.METADATA,
}
#: Nothing in these is read.
_NOT_READ: Final = {*LEFT_OUT, "ssc:Annotation"}
_ATTRIBUTES_NOT_READ: Final = (
    "attribute 'id'",
    "attribute 'generationDateAndTime'",
    "attribute 'generationTool'",
    "attribute 'fileversion'",
    "attribute 'version'",
    "Element 'ssc:Enumeration': The attribute 'name' is required",
)
_KNOWN_ATTRIBUTES: Final = frozenset({"sourceBase", "startIndices", "endIndices"})


def is_clear(element: etree._Element, kind: str, message: str) -> bool:
    """Whether a file that is not valid at an element can be read all the same."""
    inside = [element, *element.iterancestors()]
    if any(tag(inner) in _NOT_READ for inner in inside):
        return True
    if any(text in message for text in _ATTRIBUTES_NOT_READ):
        return True
    if kind == "SCHEMAV_CVC_COMPLEX_TYPE_3_2_1" or "is not allowed" in message:
        return not any(f"attribute '{name}'" in message for name in _KNOWN_ATTRIBUTES)
    if "Missing child element" in message:
        return tag(element) in _MAY_BE_EMPTY
    if "This element is not expected" in message:
        return _is_misplaced(element)
    return "Character content" in message


def _is_misplaced(element: etree._Element) -> bool:
    """Whether an element is of another namespace, or stands in its parent in another order."""
    parent, name = element.getparent(), tag(element)
    if parent is None:
        return False
    if name.startswith("{") or ":" not in name:
        return True
    same = _ONCE if name in _ONCE else {name}
    repeats = name not in _LISTED and sum(tag(child) in same for child in parent) > 1
    return name in CHILDREN.get(tag(parent), ()) and not repeats


VERSIONS: Final = ("1.0", "2.0")

_ELEMENT: Final = re.compile(r"Element '([^']+)'")
#: Lists of violations end here; a file with more is not what it says.
_MOST = 200


class Schema(StrEnum):
    """A kind of SSP document: the qualified name of its root element."""

    DESCRIPTION = "ssd:SystemStructureDescription"
    PARAMETER_VALUES = "ssv:ParameterSet"
    PARAMETER_MAPPING = "ssm:ParameterMapping"
    SIGNAL_DICTIONARY = "ssb:SignalDictionary"


#: May stand inside of a description.
_INNER = [each for each in Schema if each is not Schema.DESCRIPTION]
# SystemStructureDescription11.xsd is the same in XML Schema 1.1, which lxml does not read.
_FOLDER = Path(__file__).with_name("schemas")
_XS = "http://www.w3.org/2001/XMLSchema"


def _namespace(kind: Schema) -> str:
    return NAMESPACES[kind.partition(":")[0]]


def _file(namespace: str, version: str) -> Path:
    """Return the schema of a namespace, whose last word it is called by."""
    return _FOLDER / version / f"{namespace.rpartition('/')[2]}.xsd"


@cache
def _schema(kind: Schema, version: str) -> etree.XMLSchema:
    path = _file(_namespace(kind), version)
    try:
        return etree.XMLSchema(file=str(path))
    except etree.LxmlError as reason:
        raise SspError.in_file(path, f"cannot be read as an XML schema: {reason}") from None


@cache
def _all_schemas(version: str) -> etree.XMLSchema:
    """Return a schema of descriptions that does not let pass what is inside of them."""
    every = etree.Element(f"{{{_XS}}}schema")
    for space in map(_namespace, Schema):
        location = _file(space, version).as_uri()
        etree.SubElement(every, f"{{{_XS}}}import", namespace=space, schemaLocation=location)
    return etree.XMLSchema(every)


def violations(root: etree._Element, kind: Schema, version: str = "1.0") -> list[tuple[int, str]]:
    """List line and text of everything that the schema does not allow, in the order of lines.

    What is inside a description (parameter sets, mappings, dictionaries) is checked too: its own
    schema lets it pass.
    """
    entries = [(entry.line, short(entry.message)) for entry in _entries(root, kind, version)]
    for inner, its_kind in _inside(root, kind):
        entries += [(e.line, short(e.message)) for e in _entries(inner, its_kind, version)]
    return sorted(entries)


def _inside(root: etree._Element, kind: Schema) -> list[tuple[etree._Element, Schema]]:
    if kind is not Schema.DESCRIPTION:
        return []
    return [(element, schema) for schema in _INNER for element in root.iter(full(schema))]


def _entries(root: etree._Element, kind: Schema, version: str) -> list[Any]:
    schema = _schema(kind, version)
    if schema.validate(root):
        return []
    log: Iterable[Any] = schema.error_log  # type: ignore[assignment] # the stubs lack __iter__
    return list(log)


def check(root: etree._Element, kind: Schema, findings: Findings) -> None:
    """Report everything that the schema of the document's version does not allow.

    What is meant although it is not valid is a warning.
    """
    if tag(root) != kind:
        raise refusal(
            codes.ROOT, f"expected the root element {kind} of SSP, found {short(str(root.tag))}"
        )
    version = version_of(root, findings)
    if kind is Schema.DESCRIPTION and _is_valid(root, version):
        return
    _report(root, kind, version, findings)
    for inner, its_kind in _inside(root, kind):
        with findings.guard(inner, codes.VERSION):
            _report(inner, its_kind, version_of(inner, findings), findings)


def _is_valid(root: etree._Element, version: str) -> bool:
    """Whether a description and all that is inside of it are valid SSP of one version."""
    versions = {element.get("version") for element in root.iter(*map(full, _INNER))}
    return versions <= {version} and _all_schemas(version).validate(root)


def version_of(root: etree._Element, findings: Findings) -> str:
    """Return the version of a document, ``"1.0"`` or ``"2.0"``; 1.0 if it says none."""
    version = root.get("version")
    if version is None:
        return "1.0"  # the schema says that it is missing
    if version in VERSIONS:
        return version
    if version.startswith("1.0"):
        findings.warning(
            codes.VERSION, root, f"expected version 1.0 or 2.0, found '{version}'; read as 1.0"
        )
        return "1.0"
    raise refusal(codes.VERSION, f"expected SSP version 1.0 or 2.0, found '{version[:40]}'")


def _report(root: etree._Element, kind: Schema, version: str, findings: Findings) -> None:
    entries = _entries(root, kind, version)
    if entries and version == "1.0" and not _entries(root, kind, "2.0"):
        findings.warning(
            codes.TOLERATED,
            root,
            f"says version 1.0, but is valid as 2.0 only: {short(entries[0].message)} (line"
            f" {entries[0].line})",
            "SSP 2.0, 5.1",
        )
        return
    misspelt = _misspelt_attributes(entries)
    for entry in entries[:_MOST]:
        key = entry.path, entry.message
        if key in misspelt and misspelt[key] is None:
            continue
        element = _located_element(root, entry)
        clear = element is not None and is_clear(element, entry.type_name, short(entry.message))
        add = findings.warning if clear else findings.error
        parent = None if element is None else element.getparent()
        suffix = "" if parent is None else f", in {tag(parent)}"
        text = f"not valid SSP {version}{suffix}: {misspelt.get(key) or short(entry.message)}"
        add(codes.TOLERATED if clear else codes.SCHEMA, element, text)


_REQUIRED: Final = re.compile(r"Element '.*': The attribute '(.*)' is required but missing\.")
_REFUSED: Final = re.compile(
    r"Element '(.*)', attribute '.*': The attribute '(.*)' is not allowed\."
)


def _misspelt_attributes(entries: Sequence[Any]) -> dict[tuple[str, str], str | None]:
    """Return other texts, by path and message, where a misspelt attribute gives two entries.

    ``None``: the entry is part of the other one.
    """
    texts: dict[tuple[str, str], str | None] = {}
    for entry in entries[:_MOST]:
        if not (refused := _REFUSED.fullmatch(entry.message)):
            continue
        required = {
            match[1]: reported.message
            for reported in entries[:_MOST]
            if reported.path == entry.path and (match := _REQUIRED.fullmatch(reported.message))
        }
        if name := nearest_name(refused[2], required):
            texts[entry.path, entry.message] = None
            texts[entry.path, required[name]] = (
                f"{short(refused[1])} has no attribute '{refused[2]}'. Did you mean '{name}'?"
            )
    return texts


def new_document(schema: Schema, version: str, prefixes: Iterable[str]) -> etree._Element:
    """Return the root of a new document that declares some namespaces."""
    if version not in VERSIONS:
        raise DescriptionError(f"expected SSP version {' or '.join(VERSIONS)}, found '{version}'")
    root = etree.Element(
        full(schema), nsmap={namespace: NAMESPACES[namespace] for namespace in prefixes}
    )
    root.set("version", version)
    return root


def checked_text(root: etree._Element, schema: Schema, label: str = "") -> bytes:
    """Return the text of a file, or raise SspError if the schema does not allow it."""
    findings = Findings(label or schema.value)
    check(root, schema, findings)
    findings.close()
    return file_text(root)


def _located_element(root: etree._Element, entry: Any) -> etree._Element | None:
    """Find the element that libxml2 means by a path from the root, or by its tag and line."""
    steps = (entry.path or "").split("/")[2:]
    if not steps:
        return root
    try:
        elements = root.xpath("/".join(steps), namespaces=dict(NAMESPACES))
    except etree.XPathError:  # a prefix of another namespace
        match = _ELEMENT.match(entry.message)
        every = root.iter(match[1]) if match else iter(())
        return next((element for element in every if element.sourceline == entry.line), None)
    return elements[0] if isinstance(elements, list) and elements else None  # type: ignore[return-value] # a path of elements
