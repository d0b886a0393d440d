"""What is not valid, but clear: another order of elements, empty groups, what others add."""

from __future__ import annotations

from typing import Final

from lxml import etree

from orchestrator.core.ssp.common.names import full, tag

_TYPES: Final = frozenset(
    [
        "ssc:Real",
        "ssc:Float64",
        "ssc:Float32",
        "ssc:Integer",
        "ssc:Int8",
        "ssc:UInt8",
        "ssc:Int16",
        "ssc:UInt16",
        "ssc:Int32",
        "ssc:UInt32",
        "ssc:Int64",
        "ssc:UInt64",
        "ssc:Boolean",
        "ssc:String",
        "ssc:Enumeration",
        "ssc:Binary",
        "ssc:Clock",
    ]
)
_VALUES: Final = frozenset(name.replace("ssc:", "ssv:") for name in _TYPES)
_MAPPINGS: Final = frozenset(
    [
        "ssc:LinearTransformation",
        "ssc:BooleanMappingTransformation",
        "ssc:IntegerMappingTransformation",
        "ssc:EnumerationMappingTransformation",
    ]
)
_ELEMENT: Final = frozenset(
    [
        "ssd:Connectors",
        "ssd:ElementGeometry",
        "ssd:ParameterBindings",
        "ssc:MetaData",
        "ssc:Signature",
        "ssd:Annotations",
    ]
)
_FILE: Final = frozenset(["ssc:MetaData", "ssc:Signature"])

#: Children that an element has somewhere in one of the versions, in whatever order.
_CHILDREN: Final = {
    "ssd:SystemStructureDescription": _FILE
    | {"ssd:System", "ssd:Enumerations", "ssd:Units", "ssd:DefaultExperiment", "ssd:Annotations"},
    "ssd:System": _ELEMENT
    | {
        "ssd:Elements",
        "ssd:Connections",
        "ssd:SignalDictionaries",
        "ssd:SystemGeometry",
        "ssd:GraphicalElements",
    },
    "ssd:Component": _ELEMENT,
    "ssd:SignalDictionaryReference": _ELEMENT,
    "ssd:Connector": _TYPES
    | {"ssc:Dimension", "ssd:Clock", "ssd:ConnectorGeometry", "ssd:Annotations"},
    "ssd:Connection": _MAPPINGS | {"ssd:ConnectionGeometry", "ssd:Annotations"},
    "ssd:ParameterBinding": _FILE
    | {"ssd:ParameterValues", "ssd:ParameterMapping", "ssd:Annotations"},
    "ssv:ParameterSet": _FILE
    | {"ssv:Parameters", "ssv:Enumerations", "ssv:Units", "ssv:Annotations"},
    "ssv:Parameter": _VALUES | {"ssc:Dimension", "ssv:Annotations"},
    "ssm:ParameterMapping": _FILE | {"ssm:MappingEntry", "ssm:Annotations"},
    "ssm:MappingEntry": _MAPPINGS | {"ssm:Annotations"},
    "ssb:SignalDictionary": _FILE
    | {"ssb:DictionaryEntry", "ssb:Enumerations", "ssb:Units", "ssb:Annotations"},
    "ssb:DictionaryEntry": _TYPES | {"ssc:Dimension", "ssb:Annotations"},
}
#: Of these one is enough, and the others would be read for it.
_ONCE: Final = _TYPES | _VALUES | _MAPPINGS | {"ssd:System", "ssv:Parameters"}
#: These stand any number of times.
_LISTED: Final = _FILE | {"ssc:Dimension", "ssd:Clock", "ssm:MappingEntry", "ssb:DictionaryEntry"}
#: Groups that may as well not be there if they are empty.
_MAY_BE_EMPTY: Final = frozenset(
    [
        "ssd:Connectors",
        "ssd:Elements",
        "ssd:Connections",
        "ssd:ParameterBindings",
        "ssd:Units",
        "ssd:Enumerations",
        "ssd:Annotations",
        "ssd:SignalDictionaries",
        "ssd:GraphicalElements",
        "ssv:Units",
        "ssv:Enumerations",
        "ssb:Units",
        "ssb:Enumerations",
        "ssv:Annotations",
        "ssm:Annotations",
        "ssb:Annotations",
        "ssc:Annotations",
        "ssc:Annotation",
    ]
)
#: Nothing in these is read.
_NOT_READ: Final = frozenset(
    [
        "ssd:ElementGeometry",
        "ssd:ConnectorGeometry",
        "ssd:ConnectionGeometry",
        "ssd:SystemGeometry",
        "ssd:GraphicalElements",
        "ssc:MetaData",
        "ssc:Signature",
        "ssc:Annotation",
    ]
)
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
    """Whether a file that is not valid at an element can be read all the same.

    Parameters
    ----------
    element
        Where the schema is violated.
    kind
        What libxml2 calls the violation.
    message
        In its words.
    """
    inside = [element, *element.iterancestors()]
    if any(tag(each) in _NOT_READ for each in inside):
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
    if name in _ONCE:
        once = [child for child in parent if tag(child) in _ONCE]
        return name in _CHILDREN.get(tag(parent), ()) and len(once) == 1
    same = parent.findall(full(name))
    repeats = len(same) > 1 and name not in _LISTED
    return name in _CHILDREN.get(tag(parent), ()) and not repeats
