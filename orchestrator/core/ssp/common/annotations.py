"""Softdock's annotations in an SSD: what they are called, where they stand, how they are found.

Namespace ``https://softdock.io/ssp/1``; times are exact decimals, so that they come back as the
same count of nanoseconds.
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError, SspError
from orchestrator.core.ssp.common.names import add, child, children, listed, tag

OWN_TYPES: Final = "io.softdock."
DELAY_TYPE: Final = "io.softdock.delay"
LINE_TYPE: Final = "io.softdock.line"
MASTER_TYPE: Final = "io.softdock.master"
UNIT_TYPE: Final = "io.softdock.unit"
POWER_TYPE: Final = "io.softdock.power"
CONNECTOR_TYPE: Final = "io.softdock.connector"
#: Where each annotation stands.
PARENTS: Final = {
    DELAY_TYPE: ("ssd:Connection",),
    LINE_TYPE: ("ssd:Connection",),
    MASTER_TYPE: ("ssd:DefaultExperiment",),
    UNIT_TYPE: ("ssd:Component",),
    POWER_TYPE: ("ssd:Component", "ssd:System"),
    CONNECTOR_TYPE: ("ssd:Connector",),
}


def seconds_text(ns: int) -> str:
    """Write whole nanoseconds as exact decimal seconds, such as ``"0.016"``."""
    if abs(ns) > 2**63 - 1:
        raise DescriptionError(f"a time of {ns} ns does not fit 64 bits")
    text = f"{Decimal(ns).scaleb(-9):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def annotate(parent: etree._Element, kind: str) -> etree._Element:
    """Append an annotation of a type to an element, and return it."""
    group = child(parent, "ssd:Annotations")
    group = add(parent, "ssd:Annotations") if group is None else group
    return add(group, "ssc:Annotation", type=kind)


def own(parent: etree._Element, kind: str, name: str) -> etree._Element | None:
    """Return the content of the annotation of a type, after checking that it is the only one."""
    every = listed(parent, "ssd:Annotations", "ssc:Annotation")
    found = [annotation for annotation in every if annotation.get("type") == kind]
    if not found:
        return None
    content = [inner for annotation in found for inner in children(annotation)]
    if len(found) > 1 or len(content) != 1 or tag(content[0]) != name:
        inside = ", ".join(map(tag, content)) or "nothing"
        raise SspError(
            f"annotation {kind}: expected it once with one {name},"
            f" found it {len(found)} times with {inside}"
        )
    return content[0]


def only(element: etree._Element, allowed: Collection[str]) -> None:
    """Refuse attributes that are not known."""
    unknown = [name for name in element.attrib if name not in allowed]
    if unknown:
        raise SspError(
            f"{tag(element)}: unknown attribute {', '.join(map(str, unknown))};"
            f" expected {', '.join(allowed)}"
        )


def empty(element: etree._Element) -> None:
    """Refuse an element with content."""
    if children(element) or (element.text or "").strip():
        raise SspError(f"{tag(element)}: expected an empty element")
