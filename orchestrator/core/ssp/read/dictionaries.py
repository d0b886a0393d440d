"""Signal dictionaries and the references to them: buses of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lxml import etree

from orchestrator.core.ssp.archive.sources import Place
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.common.names import SIGNAL_DICTIONARY_TYPE, children, full, listed, tag
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.ssp.common.signal_types import Definitions, read_type
from orchestrator.core.ssp.read.connectors import Declared, completed
from orchestrator.core.ssp.read.reading import Reading
from orchestrator.core.system import Bus, Causality, Connector

_CLAUSE: Final = "SSP 2.0, 5.3.3"


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A signal dictionary.

    Parameters
    ----------
    name
        Unique among all dictionaries: that of the file, with a number behind it where another one
        has the same.
    entries
        Signals by name.
    """

    name: str
    entries: Mapping[str, Connector]


def read_dictionaries(
    system: etree._Element, place: Place, findings: Findings, reading: Reading
) -> dict[str, Dictionary]:
    """Read the dictionaries that a system defines; problems go to the findings."""
    found: dict[str, Dictionary] = {}
    for element in listed(system, "ssd:SignalDictionaries", "ssd:SignalDictionary"):
        name = element.get("name", "")
        if name in found:
            findings.error(codes.TAKEN, element, f"dictionary '{name}' is defined twice", _CLAUSE)
            continue
        with findings.guard(element, codes.DICTIONARY):
            root, where = _root(element, place, findings, reading)
            found[name] = Dictionary(reading.unique(name), read_entries(root, where))
    return found


def _root(
    element: etree._Element, place: Place, findings: Findings, reading: Reading
) -> tuple[etree._Element, Findings]:
    kind, source = element.get("type", SIGNAL_DICTIONARY_TYPE), element.get("source")
    if kind != SIGNAL_DICTIONARY_TYPE:
        raise refusal(
            codes.CONTENT_TYPE, f"dictionary of type {kind}: expected {SIGNAL_DICTIONARY_TYPE}"
        )
    inline = [inner for inner in children(element) if tag(inner) == Schema.SIGNAL_DICTIONARY]
    if (source is None) == (not inline):
        raise refusal(
            codes.DICTIONARY, "expected either a source or an inline ssb:SignalDictionary", _CLAUSE
        )
    if source is None:
        return inline[0], findings
    return reading.document(source, place, Schema.SIGNAL_DICTIONARY, findings)


def read_entries(root: etree._Element, findings: Findings) -> dict[str, Connector]:
    """Read the entries of an ssb:SignalDictionary; problems go to the findings."""
    definitions = Definitions.of(root, "ssb", findings)
    found: dict[str, Connector] = {}
    for element in root.findall(full("ssb:DictionaryEntry")):
        name = element.get("name", "")
        if name in found:
            findings.error(codes.TAKEN, element, f"entry '{name}' is defined twice", "SSP 2.0, 8.1")
            continue
        with findings.guard(element, codes.SCHEMA):
            typed = read_type(element, definitions)
            if typed.type is None or typed.shape is None:
                findings.warning(
                    codes.NO_TYPE, element, "the type of the entry is not said", "SSP 2.0, 8.1"
                )
                continue
            found[name] = Connector(
                name,
                Causality.INOUT,
                typed.type,
                typed.unit,
                typed.shape,
                element.get("description", ""),
                enumeration=typed.enumeration,
                unit_definition=typed.definition,
            )
    return found


def read_bus(
    element: etree._Element,
    name: str,
    declared: Declared,
    known: Mapping[str, Dictionary],
    findings: Findings,
) -> Bus:
    """Make a bus of an ssd:SignalDictionaryReference."""
    wanted = element.get("dictionary", "")
    if wanted not in known:
        raise refusal(
            codes.DICTIONARY,
            f"no signal dictionary '{wanted}' (known: {', '.join(known) or 'none'})",
            _CLAUSE,
        )
    dictionary = known[wanted]
    connectors: dict[str, Connector] = {}
    for key, kind in declared.kinds.items():
        where = declared.elements[key]
        entry = dictionary.entries.get(key)
        if entry is None:
            findings.error(
                codes.DICTIONARY,
                where,
                f"dictionary '{wanted}' has no entry '{key}'; it has:"
                f" {', '.join(dictionary.entries) or 'none'}",
                "SSP 2.0, 5.5",
            )
        elif key in declared.connectors:
            connectors[key] = declared.connectors[key]
        elif key in declared.partial:
            with findings.guard(where, codes.OWN):
                said = kind if kind in set(Causality) else str(Causality.INOUT)
                connectors[key] = completed(where, declared.partial[key], said, entry)
    return Bus(name, dictionary.name, connectors)
