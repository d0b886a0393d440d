"""XML names and MIME types of SSP, names of elements, and simple types, read strictly.

A dot separates component and connector, a slash the levels of a flat system. So ``.`` and ``/`` in
the name of an element are read as ``%2E`` and ``%2F``, and written back as they were. A name that
holds ``%2E`` or ``%2F`` itself is read with ``%25`` for the ``%``; any other ``%`` stays. Every
text has one name and every name one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

from lxml import etree

from orchestrator.core.diagnostics import SspError
from orchestrator.core.files.archive import parse_xml
from orchestrator.core.system import SEPARATOR

_STANDARD = "http://ssp-standard.org/SSP1/SystemStructure"

#: Namespace by prefix; ``sd`` is Softdock's own.
NAMESPACES: Final = {
    "ssd": f"{_STANDARD}Description",
    "ssc": f"{_STANDARD}Common",
    "ssv": f"{_STANDARD}ParameterValues",
    "ssm": f"{_STANDARD}ParameterMapping",
    "ssb": f"{_STANDARD}SignalDictionary",
    "sd": "https://softdock.io/ssp/1",
}
#: What undeclared prefixes stand for, the prefix behind it; how messages name them, and how many.
UNDECLARED = "urn:undeclared:"
_NOT_DECLARED = re.compile(r"Namespace prefix ([\w.-]+) (?:for [\w.-]+ )?on [\w.-]+ is not defined")
_ROOT = re.compile(rb"<[A-Za-z_][\w.:-]*")
_MOST_UNDECLARED = 8
_PREFIXES = {uri: prefix for prefix, uri in NAMESPACES.items()}
_BRACED = re.compile(r"\{([^{}]*)\}")

FMU_TYPE: Final = "application/x-fmu-sharedlibrary"
DEFINITION_TYPE: Final = "application/x-ssp-definition"
PACKAGE_TYPE: Final = "application/x-ssp-package"
BLOCK_TYPE: Final = "application/x-softdock-block"
DEVICE_TYPE: Final = "application/x-softdock-device"
LOG_TYPE: Final = "application/x-softdock-log"
TWIN_TYPE: Final = "application/x-softdock-twin"
PARAMETER_SET_TYPE: Final = "application/x-ssp-parameter-set"
PARAMETER_MAPPING_TYPE: Final = "application/x-ssp-parameter-mapping"
SIGNAL_DICTIONARY_TYPE: Final = "application/x-ssp-signal-dictionary"

#: The .ssd that an archive or a folder stands for, and the suffix of its variants.
MAIN_SSD: Final = "SystemStructure.ssd"
SSD_SUFFIX: Final = ".ssd"


def parse_ssp(content: bytes, label: str) -> etree._Element:
    """Parse XML of SSP; prefixes that it does not declare, as many tools write, get a namespace."""
    for _ in range(_MOST_UNDECLARED):
        try:
            return parse_xml(content, label, SspError)
        except SspError as error:
            missing = _NOT_DECLARED.search(str(error))
            if missing is None:
                raise
            declared = f' xmlns:{missing[1]}="{UNDECLARED}{missing[1]}"'.encode()
            content = _ROOT.sub(rb"\g<0>" + declared, content, count=1)
    return parse_xml(content, label, SspError)


@lru_cache(maxsize=4096)
def full(name: str) -> str:
    """Turn ``"ssd:Component"`` into lxml's ``"{namespace}Component"``."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


@lru_cache(maxsize=4096)
def short(text: str) -> str:
    """Turn every ``{namespace}`` in a text, such as a tag or a message, into its prefix."""

    def prefix(match: re.Match[str]) -> str:
        prefix_found = _PREFIXES.get(match[1])
        return f"{prefix_found}:" if prefix_found else match[0]

    return _BRACED.sub(prefix, text)


def tag(element: etree._Element) -> str:
    """Return the prefixed name of an element; ``""`` for a comment or processing instruction."""
    name = element.tag
    return short(name) if isinstance(name, str) else ""


def children(element: etree._Element) -> list[etree._Element]:
    """Return the child elements, without comments and processing instructions."""
    return [child for child in element if isinstance(child.tag, str)]


def child(element: etree._Element, name: str) -> etree._Element | None:
    """Return the first child of a name such as ``"ssd:Connectors"``."""
    return next(element.iterchildren(full(name)), None) if len(element) else None


def listed(element: etree._Element, group: str, name: str) -> list[etree._Element]:
    """Return the children called ``name`` of the children called ``group``."""
    if not len(element):
        return []
    tag_name = full(name)
    return [
        inner
        for outer in element.iterchildren(full(group))
        for inner in outer.iterchildren(tag_name)
    ]


def group(parent: etree._Element, name: str) -> list[etree._Element]:
    """Return the children of the child of a name; none if it is not there."""
    element = child(parent, name)
    return [] if element is None else children(element)


def add(parent: etree._Element, name: str, /, **attributes: str) -> etree._Element:
    """Append a child element; ``ValueError`` if XML cannot hold an attribute's text."""
    return etree.SubElement(parent, full(name), attributes)


#: What holds several things that hold nothing, such as a type and its dimensions, is one line too.
_ON_A_LINE = frozenset(map(full, ("ssc:Annotation", "ssd:Connector", "ssv:Parameter")))


def file_text(root: etree._Element) -> bytes:
    """Return the text of a file; what is alone in its parent stands on the line of its parent."""
    _lay_out(root, "\n")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _lay_out(element: etree._Element, line: str) -> None:
    """Break the lines in an element, whose own line begins with a line break and white space."""
    is_one_line = len(element) == 1 or (element.tag in _ON_A_LINE and not any(map(len, element)))
    deeper = line if is_one_line else f"{line}  "
    for inner in element:
        if len(inner):
            _lay_out(inner, deeper)
        inner.tail = None if is_one_line else deeper
    if len(element) and not is_one_line:
        element.text = deeper
        element[-1].tail = line


_SPECIAL = re.compile(r"[./]|%(?=(?:25)*2[EF])")
_CODED = re.compile(r"%2E|%2F|%25(?=(?:25)*2[EF])")
_TEXT = {"%2E": ".", "%2F": "/", "%25": "%"}
_CODE = {text: code for code, text in _TEXT.items()}


def encoded(text: str) -> str:
    """Turn the name of an element of a file into that of a component."""
    return _SPECIAL.sub(lambda match: _CODE[match[0]], text)


def decoded(name: str) -> str:
    """Turn the name of a component into that of the element of a file."""
    return _CODED.sub(lambda match: _TEXT[match[0]], name)


def dotted(key: str) -> str:
    """Write the path of an element of a flat system as the hierarchical name of a file."""
    return ".".join(map(decoded, key.split(SEPARATOR)))


_REAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?INF|NaN", re.ASCII)
_INTEGER = re.compile(r"[-+]?\d{1,25}", re.ASCII)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}

_Kind = TypeVar("_Kind")


def real(text: str) -> float:
    """Read an xs:double."""
    text = text.strip()
    if not _REAL.fullmatch(text):
        raise SspError(f"expected a number, found '{_cut(text)}'")
    return float(text)


def integer(text: str) -> int:
    """Read an xs:integer of at most 25 digits; SspError if it is none."""
    text = text.strip()
    if not _INTEGER.fullmatch(text):
        raise SspError(f"expected a whole number, found '{_cut(text)}'")
    return int(text)


def boolean(text: str) -> bool:
    """Read an xs:boolean; SspError if it is none."""
    value = _TRUTH.get(text.strip())
    if value is None:
        raise SspError(f"expected true or false, found '{_cut(text)}'")
    return value


def binary(text: str) -> bytes:
    """Read an xs:hexBinary; SspError if it is none."""
    try:
        return bytes.fromhex(text.strip())
    except ValueError:
        raise SspError(f"expected pairs of hexadecimal digits, found '{_cut(text)}'") from None


def attribute(
    element: etree._Element, name: str, read: Callable[[str], _Kind], default: _Kind
) -> _Kind:
    """Read an attribute, or return the default where it is missing."""
    text = element.get(name)
    if text is None:
        return default
    try:
        return read(text)
    except SspError as error:
        raise SspError(f"{tag(element)}: attribute '{name}': {error}") from None


def real_text(value: float) -> str:
    """Write a number as an xs:double that reads back to the same bits."""
    number = float(value)
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(number), repr(number))


def boolean_text(value: object) -> str:
    """Write an xs:boolean."""
    return "true" if value else "false"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
