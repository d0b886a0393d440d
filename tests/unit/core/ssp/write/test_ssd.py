"""What is written is SSP 1.0, the same every time, and whole or not at all."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from orchestrator.author import read_system
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, SspError
from orchestrator.core.simunits import block
from orchestrator.core.ssp import read_ssd, write_ssd, write_ssp
from orchestrator.core.ssp.common.names import full
from orchestrator.core.ssp.common.schema import Schema, violations
from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    Connector,
    DataType,
    DefaultExperiment,
    Endpoint,
    Source,
    SourceKind,
    System,
    TransportDelay,
)
from orchestrator.core.units.conversion import base_unit


def of_block(*connectors: Connector, **values: object) -> System:
    source = Source(SourceKind.BLOCK, "plant")
    component = Component("c", source, {c.name: c for c in connectors})
    return System("s").add("c", component, **values)  # type: ignore[arg-type]


def test_a_system_comes_back_equal(capture: System, tmp_path: Path) -> None:
    path = tmp_path / "capture.ssd"
    write_ssd(capture, path)
    assert read_ssd(path) == capture


def test_the_file_is_valid_and_relative(capture: System, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    path = tmp_path / "deep" / "er" / "capture.ssd"
    write_ssd(capture, path)
    root = etree.parse(path).getroot()
    assert violations(root, Schema.DESCRIPTION) == []
    chaser, contact = root.iter(full("ssd:Component"))
    assert chaser.get("source") == "../../build/Chaser.fmu"
    assert chaser.get("type") == "application/x-fmu-sharedlibrary"
    assert contact.get("source") == "block:spring_dashpot"
    assert contact.get("type") == "application/x-softdock-block"
    assert read_ssd(path) == capture


def test_our_annotations_are_exact_decimals(capture: System, tmp_path: Path) -> None:
    path = tmp_path / "capture.ssd"
    write_ssd(capture, path)
    root = etree.parse(path).getroot()
    (delay,) = root.iter(full("sd:TransportDelay"))
    assert dict(delay.attrib) == {"nominal": "0.016", "unit": "s", "provenance": "measured"}
    assert delay.getparent().get("type") == "io.softdock.delay"
    (master,) = root.iter(full("sd:Master"))
    assert dict(master.attrib) == {"algorithm": "gauss-seidel", "step": "0.001"}
    assert root.find(full("ssd:DefaultExperiment")).get("stopTime") == "12.500000001"


@pytest.mark.parametrize("ns", [0, 1, 10, 16_000_000, 10**9, 123_456_789_123, 2**53 + 1, 2**63 - 1])
def test_times_come_back_to_the_nanosecond(ns: int, tmp_path: Path) -> None:
    block = of_block(Connector("x", Causality.OUTPUT), Connector("u", Causality.INPUT))
    line = block.connect("c.x", "c.u", delay=TransportDelay(ns))
    system = replace(line, experiment=DefaultExperiment(-ns, ns, ns))
    path = tmp_path / "s.ssd"
    write_ssd(system, path)
    assert read_ssd(path) == system


def test_equal_values_give_equal_bytes(capture: System, tmp_path: Path) -> None:
    write_ssd(capture, tmp_path / "a.ssd")
    chaser = capture.component("chaser")
    turned = replace(chaser, values=dict(reversed(chaser.values.items())))
    write_ssd(capture.replace(turned), tmp_path / "b.ssd")
    write_ssd(read_ssd(tmp_path / "a.ssd"), tmp_path / "c.ssd")
    first = (tmp_path / "a.ssd").read_bytes()
    assert (tmp_path / "b.ssd").read_bytes() == first
    assert (tmp_path / "c.ssd").read_bytes() == first


def test_units_are_defined_by_si_base_units(capture: System, tmp_path: Path) -> None:
    path = tmp_path / "capture.ssd"
    write_ssd(capture, path)
    root = etree.parse(path).getroot()
    defined = {
        unit.get("name"): dict(unit[0].attrib)
        for unit in root.find(full("ssd:Units")).iter(full("ssc:Unit"))
    }
    assert defined == {
        "N": {"kg": "1", "m": "1", "s": "-2"},
        "deg": {"rad": "1", "factor": "0.017453292519943295"},
        "kg": {"kg": "1"},
        "m": {"m": "1"},
        "mm": {"m": "1", "factor": "0.001"},
    }
    used = {typed.get("unit") for typed in root.iter(full("ssv:Real"))}
    assert used == {"N", "deg", "kg"}  # SSP: of the enclosing file
    assert not list(root.iter(full("ssv:Units")))


def test_what_is_alone_in_its_parent_stands_on_the_line_of_its_parent(
    capture: System, tmp_path: Path
) -> None:
    path = tmp_path / "capture.ssd"
    write_ssd(capture, path)
    lines = path.read_text().splitlines()
    (line,) = (line.strip() for line in lines if "io.softdock.delay" in line)
    assert line == (
        '<ssd:Connection startElement="chaser" startConnector="position" endElement="contact"'
        ' endConnector="position"><ssd:Annotations><ssc:Annotation type="io.softdock.delay">'
        '<sd:TransportDelay nominal="0.016" unit="s" provenance="measured"/></ssc:Annotation>'
        "</ssd:Annotations></ssd:Connection>"
    )
    first = next(i for i, line in enumerate(lines) if "<ssv:ParameterSet" in line)
    last = next(i for i, line in enumerate(lines) if "</ssv:ParameterSet" in line)
    margin = len(lines[first]) - len(lines[first].lstrip())
    assert lines[last] == " " * margin + "".join(
        f"</{name}>"
        for name in (
            "ssv:Parameters",
            "ssv:ParameterSet",
            "ssd:ParameterValues",
            "ssd:ParameterBinding",
            "ssd:ParameterBindings",
        )
    )
    assert all(
        line.startswith(" " * (margin + 2) + "<ssv:Parameter ") for line in lines[first + 1 : last]
    )


def test_temperatures_have_an_offset() -> None:
    assert base_unit("degC").exponents == {"K": 1}
    assert (base_unit("degC").factor, base_unit("degC").offset) == (1.0, 273.15)


def test_a_level_and_units_of_engineers_come_back_as_they_were(tmp_path: Path) -> None:
    level = Connector("level", Causality.OUTPUT, unit="dB")
    torque = Connector("torque", Causality.INPUT, unit="Nm")
    system, path = of_block(level, torque), tmp_path / "SystemStructure.ssd"
    write_ssd(system, path)
    assert read_ssd(path) == system  # without definitions: their names say all
    defined = {
        unit.get("name"): dict(unit[0].attrib) for unit in etree.parse(path).iter(full("ssc:Unit"))
    }
    assert defined == {"dB": {}, "Nm": {"kg": "1", "m": "2", "s": "-2"}}
    assert not violations(etree.parse(path).getroot(), Schema.DESCRIPTION)


@pytest.mark.parametrize(
    "connector",
    [
        Connector("tick", Causality.INPUT, DataType.CLOCK),
        Connector("n", Causality.STRUCTURAL_PARAMETER),
        Connector("c", Causality.CONSTANT),
        Connector("l", Causality.LOCAL),
        Connector("a", Causality.OUTPUT, shape=(2,)),
    ],
)
def test_what_only_the_newer_version_holds(connector: Connector, tmp_path: Path, wording) -> None:
    system, path = of_block(connector), tmp_path / "SystemStructure.ssd"
    with wording.raises(CapabilityError):
        write_ssd(system, path, "1.0")
    write_ssd(system, path, "2.0")
    assert read_ssd(path) == system


def test_arrays_are_refused(tmp_path: Path, wording) -> None:
    system = of_block(
        Connector("torque", Causality.INPUT, unit="N.m", shape=(3,)),
        Connector("pose", Causality.OUTPUT, shape=(4, 4)),
    )
    with wording.raises(CapabilityError) as caught:
        write_ssd(system, tmp_path / "s.ssd", "1.0")
    text = str(caught.value)
    assert "component 'c' (block:plant): connector 'torque'" in text
    assert "(3,)" in text
    assert "connector 'pose'" in text
    assert not list(tmp_path.iterdir())


def test_all_that_does_not_fit_is_listed_together(tmp_path: Path) -> None:
    system = of_block(
        Connector("count", Causality.OUTPUT, DataType.INTEGER, unit="s"),
        Connector("y", Causality.OUTPUT),
        Connector("n", Causality.PARAMETER, DataType.INTEGER),
        Connector("text", Causality.PARAMETER, DataType.STRING),
        Connector("odd", Causality.PARAMETER, unit="furlongs per x"),
        Connector("bits", Causality.PARAMETER, unit="bit"),
        y=1.0,
        n=2**31,
        text=4,
    ).add("bad", Component("bad", Source(SourceKind.FMU, "plant.so")))
    gone = Connection(Endpoint("c", "yy"), Endpoint("d", "u"))
    system = replace(system, connections=(gone,), name="")
    with pytest.raises(DescriptionError) as caught:
        write_ssd(system, tmp_path / "s.ssd", "1.0")
    text = str(caught.value)
    for expected in (
        "connector 'count': is of type Integer in s",
        "'y' is an output",
        "2147483648 does not fit 32 bits",
        "'text': expected a String, found 4",
        "'furlongs per x' is not a unit",
        "'bit' is not made of whole powers",
        "'plant.so'",
        "component 'c' has no connector 'yy'",
        "empty name",
    ):
        assert expected in text


@pytest.mark.parametrize("text", ["a\0b", "\x07", "\ud800", "\ufffe"])
def test_text_that_xml_cannot_hold_is_refused(text: str, tmp_path: Path, wording) -> None:
    system = of_block(Connector("p", Causality.PARAMETER, DataType.STRING), p=text)
    with wording.raises(DescriptionError):
        write_ssd(system, tmp_path / "s.ssd", "1.0")


def test_an_unknown_end_is_refused(tmp_path: Path, wording) -> None:
    system = System("s", connections=(Connection(Endpoint("a", "x"), Endpoint("b", "u")),))
    with wording.raises(DescriptionError):
        write_ssd(system, tmp_path / "s.ssd", "1.0")


def test_a_failed_write_leaves_the_old_file(
    capture: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording
) -> None:
    path = tmp_path / "capture.ssd"
    write_ssd(capture, path)
    before, files = path.read_bytes(), sorted(tmp_path.iterdir())

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with wording.raises(SspError):
        write_ssd(capture.set("chaser.m", 1.0), path)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files


def test_a_missing_folder_is_an_ssp_error(capture: System, tmp_path: Path, wording) -> None:
    with wording.raises(SspError):
        write_ssd(capture, tmp_path / "none" / "capture.ssd")


def test_values_without_declared_connectors_keep_their_type(tmp_path: Path) -> None:
    values = {"b": True, "i": 3, "r": 3.0, "s": "3", "big": 1e300, "inf": float("inf")}
    part = Component("c", Source(SourceKind.BLOCK, "odd name/#%é"), values=values)
    system = System("s", {"c": part})
    write_ssd(system, tmp_path / "s.ssd")
    back = read_ssd(tmp_path / "s.ssd")
    assert back == system
    assert [type(v) for v in back.component("c").values.values()].count(bool) == 1


def test_paths_are_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a b#c%20:é" / "x y?.fmu"
    system = System("s").add("c", Component("c", Source(SourceKind.FMU, str(path))))
    write_ssd(system, tmp_path / "s.ssd")
    assert read_ssd(tmp_path / "s.ssd") == system


def test_without_a_version_the_first_that_can_hold_the_system_is_written(tmp_path, wording):
    scalar = System("s").add("damper", block("virtual_damper"), b=60.0)
    arrays = System("a").add("spring", block("virtual_spring"))
    for system, version in ((scalar, "1.0"), (arrays, "2.0")):
        for write, suffix in ((write_ssd, ".ssd"), (write_ssp, ".ssp")):
            path = tmp_path / f"{system.name}{suffix}"
            write(system, path)
            assert read_system(path).components.keys() == system.components.keys()
            with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
                path.write_bytes(archive.read("SystemStructure.ssd"))
            assert f'version="{version}"' in path.read_text()[:1000]
    with wording.raises(CapabilityError):
        write_ssd(arrays, tmp_path / "a.ssd", "1.0")
