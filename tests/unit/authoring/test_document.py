"""SSDs are edited where they stand: formatting, comments and what others wrote stay."""

import os
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.diagnostics import DescriptionError, LoadError, SspError
from orchestrator.ssp import Document, read_ssd, read_system, write_ssp
from orchestrator.system import Component, Source, SourceKind, System

#: As a person or another tool writes it: other prefixes, quotes, comments, geometry, metadata.
TEXT = """<?xml version='1.0' encoding="UTF-8"?>
<!-- the rig, by hand -->
<SystemStructureDescription xmlns="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:c='http://ssp-standard.org/SSP1/SystemStructureCommon'
    xmlns:v='http://ssp-standard.org/SSP1/SystemStructureParameterValues'
    version = '1.0' name="rig" author="A &amp; B" >
    <System name="rig">
        <ParameterBindings>
            <ParameterBinding source="plant.ssv"/>
        </ParameterBindings>
        <Elements>
            <Component name="plant" type="application/x-softdock-block" source="block:plant">
                <!-- p -->
                <Connectors>
                    <Connector name="y" kind="output"><c:Real unit="m"/>
                        <ConnectorGeometry x="1" y="0.5"/></Connector>
                    <Connector name="u" kind="input"><c:Real unit="N"/></Connector>
                    <Connector name="k" kind="parameter"><c:Real/></Connector>
                    <Connector name="m" kind="parameter"><c:Real/></Connector>
                </Connectors>
                <ElementGeometry x1="0" y1="0"   x2="10" y2='10'/>
                <ParameterBindings><ParameterBinding><ParameterValues>
                    <v:ParameterSet version="1.0" name="p"><v:Parameters>
                        <v:Parameter name="k"><v:Real value = '3.5'/></v:Parameter> <!-- stiff -->
                    </v:Parameters></v:ParameterSet>
                </ParameterValues></ParameterBinding></ParameterBindings>
            </Component>
            <Component name="control" type="application/x-softdock-block" source="block:gain"/>
        </Elements>
        <Connections>
            <Connection startElement="plant" startConnector="y"
                    endElement="control" endConnector="u">
                <ConnectionGeometry pointsX="1 2" pointsY="3 4"/>
                <Annotations>
                    <c:Annotation type="com.example.colour"><b xmlns="urn:example"/></c:Annotation>
                </Annotations>
            </Connection>
        </Connections>
    </System>
</SystemStructureDescription>
<!-- the end -->
"""
VALUES = """<?xml version="1.0" encoding="UTF-8"?>
<v:ParameterSet xmlns:v='http://ssp-standard.org/SSP1/SystemStructureParameterValues'
    version="1.0" name="plant"><v:Parameters>
    <v:Parameter name="plant.m"><v:Real value="7.0"/></v:Parameter>
</v:Parameters></v:ParameterSet>
"""


@pytest.fixture
def file(tmp_path) -> Path:
    (tmp_path / "plant.ssv").write_text(VALUES)
    path = tmp_path / "SystemStructure.ssd"
    path.write_text(TEXT)
    return path


OURS = "https://softdock.io/ssp/1"
LINE = 'startElement="control" startConnector="y" endElement="relay" endConnector="u"'


def changed(document):
    """Lines that have gone and come."""
    before = TEXT.splitlines()
    after = document.content.decode().splitlines()
    gone = [line.strip() for line in before if line not in after]
    return gone, [line.strip() for line in after if line not in before]


def test_nothing_changed_is_nothing_written(file):
    document = Document.open(file)
    stamp = file.stat().st_mtime_ns
    document.update(document.system)
    assert document.content == TEXT.encode()
    document.save()
    assert file.stat().st_mtime_ns == stamp


def test_a_value_is_changed_in_its_place(file):
    document = Document.open(file)
    document.update(document.system.set("plant.k", 4.0))
    assert changed(document) == (
        ["<v:Parameter name=\"k\"><v:Real value = '3.5'/></v:Parameter> <!-- stiff -->"],
        ['<v:Parameter name="k"><v:Real value = "4.0"/></v:Parameter> <!-- stiff -->'],
    )


def test_a_value_of_another_file_is_overridden_behind_it(file):
    document = Document.open(file)
    assert document.system.value("plant.m") == 7.0
    document.update(document.system.set("plant.m", 8.0))
    document.save()
    assert read_ssd(file).value("plant.m") == 8.0
    assert (file.parent / "plant.ssv").read_text() == VALUES
    gone, new = changed(document)
    assert gone == []
    assert '<v:Parameter name="plant.m">' in new
    with pytest.raises(SspError, match="stands in another file; change that file"):
        document.update(document.system.unset("plant.m"))


def test_others_annotations_and_geometry_stay(file):
    document = Document.open(file)
    document.update(document.system.with_delay("plant.y", "control.u", "16 ms"))
    gone, new = changed(document)
    assert gone == []
    assert new == [
        '<c:Annotation type="io.softdock.delay">',
        f'<sd:TransportDelay xmlns:sd="{OURS}" nominal="0.016" unit="s" provenance="assumed"/>',
        "</c:Annotation>",
    ]
    document.update(document.system.with_delay("plant.y", "control.u", None))
    assert document.content == TEXT.encode()


def test_new_parts_take_the_layout_and_the_prefixes_of_the_file(file):
    document = Document.open(file)
    grown = document.system.add("relay", Component("r", Source(SourceKind.BLOCK, "relay")))
    document.update(grown.connect("control.y", "relay.u"))
    assert changed(document) == (
        [],
        [
            '<Component name="relay" type="application/x-softdock-block" source="block:relay"/>',
            f"<Connection {LINE}/>",
        ],
    )
    assert '\n            <Component name="relay"' in document.content.decode()


def test_the_last_connection_takes_its_group_along(file):
    document = Document.open(file)
    document.update(document.system.disconnect("plant.y"))
    assert "<Connections>" not in document.content.decode()
    assert "<!-- stiff -->" in document.content.decode()


def test_a_name_is_changed_wherever_it_stands(file):
    document = Document.open(file)
    document.rename("control", "governor")
    assert document.system.connections[0].target.component == "governor"
    assert document.content == TEXT.replace('"control"', '"governor"').encode()
    document.rename("plant", "body")
    assert document.system.value("body.m") == 7.0, "plant.ssv gives it under the old name"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_line_ends_and_encodings_stay(file, encoding):
    name = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", "iso-8859-1": "ISO-8859-1"}[encoding]
    text = TEXT.replace('"UTF-8"', f'"{name}"', 1).replace("by hand", "für Ärger")
    content = text.replace("\n", "\r\n").encode(encoding)
    file.write_bytes(content)
    document = Document.open(file)
    document.update(document.system.set("plant.k", 4.0))
    wanted = text.replace("value = '3.5'", 'value = "4.0"').replace("\n", "\r\n")
    assert document.content == wanted.encode(encoding)


def test_a_file_that_was_changed_meanwhile_is_not_written_over(file):
    document = Document.open(file)
    document.update(document.system.set("plant.k", 4.0))
    file.write_text(TEXT + "<!-- later -->\n")
    with pytest.raises(SspError, match="was changed by something else since it was opened"):
        document.save()
    assert file.read_text() == TEXT + "<!-- later -->\n"


def test_a_file_that_cannot_be_written_stays(file, monkeypatch):
    document = Document.open(file)
    document.update(document.system.set("plant.k", 4.0))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SspError, match="the old file is untouched"):
        document.save()
    assert file.read_text() == TEXT
    assert sorted(p.name for p in file.parent.iterdir()) == ["SystemStructure.ssd", "plant.ssv"]


def test_what_ssp_cannot_hold_is_refused(file):
    document = Document.open(file)
    port = document.system.components["plant"].connectors["k"]
    plant = replace(
        document.system.components["plant"], connectors={"k": replace(port, shape=(3,))}
    )
    with pytest.raises(DescriptionError, match=r"SSP 1\.0 has no arrays"):
        document.update(document.system.replace(plant))
    assert document.content == TEXT.encode()


def test_unsafe_text_is_refused(file):
    file.write_text(TEXT.replace("<!-- the rig", '<!DOCTYPE a [<!ENTITY b "c">]><!-- the rig'))
    with pytest.raises(SspError, match="document type declaration"):
        Document.open(file)
    with pytest.raises(LoadError, match="cannot be read"):
        Document.open(file.with_name("nothing.ssd"))


@pytest.fixture
def packed(tmp_path):
    """An archive with an FMU, and a variant that is deflated and of its own time."""
    fmu = tmp_path / "Plant.fmu"
    fmu.write_bytes(b"the bytes of an FMU" * 50)
    system = System("rig").add("plant", Component("p", Source(SourceKind.FMU, str(fmu))))
    path = tmp_path / "rig.ssp"
    write_ssp(system, path)
    note = zipfile.ZipInfo("notes/readme.txt", (2020, 2, 3, 4, 5, 6))
    note.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(note, "by hand " * 20)
        archive.writestr("soft.ssd", archive.read("SystemStructure.ssd"))
        archive.comment = b"a remark"
    return path


def entries(path):
    with zipfile.ZipFile(path) as archive:
        told = [
            (e.filename, e.date_time, e.compress_type, e.external_attr, archive.read(e))
            for e in archive.infolist()
        ]
        return archive.comment, told


def test_other_entries_of_an_archive_stay(packed):
    before = entries(packed)
    document = Document.open(packed, "soft")
    document.save()
    assert entries(packed) == before
    document.update(replace(document.system, description="softer"))
    document.save()
    comment, after = entries(packed)
    assert comment == before[0]
    assert [e[:4] for e in after] == [e[:4] for e in before[1]]
    assert [e for e in after if e[0] != "soft.ssd"] == [e for e in before[1] if e[0] != "soft.ssd"]
    assert read_system(packed, "soft").description == "softer"
    assert read_system(packed).description == ""


def test_an_fmu_is_taken_into_the_archive(packed, tmp_path):
    other = tmp_path / "elsewhere" / "Plant.fmu"
    other.parent.mkdir()
    other.write_bytes(b"another FMU of the same name")
    document = Document.open(packed)
    part = Component("q", Source(SourceKind.FMU, str(other)))
    document.update(document.system.add("second", part).add("third", part))
    document.save()
    names = [entry[0] for entry in entries(packed)[1]]
    assert names[-1] == "resources/Plant_2.fmu"
    assert len(names) == 5, "the same file is taken in once"
    found = read_system(packed).components["third"].source.location
    assert Path(found).read_bytes() == other.read_bytes()
    document.update(document.system.remove("second").remove("third"))
    missing = Component("q", Source(SourceKind.FMU, str(tmp_path / "no.fmu")))
    with pytest.raises(LoadError, match=re.escape("no.fmu: no such FMU")):
        document.update(document.system.add("fourth", missing))


def test_variants_that_do_not_exist_are_listed(packed):
    with pytest.raises(SspError, match=r"has no 'hard\.ssd'; it has: SystemStructure"):
        Document.open(packed, "hard")


def nested(tmp_path, arm):
    from orchestrator.ssp import write_ssd

    system = System("rig").add("arm", arm).add("hand", System("hand"))
    write_ssd(system, tmp_path / "rig.ssd")
    return Document.open(tmp_path / "rig.ssd")


def test_edits_of_nested_systems(tmp_path, arm):
    document = nested(tmp_path, arm)
    text = document.content.decode()
    document.rename("arm/motor", "engine")
    assert document.content.decode() == text.replace('"motor"', '"engine"')
    document.update(document.system.set("arm.k", 9.0))
    assert document.system.flat().components["arm/engine"].values == {"k": 9.0}
    assert document.system.value("arm.k") == 9.0
    document.rename("arm", "leg")
    assert document.system.value("leg.k") == 9.0


def test_a_part_is_moved_as_it_stands(tmp_path, arm, part):
    document = nested(tmp_path, arm)
    document.update(document.system.add("brake", part(u="m")))
    document.move("brake", "hand")
    assert list(document.system.systems["hand"].components) == ["brake"]
    document.move("hand/brake", "arm")
    assert list(document.system.systems["arm"].components) == ["motor", "brake"]
    document.save()
    assert read_ssd(document.path).systems["arm"].components["brake"].connectors["u"].unit == "m"


def test_a_system_in_a_file_of_its_own_is_not_edited_from_outside(tmp_path, arm):
    from orchestrator.ssp import write_ssd

    write_ssd(arm, tmp_path / "arm.ssd")
    outer = (
        TEXT.replace(
            'type="application/x-softdock-block" source="block:gain"',
            'type="application/x-ssp-definition" source="arm.ssd"',
        )
        .replace('endConnector="u"', 'endConnector="force"')
        .replace('<c:Real unit="m"/>', '<c:Real unit="N"/>')
    )
    (tmp_path / "plant.ssv").write_text(VALUES)
    (tmp_path / "rig.ssd").write_text(outer)
    document = Document.open(tmp_path / "rig.ssd")
    with pytest.raises(SspError, match="file of its own"):
        document.update(document.system.remove("control/motor"))
    document.update(document.system.set("control.k", 5.0))
    document.save()
    assert read_ssd(tmp_path / "rig.ssd").value("control.k") == 5.0
    assert document.content.decode().count("5.0") == 1
