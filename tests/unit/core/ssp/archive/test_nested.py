"""Systems in systems: in place, in other files, in archives, again by their id."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp import diagnose, read_ssd, read_system
from orchestrator.core.system import Causality, DataType, Endpoint

INNER = """<ssd:System name="{name}" {attributes}>
<ssd:Connectors>
<ssd:Connector name="in" kind="input"><ssc:Real unit="mm"/></ssd:Connector>
<ssd:Connector name="out" kind="output"><ssc:Real unit="m"/></ssd:Connector>
<ssd:Connector name="stiff" kind="parameter"/>
</ssd:Connectors>
<ssd:Elements><ssd:Component name="b" type="application/x-softdock-block" source="block:plant">
<ssd:Connectors>
<ssd:Connector name="x" kind="output"><ssc:Real unit="m"/></ssd:Connector>
<ssd:Connector name="u" kind="input"><ssc:Real unit="mm"/></ssd:Connector>
<ssd:Connector name="k" kind="parameter"><ssc:Real unit="N/m"/></ssd:Connector>
</ssd:Connectors></ssd:Component></ssd:Elements>
<ssd:Connections>
<ssd:Connection startConnector="in" endElement="b" endConnector="u"/>
<ssd:Connection startElement="b" startConnector="x" endConnector="out"/>
<ssd:Connection startElement="" startConnector="stiff" endElement="b" endConnector="k"/>
</ssd:Connections></ssd:System>"""
LINES = (
    '<ssd:Connection startElement="a" startConnector="x" endElement="arm" endConnector="in"/>'
    '<ssd:Connection startElement="arm" startConnector="out" endElement="a" endConnector="u"/>'
)


def inner(name: str = "arm", attributes: str = "") -> str:
    return INNER.format(name=name, attributes=attributes)


def refusal(path: Path) -> str:
    with pytest.raises(SspError) as caught:
        read_system(path)
    return str(caught.value)


def test_a_nested_system_has_connectors_and_flattens(ssd: Any) -> None:
    system = read_ssd(ssd(elements=inner(), connections=LINES))
    arm = system.systems["arm"]
    assert arm.connectors["in"].causality is Causality.INPUT
    assert arm.connections[0].source == Endpoint("", "in")
    assert arm.connections[2].source == Endpoint("", "stiff")  # startElement="" is left out
    flat = system.flat()
    assert list(flat.components) == ["a", "arm/b"]
    assert {str(line) for line in flat.connections} == {"a.x -> arm/b.u", "arm/b.x -> a.u"}


def test_what_a_connector_does_not_say_comes_from_what_it_is_connected_with(ssd: Any) -> None:
    stiff = read_ssd(ssd(elements=inner())).systems["arm"].connectors["stiff"]
    assert (stiff.type, stiff.unit, stiff.causality) == (
        DataType.REAL,
        "N/m",
        Causality.PARAMETER,
    )


def test_a_type_that_nothing_tells_is_a_warning(ssd: Any) -> None:
    alone = '<ssd:System name="s2"><ssd:Connectors><ssd:Connector name="p" kind="input"/>'
    system, found = diagnose(ssd(elements=f"{alone}</ssd:Connectors></ssd:System>"))
    assert system is not None
    assert system.systems["s2"].connectors["p"].type is DataType.REAL
    assert [each.code for each in found] == ["SSP110"]


def test_another_file_is_a_nested_system(ssd: Any) -> None:
    part = '<ssd:Component name="arm" type="application/x-ssp-definition" source="sub/arm.ssd"/>'
    path = ssd(elements=part, connections=LINES)
    whole = read_ssd(ssd(elements=inner(), connections=LINES)).systems["arm"]
    body = path.read_text()
    begin, end = body.index("<ssd:System "), body.rindex("</ssd:System>") + len("</ssd:System>")
    (path.parent / "sub").mkdir()
    (path.parent / "sub" / "arm.ssd").write_text(body[:begin] + inner("x") + body[end:])
    system = read_ssd(ssd(elements=part, connections=LINES))
    assert system.systems["arm"] == whole


def test_an_archive_in_an_archive_with_variants(ssd: Any, tmp_path: Path) -> None:
    path = ssd(system='name="one"')
    small = tmp_path / "inner.ssp"
    with zipfile.ZipFile(small, "w") as archive:
        archive.write(path, "SystemStructure.ssd")
        archive.writestr("B.ssd", ssd(system='name="two" description="B"').read_bytes())
    kind = 'type="application/x-ssp-package"'
    outer = ssd(
        elements=f'<ssd:Component name="p" {kind} source="resources/inner.ssp"/>'
        f'<ssd:Component name="q" {kind} source="resources/inner.ssp#B.ssd"/>'
    )
    with zipfile.ZipFile(tmp_path / "outer.ssp", "w") as archive:
        archive.write(outer, "SystemStructure.ssd")
        archive.write(small, "resources/inner.ssp")
    system = read_system(tmp_path / "outer.ssp")
    assert [system.systems[name].description for name in "pq"] == ["", "B"]
    assert list(system.flat().components) == ["a", "p/a", "q/a"]


def test_a_system_is_made_again_by_its_id(ssd: Any) -> None:
    again = '<ssd:Component name="leg" type="application/x-ssp-definition" source="#limb"/>'
    system = read_ssd(ssd(elements=inner(attributes='id="limb"') + again))
    arm, leg = system.systems["arm"], system.systems["leg"]
    assert leg.name == "leg"
    assert leg.components == arm.components
    missing = again.replace("#limb", "#wing")
    assert "source '#wing': no system has this id" in refusal(ssd(elements=missing))


def test_systems_that_contain_each_other_are_refused(ssd: Any) -> None:
    itself = '<ssd:Component name="arm" type="application/x-ssp-definition" source="{}"/>'
    text = refusal(ssd(elements=itself.format("SystemStructure.ssd")))
    assert "systems contain each other" in text
    inside = inner(attributes='id="arm"').replace(
        "</ssd:Elements>",
        itself.format("#arm").replace('name="arm"', 'name="c"') + "</ssd:Elements>",
    )
    assert "systems contain each other" in refusal(ssd(elements=inside))


def test_files_that_refer_to_each_other_twice_do_not_explode(
    ssd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.core.ssp.read.reading.MOST_ELEMENTS", 300)
    part = '<ssd:Component name="{}" type="application/x-ssp-definition" source="{}.ssd"/>'
    path = ssd()
    for number in range(30, 0, -1):
        both = part.format("p", number) + part.format("q", number)
        text = ssd(elements=both if number < 30 else "").read_text()
        (path.parent / f"{number - 1}.ssd").write_text(text)
    ssd(elements=part.format("p", 0))
    assert "have more than 300 elements" in refusal(path)


def test_what_a_component_declares_must_be_there(ssd: Any) -> None:
    part = (
        '<ssd:Component name="arm" type="application/x-ssp-definition" source="#limb">'
        '<ssd:Connectors><ssd:Connector name="out" kind="input"/>'
        '<ssd:Connector name="none" kind="input"/></ssd:Connectors></ssd:Component>'
    )
    text = refusal(ssd(elements=inner("limb", 'id="limb"') + part))
    assert "connector 'out': declared as input, but the system has an output" in text
    assert "connector 'none': declared as input, but the system has none" in text


def test_a_component_without_a_source_is_an_empty_system(ssd: Any) -> None:
    part = (
        '<ssd:Component name="idea" source=""><ssd:Connectors><ssd:Connector name="y"'
        ' kind="output"><ssc:Real/></ssd:Connector></ssd:Connectors></ssd:Component>'
    )
    system, found = diagnose(ssd(elements=part))
    assert system is not None
    assert list(system.systems["idea"].connectors) == ["y"]
    assert "SSP306" in [each.code for each in found]


def test_names_of_elements_may_be_anything(ssd: Any) -> None:
    names = ["b.c", "b/c", "b%2Ec", "100 %", "ä ö"]
    parts = "".join(
        f'<ssd:Component name="{name}" type="application/x-softdock-block" source="block:q"/>'
        for name in names
    )
    values = ssd.real("b.c.k", 1.0) + ssd.real("b/c.k", 2.0)
    system = read_ssd(ssd(elements=parts, bindings=ssd.binding(values)))
    assert list(system.components)[1:] == ["b%2Ec", "b%2Fc", "b%252Ec", "100 %", "ä ö"]
    assert system.component("b%2Ec").values == {"k": 1.0}
    assert system.component("b%2Fc").values == {"k": 2.0}
