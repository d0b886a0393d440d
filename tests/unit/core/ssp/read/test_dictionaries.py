"""Signal dictionaries as buses: in place or in files, found from the inside outwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp import read_ssd, write_ssd
from orchestrator.core.system import Causality, System

ENTRIES = (
    '<ssb:DictionaryEntry name="speed"><ssc:Real unit="m"/></ssb:DictionaryEntry>'
    '<ssb:DictionaryEntry name="gear"><ssc:Integer/></ssb:DictionaryEntry>'
    '<ssb:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit></ssb:Units>'
)
INLINE = f'<ssb:SignalDictionary version="1.0">{ENTRIES}</ssb:SignalDictionary>'
REFERENCE = (
    '<ssd:SignalDictionaryReference name="{}" dictionary="CAN"><ssd:Connectors>'
    '<ssd:Connector name="speed" kind="inout">{}</ssd:Connector></ssd:Connectors>'
    "</ssd:SignalDictionaryReference>"
)
TAKES = (
    '<ssd:Component name="c" type="application/x-softdock-block" source="block:q">'
    '<ssd:Connectors><ssd:Connector name="v" kind="input"><ssc:Real unit="m"/></ssd:Connector>'
    "</ssd:Connectors></ssd:Component>"
)
INSIDE = (
    f'<ssd:System name="s2"><ssd:Elements>{TAKES}{REFERENCE.format("bus2", "")}</ssd:Elements>'
    '<ssd:Connections><ssd:Connection startElement="c" startConnector="v" endElement="bus2"'
    ' endConnector="speed"/></ssd:Connections>{}</ssd:System>'
)
FED = '<ssd:Connection startElement="a" startConnector="x" endElement="bus" endConnector="speed"/>'


def dictionary(content: str = INLINE, attributes: str = "") -> str:
    return (
        f'<ssd:SignalDictionaries><ssd:SignalDictionary name="CAN" {attributes}>{content}'
        "</ssd:SignalDictionary></ssd:SignalDictionaries>"
    )


def bus_system(ssd: Any, **parts: str) -> System:
    elements = REFERENCE.format("bus", "") + INSIDE.replace("{}</ssd:System>", "</ssd:System>")
    return read_ssd(ssd(**{"elements": elements, "connections": FED, "top": dictionary()} | parts))


def test_a_bus_leads_from_one_system_to_another(ssd: Any) -> None:
    system = bus_system(ssd)
    bus = system.buses["bus"]
    assert bus.dictionary == system.systems["s2"].buses["bus2"].dictionary == "CAN"
    speed = bus.connectors["speed"]
    assert (speed.unit, speed.causality) == ("m", Causality.INOUT)
    assert [str(line) for line in system.flat().connections] == ["a.x -> s2/c.v"]


def test_a_dictionary_in_a_file(ssd: Any) -> None:
    spaces = (
        'xmlns:ssb="http://ssp-standard.org/SSP1/SystemStructureSignalDictionary"'
        ' xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"'
    )
    file = ssd().parent / "can.ssb"
    file.write_text(INLINE.replace(" version", f" {spaces} version", 1))
    system = bus_system(ssd, top=dictionary("", 'source="can.ssb"'))
    assert system == bus_system(ssd)


def test_the_nearest_dictionary_is_taken(ssd: Any) -> None:
    inside = INSIDE.replace("{}</ssd:System>", f"{dictionary()}</ssd:System>")
    elements = REFERENCE.format("bus", "") + inside
    system = bus_system(ssd, elements=elements)
    assert system.buses["bus"].dictionary != system.systems["s2"].buses["bus2"].dictionary
    assert not system.flat().connections  # nothing feeds the inner one


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"top": ""}, "no signal dictionary 'CAN'; there is no dictionary"),
        ({"top": dictionary("")}, "expected either a source or an inline ssb:SignalDictionary"),
        ({"top": dictionary(INLINE, 'source="x.ssb"')}, "expected either a source or"),
        ({"top": dictionary("", 'type="text/x-dbc" source="x.dbc"')}, "of type text/x-dbc"),
        (
            {"top": dictionary(INLINE.replace("speed", "other"))},
            "dictionary 'CAN' has no entry 'speed'; its entries are other and gear",
        ),
        ({"top": dictionary(INLINE.replace("gear", "speed"))}, "entry 'speed' is defined twice"),
    ],
)
def test_wrong_dictionaries_are_refused(ssd: Any, parts: dict[str, str], expected: str) -> None:
    with pytest.raises(SspError) as caught:
        bus_system(ssd, **parts)
    assert expected in str(caught.value)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_buses_come_back(ssd: Any, tmp_path: Path, version: str) -> None:
    system = bus_system(ssd)
    write_ssd(system, tmp_path / "back.ssd", version)
    assert read_ssd(tmp_path / "back.ssd") == system
