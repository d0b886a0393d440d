"""Signal dictionaries of the buses of a system, written in place."""

from __future__ import annotations

from dataclasses import replace

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.ssp.common.names import add
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.ssp.common.signal_types import add_enumerations, add_type, add_units
from orchestrator.core.system import Bus, Causality, Connector


def add_dictionaries(system: etree._Element, buses: list[Bus], version: str) -> None:
    """Append one dictionary for each name, with the entries of all its buses."""
    if not buses:
        return
    entries: dict[str, dict[str, Connector]] = {}
    for bus in buses:
        own = entries.setdefault(bus.dictionary, {})
        for name, connector in bus.connectors.items():
            plain = replace(connector, causality=Causality.INOUT, description="", start=None)
            if own.setdefault(name, plain) != plain:
                raise DescriptionError(
                    f"entry '{name}' of the dictionary '{bus.dictionary}' has different types on"
                    " two buses; expected one"
                )
    group = add(system, "ssd:SignalDictionaries")
    for dictionary, signals in sorted(entries.items()):
        outer = add(group, "ssd:SignalDictionary", name=dictionary)
        inner = add(outer, Schema.SIGNAL_DICTIONARY, version=version)
        for name, connector in sorted(signals.items()):
            add_type(add(inner, "ssb:DictionaryEntry", name=name), connector, version)
        used = [c for c in signals.values() if c.enumeration is not None]
        add_enumerations(inner, "ssb", {c.enumeration.name: c.enumeration for c in used})  # type: ignore[union-attr,misc]
        add_units(
            inner,
            "ssb",
            {c.unit: c.unit_definition for c in signals.values() if c.unit is not None},
        )
