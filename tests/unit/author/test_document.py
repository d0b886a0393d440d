"""SSDs are edited where they stand: formatting, comments and what others wrote stay."""

import os
from dataclasses import replace

import pytest

from orchestrator.author.ssp_edit.document import Document
from orchestrator.core.diagnostics import DescriptionError, LoadError, SspError
from orchestrator.core.ssp import read_ssd
from orchestrator.core.system import Component, Source, SourceKind

from .conftest import TEXT, VALUES

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


def test_a_value_of_another_file_is_overridden_behind_it(file, wording):
    document = Document.open(file)
    assert document.system.value("plant.m") == 7.0
    document.update(document.system.set("plant.m", 8.0))
    document.save()
    assert read_ssd(file).value("plant.m") == 8.0
    assert (file.parent / "plant.ssv").read_text() == VALUES
    gone, new = changed(document)
    assert gone == []
    assert '<v:Parameter name="plant.m">' in new
    with wording.raises(SspError):
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


def test_a_file_that_was_changed_meanwhile_is_not_written_over(file, wording):
    document = Document.open(file)
    document.update(document.system.set("plant.k", 4.0))
    file.write_text(TEXT + "<!-- later -->\n")
    with wording.raises(SspError):
        document.save()
    assert file.read_text() == TEXT + "<!-- later -->\n"


def test_a_file_that_cannot_be_written_stays(file, monkeypatch, wording):
    document = Document.open(file)
    document.update(document.system.set("plant.k", 4.0))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with wording.raises(SspError):
        document.save()
    assert file.read_text() == TEXT
    assert sorted(p.name for p in file.parent.iterdir()) == ["SystemStructure.ssd", "plant.ssv"]


def test_what_ssp_cannot_hold_is_refused(file, wording):
    document = Document.open(file)
    port = document.system.components["plant"].connectors["k"]
    plant = replace(
        document.system.components["plant"], connectors={"k": replace(port, shape=(3,))}
    )
    with wording.raises(DescriptionError):
        document.update(document.system.replace(plant))
    assert document.content == TEXT.encode()


def test_unsafe_text_is_refused(file, wording):
    file.write_text(TEXT.replace("<!-- the rig", '<!DOCTYPE a [<!ENTITY b "c">]><!-- the rig'))
    with wording.raises(SspError):
        Document.open(file)
    with wording.raises(LoadError, code="SSP001"):
        Document.open(file.with_name("nothing.ssd"))
