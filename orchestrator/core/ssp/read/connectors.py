"""Connectors of components, systems and buses, and the signal dictionaries that buses refer to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, SspError, choices_for
from orchestrator.core.ssp.archive.sources import Place
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.annotations import (
    CONNECTOR_TYPE,
    annotate,
    empty,
    only,
    own_annotation,
)
from orchestrator.core.ssp.common.codes import Findings, refusal
from orchestrator.core.ssp.common.names import (
    SIGNAL_DICTIONARY_TYPE,
    add,
    child,
    children,
    full,
    listed,
    tag,
)
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.ssp.common.signal_types import Definitions, Typed, add_type, read_type
from orchestrator.core.ssp.read.reading import Reading
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Bus, Causality, Connector, DataType, Value, Variability

_CLAUSE: Final = "SSP 2.0, 5.2.1"
#: Kinds that SSP 1.0 does not have.
NEW_KINDS: Final = {Causality.STRUCTURAL_PARAMETER, Causality.CONSTANT, Causality.LOCAL}
UNSPECIFIED: Final = "unspecified"
_KINDS: Final = {*Causality, UNSPECIFIED}


class DeclaredConnectors(NamedTuple):
    """Connectors that an element declares.

    parent: The element.
    connectors: Connectors with a declared type, by name.
    kinds: Kind of every declared connector, in the words of SSP.
    partial: Attributes of the others, whose type or extent comes from elsewhere.
    """

    parent: etree._Element
    connectors: dict[str, Connector]
    kinds: dict[str, str]
    partial: dict[str, Typed]

    def element(self, name: str) -> etree._Element:
        """Return where a connector stands."""
        every = listed(self.parent, "ssd:Connectors", "ssd:Connector")
        return next(
            child_element
            for child_element in every
            if _is_declared(child_element) and child_element.get("name", "") == name
        )


def _is_declared(connector: etree._Element) -> bool:
    return connector.get("kind", "") in _KINDS  # the schema has listed the others


def read_connectors(
    parent: etree._Element,
    definitions: Definitions,
    findings: Findings,
    cache: dict[bytes, DeclaredConnectors],
) -> DeclaredConnectors:
    """Read the connectors of an element; problems go to the findings.

    cache: What was read in this file without findings, by its text.
    """
    groups = list(parent.iterchildren(full("ssd:Connectors")))
    text = b"".join([etree.tostring(group, with_tail=False) for group in groups])
    same = cache.get(text)
    if same is not None:
        return same._replace(parent=parent)
    count = len(findings.diagnostics)
    declared = DeclaredConnectors(parent, {}, {}, {})
    for element in filter(_is_declared, listed(parent, "ssd:Connectors", "ssd:Connector")):
        name, kind = element.get("name", ""), element.get("kind", "")
        if name in declared.kinds:
            findings.error(codes.TAKEN, element, "the name is taken by another connector", _CLAUSE)
            continue
        declared.kinds[name] = kind
        with findings.guard(element, codes.SCHEMA):
            typed = read_type(element, definitions)
            _note_clock(element, findings)
            if kind == UNSPECIFIED or typed.type is None or typed.shape is None:
                declared.partial[name] = typed
            else:
                declared.connectors[name] = _connector(element, Causality(kind), typed)
    if len(findings.diagnostics) == count:
        cache[text] = declared
    return declared


def completed(element: etree._Element, typed: Typed, kind: str, model: Connector) -> Connector:
    """Make a connector of what its file says of it, and for the rest of one that it goes with."""
    typed_fully = Typed(
        typed.type or model.type,
        typed.unit or model.unit,
        typed.definition if typed.unit else model.unit_definition,
        typed.enumeration or model.enumeration,
        model.shape if typed.type is None or typed.shape is None else typed.shape,
    )
    return _connector(element, Causality(kind), typed_fully)


def _connector(element: etree._Element, kind: Causality, typed: Typed) -> Connector:
    connector = Connector(
        element.get("name", ""),
        kind,
        typed.type or DataType.REAL,
        typed.unit,
        typed.shape or (),
        element.get("description", ""),
        enumeration=typed.enumeration,
        unit_definition=typed.definition,
    )
    extra = own_annotation(element, CONNECTOR_TYPE, "sd:Connector")
    return connector if extra is None else _with_extra(connector, extra)


def _note_clock(element: etree._Element, findings: Findings) -> None:
    clocks = [clock.get("name", "") for clock in element.findall(full("ssd:Clock"))]
    typed = child(element, "ssc:Clock")
    if clocks:
        findings.note(codes.DETAIL, element, f"ticks with {', '.join(clocks)}")
    if typed is not None and typed.attrib:
        findings.note(codes.DETAIL, typed, "interval of a clock")


def _with_extra(connector: Connector, extra: etree._Element) -> Connector:
    empty(extra)
    only(extra, ("start", "variability"))
    variability = extra.get("variability", Variability.CONTINUOUS)
    if variability not in set(Variability):
        raise SspError(
            f"sd:Connector: expected variability {', '.join(Variability)}, found '{variability}'"
        )
    start = extra.get("start")
    return replace(
        connector,
        variability=Variability(variability),
        start=None if start is None else _start_of(start, connector),
    )


def _start_of(text: str, connector: Connector) -> Value:
    """Read a start value: JSON, with bytes as hexadecimal digits."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise SspError(f"sd:Connector: expected start as JSON, found '{text[:60]}'") from None
    binary = connector.type is DataType.BINARY
    elements = read if isinstance(read, list) else [read]
    try:
        typed = tuple(
            bytes.fromhex(element_text) if binary else element_text for element_text in elements
        )
    except (ValueError, TypeError):
        raise SspError("sd:Connector: expected start in hexadecimal digits") from None
    start = typed if isinstance(read, list) else typed[0]
    if not connector.accepts(start):
        raise SspError(f"sd:Connector: start '{text[:60]}' is not of type {connector.type}")
    return start


def add_connector(
    group: etree._Element, connector: Connector, version: str, *, is_system_connector: bool
) -> None:
    """Append a connector; of a system's own also what its source cannot say."""
    if connector.causality in NEW_KINDS and version == "1.0":
        raise CapabilityError(
            f"is of kind {connector.causality}, which SSP 1.0 does not have: write version 2.0, or"
            " leave it out"
        )
    element = add(group, "ssd:Connector", name=connector.name, kind=str(connector.causality))
    if connector.description:
        element.set("description", connector.description)
    add_type(element, connector, version)
    if not is_system_connector:
        return
    extra = {}
    if connector.start is not None:
        start = connector.start if isinstance(connector.start, tuple) else (connector.start,)
        plain = [item.hex() if isinstance(item, bytes) else item for item in start]
        values = plain if isinstance(connector.start, tuple) else plain[0]
        extra["start"] = json.dumps(values, ensure_ascii=False)
    if connector.variability is not Variability.CONTINUOUS:
        extra["variability"] = str(connector.variability)
    if extra:
        add(annotate(element, CONNECTOR_TYPE), "sd:Connector", **extra)


_DICTIONARY_CLAUSE: Final = "SSP 2.0, 5.3.3"


class Dictionary(Struct):
    """A signal dictionary.

    name: Unique among all dictionaries: that of the file, with a number behind it where another one
        has the same.
    entries: Signals by name.
    """

    name: str
    entries: Mapping[str, Connector]


def read_dictionaries(
    system: etree._Element, location: Place, findings: Findings, reading: Reading
) -> dict[str, Dictionary]:
    """Read the dictionaries that a system defines; problems go to the findings."""
    dictionaries: dict[str, Dictionary] = {}
    for element in listed(system, "ssd:SignalDictionaries", "ssd:SignalDictionary"):
        name = element.get("name", "")
        if name in dictionaries:
            findings.error(
                codes.TAKEN,
                element,
                f"dictionary '{name}' is defined twice",
                _DICTIONARY_CLAUSE,
            )
            continue
        with findings.guard(element, codes.DICTIONARY):
            root, file_location = _root(element, location, findings, reading)
            dictionaries[name] = Dictionary(reading.unique(name), read_entries(root, file_location))
    return dictionaries


def _root(
    element: etree._Element, location: Place, findings: Findings, reading: Reading
) -> tuple[etree._Element, Findings]:
    kind, source = element.get("type", SIGNAL_DICTIONARY_TYPE), element.get("source")
    if kind != SIGNAL_DICTIONARY_TYPE:
        raise refusal(
            codes.CONTENT_TYPE, f"dictionary of type {kind}: expected {SIGNAL_DICTIONARY_TYPE}"
        )
    inline = [inner for inner in children(element) if tag(inner) == Schema.SIGNAL_DICTIONARY]
    if (source is None) == (not inline):
        raise refusal(
            codes.DICTIONARY,
            "expected either a source or an inline ssb:SignalDictionary",
            _DICTIONARY_CLAUSE,
        )
    if source is None:
        return inline[0], findings
    return reading.document(source, location, Schema.SIGNAL_DICTIONARY, findings)


def read_entries(root: etree._Element, findings: Findings) -> dict[str, Connector]:
    """Read the entries of an ssb:SignalDictionary; problems go to the findings."""
    definitions = Definitions.of(root, "ssb", findings)
    entries: dict[str, Connector] = {}
    for element in root.findall(full("ssb:DictionaryEntry")):
        name = element.get("name", "")
        if name in entries:
            findings.error(codes.TAKEN, element, f"entry '{name}' is defined twice", "SSP 2.0, 8.1")
            continue
        with findings.guard(element, codes.SCHEMA):
            typed = read_type(element, definitions)
            if typed.type is None or typed.shape is None:
                findings.warning(
                    codes.NO_TYPE, element, "the type of the entry is not said", "SSP 2.0, 8.1"
                )
                continue
            entries[name] = Connector(
                name,
                Causality.INOUT,
                typed.type,
                typed.unit,
                typed.shape,
                element.get("description", ""),
                enumeration=typed.enumeration,
                unit_definition=typed.definition,
            )
    return entries


def read_bus(
    element: etree._Element,
    name: str,
    declared: DeclaredConnectors,
    dictionaries: Mapping[str, Dictionary],
    findings: Findings,
) -> Bus:
    """Make a bus of an ssd:SignalDictionaryReference."""
    dictionary_name = element.get("dictionary", "")
    if dictionary_name not in dictionaries:
        raise refusal(
            codes.DICTIONARY,
            f"no signal dictionary '{dictionary_name}'"
            f"{choices_for(dictionary_name, dictionaries, 'dictionary')}",
            _DICTIONARY_CLAUSE,
        )
    dictionary = dictionaries[dictionary_name]
    connectors: dict[str, Connector] = {}
    for key, kind in declared.kinds.items():
        entry_element = declared.element(key)
        entry = dictionary.entries.get(key)
        if entry is None:
            findings.error(
                codes.DICTIONARY,
                entry_element,
                f"dictionary '{dictionary_name}' has no entry '{key}'"
                f"{choices_for(key, dictionary.entries, 'entry', 'its')}",
                "SSP 2.0, 5.5",
            )
        elif key in declared.connectors:
            connectors[key] = declared.connectors[key]
        elif key in declared.partial:
            with findings.guard(entry_element, codes.OWN):
                causality = kind if kind in set(Causality) else str(Causality.INOUT)
                connectors[key] = completed(entry_element, declared.partial[key], causality, entry)
    return Bus(name, dictionary.name, connectors)
