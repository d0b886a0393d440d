"""The survey of an SSP file for what Softdock does not support, before anything is read."""

from __future__ import annotations

from typing import Final

from lxml import etree

from orchestrator.ssp.annotations import OWN_TYPES, PARENTS
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.names import children, tag
from orchestrator.system import Causality

_KINDS = [str(kind) for kind in (Causality.INPUT, Causality.OUTPUT, Causality.PARAMETER)]
_TYPES = "expected Real, Integer, Boolean or String"

#: What is refused, by element.
_REFUSED: Final = {
    "ssd:SignalDictionaries": "signal dictionaries are not supported; connect the components",
    "ssd:SignalDictionaryReference": "signal dictionaries are not supported",
    "ssd:Enumerations": f"enumerations are not supported; {_TYPES}",
    "ssv:Enumerations": f"enumerations are not supported; {_TYPES}",
    "ssc:Enumeration": f"the type Enumeration is not supported; {_TYPES}",
    "ssv:Enumeration": f"the type Enumeration is not supported; {_TYPES}",
    "ssc:Binary": f"the type Binary is not supported; {_TYPES}",
    "ssv:Binary": f"the type Binary is not supported; {_TYPES}",
    "ssd:ParameterMapping": "parameter mappings are not supported; name the parameters"
    " as the component does",
    "ssc:BooleanMappingTransformation": "BooleanMappingTransformation is not supported;"
    " expected LinearTransformation",
    "ssc:IntegerMappingTransformation": "IntegerMappingTransformation is not supported;"
    " expected LinearTransformation",
    "ssc:EnumerationMappingTransformation": "EnumerationMappingTransformation is not supported;"
    " expected LinearTransformation",
}
_DRAWING: Final = {
    "ssd:ElementGeometry",
    "ssd:ConnectorGeometry",
    "ssd:ConnectionGeometry",
    "ssd:SystemGeometry",
    "ssd:GraphicalElements",
}
_METADATA: Final = (
    "id",
    "author",
    "fileversion",
    "copyright",
    "license",
    "generationDateAndTime",
)
_DESCRIBED: Final = {"ssd:System", "ssd:Connector"}


def survey(root: etree._Element, findings: Findings) -> None:
    """List everything in a valid file that is not supported, and note what is not kept."""
    reason = _refusal(root)
    if reason:
        findings.problem(root, reason)
        return
    name = tag(root)
    if name in _DRAWING:
        findings.note(root, name)
        return
    if name == "ssc:Annotation":
        _annotation(root, findings)
        return
    lost = [a for a in _METADATA if a in root.attrib]
    if "description" in root.attrib and name not in _DESCRIBED:
        lost.append("description")
    for attribute in lost:
        findings.note(root, f"{attribute} of {name}")
    for inner in children(root):
        survey(inner, findings)


def _refusal(element: etree._Element) -> str | None:
    name = tag(element)
    parent = element.getparent()
    above = tag(parent) if parent is not None else ""
    match name:
        case "ssd:System" if above == "ssd:Elements":
            return f"nested system '{element.get('name')}' is not supported; flatten it"
        case "ssd:Connectors" if above == "ssd:System":
            return "connectors of the system itself are not supported; expected components only"
        case "ssd:Connector":
            return _connector_refusal(element)
        case "ssd:Component" if element.get("implementation") == "ModelExchange":
            return "implementation ModelExchange is not supported; expected CoSimulation or any"
    return _REFUSED.get(name)


def _connector_refusal(element: etree._Element) -> str | None:
    if element.get("kind") not in _KINDS:
        return (
            f"kind '{element.get('kind')}' is not supported; expected {', '.join(_KINDS[:-1])}"
            f" or {_KINDS[-1]}"
        )
    types = [inner for inner in map(tag, children(element)) if inner.startswith("ssc:")]
    return None if types else f"has no type; {_TYPES}"


def _annotation(element: etree._Element, findings: Findings) -> None:
    kind = element.get("type", "")
    holder = next(element.iterancestors(), None)
    parent = holder.getparent() if holder is not None else None
    above = tag(parent) if parent is not None else ""
    if not kind.startswith(OWN_TYPES):
        findings.note(element, f"annotation '{kind}' of {above}")
    elif kind not in PARENTS:
        findings.problem(
            element, f"unknown annotation '{kind}'; Softdock's are {', '.join(PARENTS)}"
        )
    elif PARENTS[kind] != above:
        findings.problem(
            element, f"annotation '{kind}' stands in {above}; expected {PARENTS[kind]}"
        )
