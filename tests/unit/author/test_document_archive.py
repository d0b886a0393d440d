"""Edits of archives and of nested systems."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.author.ssp_edit.document import Document
from orchestrator.core.diagnostics import LoadError, SspError
from orchestrator.core.ssp import read_ssd, read_system, write_ssp
from orchestrator.core.system import Component, Source, SourceKind, System

from .conftest import TEXT, VALUES


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


def test_an_fmu_is_taken_into_the_archive(packed, tmp_path, wording):
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
    with wording.raises(LoadError):
        document.update(document.system.add("fourth", missing))


def test_variants_that_do_not_exist_are_listed(packed, wording):
    with wording.raises(SspError, code="SSP010"):
        Document.open(packed, "hard")


def nested(tmp_path, arm):
    from orchestrator.core.ssp import write_ssd

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


def test_a_system_in_a_file_of_its_own_is_not_edited_from_outside(tmp_path, arm, wording):
    from orchestrator.core.ssp import write_ssd

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
    with wording.raises(SspError):
        document.update(document.system.remove("control/motor"))
    document.update(document.system.set("control.k", 5.0))
    document.save()
    assert read_ssd(tmp_path / "rig.ssd").value("control.k") == 5.0
    assert document.content.decode().count("5.0") == 1
