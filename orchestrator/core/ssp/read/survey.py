"""What is in a file that a system has no place for, and annotations of ours at wrong places."""

from __future__ import annotations

from typing import Final

from lxml import etree

from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.annotations import OWN_TYPES, PARENTS
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.common.names import tag

#: Elements that are left out with all that is in them.
_LEFT_OUT: Final = {
    "ssd:ElementGeometry": codes.GEOMETRY,
    "ssd:ConnectorGeometry": codes.GEOMETRY,
    "ssd:ConnectionGeometry": codes.GEOMETRY,
    "ssd:SystemGeometry": codes.GEOMETRY,
    "ssd:GraphicalElements": codes.GEOMETRY,
    "ssc:MetaData": codes.METADATA,
    "ssc:Signature": codes.METADATA,
}
_METADATA: Final = frozenset(
    {
        "id",
        "author",
        "fileversion",
        "copyright",
        "license",
        "generationDateAndTime",
        "description",
    }
)
_DESCRIBED: Final = {"ssd:System", "ssd:Connector"}
_PREFIXES: Final = {"ssd", "ssc", "ssv", "ssm", "ssb"}


def survey(root: etree._Element, findings: Findings) -> None:
    """Note what is not kept in a system, each kind once; report annotations that are not known."""
    seen: dict[tuple[Code, str], list[etree._Element]] = {}
    _walk(root, findings, seen)
    for (code, what), elements in seen.items():
        times = f", {len(elements)} times" if len(elements) > 1 else ""
        findings.note(code, elements[0], what + times)


def _walk(
    element: etree._Element,
    findings: Findings,
    seen: dict[tuple[Code, str], list[etree._Element]],
) -> None:
    walk = etree.iterwalk(element, ("start",))
    kept: set[str] = set()  # tags as lxml has them, of elements that a system has a place for
    for _, here in walk:
        if here.tag in kept and _METADATA.isdisjoint(here.keys()):
            continue
        name = tag(here)
        if name in _LEFT_OUT:
            seen.setdefault((_LEFT_OUT[name], name), []).append(here)
        elif name == "ssc:Annotation":
            _annotation(here, findings, seen)
        elif name.partition(":")[0] not in _PREFIXES:
            seen.setdefault((codes.FOREIGN, f"element {name}"), []).append(here)
        else:
            kept.add(here.tag)
            for attribute in sorted(_METADATA.intersection(here.keys())):
                if attribute != "description" or name not in _DESCRIBED:
                    seen.setdefault((codes.METADATA, f"{attribute} of {name}"), []).append(here)
            continue
        walk.skip_subtree()


def _annotation(
    element: etree._Element,
    findings: Findings,
    seen: dict[tuple[Code, str], list[etree._Element]],
) -> None:
    kind = element.get("type", "")
    holder = element.getparent()
    parent = holder.getparent() if holder is not None else None
    above = tag(parent) if parent is not None else ""
    if not kind.startswith(OWN_TYPES):
        seen.setdefault((codes.ANNOTATION, f"annotation '{kind}' of {above}"), []).append(element)
    elif kind not in PARENTS:
        findings.error(
            codes.OWN,
            element,
            f"unknown annotation '{kind}'; Softdock's are {', '.join(PARENTS)}",
        )
    elif above not in PARENTS[kind]:
        findings.error(
            codes.OWN,
            element,
            f"annotation '{kind}' stands in {above}; expected {' or '.join(PARENTS[kind])}",
        )
