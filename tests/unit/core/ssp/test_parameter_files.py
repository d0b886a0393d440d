"""Parameter sets and mappings: written, linked, kept by edits, applied."""

from __future__ import annotations

import zipfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.author.ssp_edit.document import Document
from orchestrator.core.diagnostics import DescriptionError, SspError
from orchestrator.core.ssp import (
    Mapped,
    apply_parameter_set,
    read_ssd,
    read_system,
    write_parameter_mapping,
    write_parameter_set,
    write_ssd,
    write_ssp,
)
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    Enumeration,
    LinearTransformation,
    Source,
    SourceKind,
    System,
)


def bare() -> System:
    gears = Enumeration("Gear", {"low": 1, "high": 7})
    known = [
        Connector("k", Causality.PARAMETER, unit="N/m"),
        Connector("n", Causality.PARAMETER, DataType.INTEGER),
        Connector("on", Causality.PARAMETER, DataType.BOOLEAN),
        Connector("label", Causality.PARAMETER, DataType.STRING),
        Connector("gear", Causality.PARAMETER, DataType.INTEGER, enumeration=gears),
    ]
    part = Component("motor", Source(SourceKind.BLOCK, "motor"), {c.name: c for c in known})
    connector = Connector("load", Causality.PARAMETER, unit="kg")
    arm = System("arm", {"motor": part}, connectors={"load": connector})
    return System("rig", {"motor": part}, systems={"arm": arm}, description="a rig")


def rig() -> System:
    system = bare().set("motor.k", 2.5).set("motor.gear", 7).set("motor.label", "a < b")
    system = system.set("arm/motor.k", 1e-300).set("arm/motor.on", True).set("arm/motor.n", -3)
    return system.set("arm.load", 12.0)


def test_what_is_written_gives_the_same_values(tmp_path: Path) -> None:
    write_parameter_set(rig(), tmp_path / "rig.ssv")
    first = (tmp_path / "rig.ssv").read_bytes()
    system = apply_parameter_set(bare(), tmp_path / "rig.ssv", strict=True)
    assert system == rig()
    write_parameter_set(system, tmp_path / "rig.ssv")
    assert (tmp_path / "rig.ssv").read_bytes() == first
    write_parameter_set(rig().flat(), tmp_path / "flat.ssv")
    flat = apply_parameter_set(bare().flat(), tmp_path / "flat.ssv", strict=True)
    assert flat.component("arm/motor").values["n"] == -3


def test_a_mapping_chooses_and_transforms(tmp_path: Path, wording) -> None:
    write_parameter_set(rig(), tmp_path / "rig.ssv")
    entries = {
        "arm.motor.k": Mapped("motor.k", LinearTransformation(2.0, 1.0)),
        "motor.n": "arm.motor.n",
    }
    write_parameter_mapping(entries, tmp_path / "rig.ssm")
    system = apply_parameter_set(bare(), tmp_path / "rig.ssv", tmp_path / "rig.ssm", strict=True)
    assert dict(system.systems["arm"].components["motor"].values) == {"k": 6.0}
    assert dict(system.components["motor"].values) == {"n": -3}
    write_parameter_mapping({"motor.kk": "motor.k"}, tmp_path / "rig.ssm")
    with wording.raises(SspError, code="SSP305", place="mapping 'motor.k' to 'motor.kk'"):
        apply_parameter_set(bare().flat(), tmp_path / "rig.ssv", tmp_path / "rig.ssm", strict=True)


def test_what_cannot_be_written_is_told(tmp_path: Path, wording) -> None:
    with wording.raises(DescriptionError):
        write_parameter_set(bare(), tmp_path / "a.ssv")
    with wording.raises(DescriptionError):
        write_parameter_set(rig(), tmp_path / "a.ssv", version="3")
    with wording.raises(DescriptionError):
        write_parameter_mapping({}, tmp_path / "a.ssm")
    with wording.raises(DescriptionError):
        write_parameter_mapping({"a.k": ""}, tmp_path / "a.ssm")
    with wording.raises(DescriptionError):
        write_ssd(rig(), tmp_path / "a.ssd", parameters="../a.ssv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("strict", "said"), [(True, ""), (False, " is ignored")])
def test_a_value_that_reaches_nothing_is_named_as_it_is(
    strict: bool, said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "rig.ssv"
    write_parameter_set(rig(), file)
    file.write_text(file.read_text().replace('"motor.k"', '"motor.k is ignored"'))
    with pytest.raises(SspError) if strict else nullcontext() as caught:
        apply_parameter_set(bare(), file, strict=strict)
    text = str(caught.value) if caught else caplog.text
    assert f"value of 'motor.k is ignored'{said}: " in text
    assert ("(SSP 2.0, 5.2.3)" in text) == (not strict)


def test_values_are_linked_and_not_inlined(tmp_path: Path) -> None:
    write_ssd(rig(), tmp_path / "rig.ssd", parameters="my values.ssv")
    text = (tmp_path / "rig.ssd").read_text()
    assert '<ssd:ParameterBinding source="my%20values.ssv"/>' in text
    assert "ssv:Parameter " not in text
    assert read_ssd(tmp_path / "rig.ssd") == rig()
    write_ssp(rig(), tmp_path / "rig.ssp", parameters="rig.ssv")
    with zipfile.ZipFile(tmp_path / "rig.ssp") as archive:
        assert archive.namelist() == ["SystemStructure.ssd", "resources/rig.ssv"]
    assert read_system(tmp_path / "rig.ssp") == rig()
    write_ssd(bare(), tmp_path / "bare.ssd", parameters="none.ssv")
    assert not (tmp_path / "none.ssv").exists()


@pytest.mark.parametrize("name", ["rig.ssd", "rig.ssp"])
def test_a_set_is_linked_into_a_file_and_stays_through_edits(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    (write_ssp if path.suffix == ".ssp" else write_ssd)(bare().set("motor.k", 9.0), path)
    write_parameter_set(rig(), tmp_path / "rig.ssv")
    write_parameter_mapping({"n": "arm.motor.n", "k": "motor.k"}, tmp_path / "rig.ssm")
    document = Document.open(path)
    document.link(tmp_path / "rig.ssv")
    document.link(tmp_path / "rig.ssv", tmp_path / "rig.ssm", inside="arm/motor")
    document.save()
    system = read_system(path)
    # The binding of the whole wins over that of the component.
    assert system == rig()
    again = Document.open(path)
    again.update(again.system.set("motor.k", 11.0).set("motor.n", 4))
    again.save()
    text = Document.open(path).content.decode()
    assert text.count('rig.ssv"') == 2
    assert text.count('rig.ssm"') == 1
    assert read_system(path) == rig().set("motor.k", 11.0).set("motor.n", 4)
    if path.suffix == ".ssd":
        assert 'source="rig.ssv"' in text
    else:
        assert 'source="resources/rig.ssv"' in text
        (tmp_path / "rig.ssv").unlink()  # the archive has its own
        assert read_system(path).value("motor.k") == 11.0


def test_a_link_that_is_wrong_is_refused(tmp_path: Path, wording) -> None:
    write_ssd(bare(), tmp_path / "rig.ssd")
    document, before = Document.open(tmp_path / "rig.ssd"), (tmp_path / "rig.ssd").read_bytes()
    with wording.raises(SspError, code="SSP001"):
        document.link(tmp_path / "none.ssv")
    write_parameter_set(rig(), tmp_path / "rig.ssv")
    with wording.raises(SspError):
        document.link(tmp_path / "rig.ssv", inside="leg")
    with wording.raises(SspError):
        document.link(tmp_path / "rig.ssv", prefix="x.")
    (tmp_path / "bad.ssv").write_text("<a/>")
    with wording.raises(SspError, code="SSP005"):
        document.link(tmp_path / "bad.ssv")
    assert document.content == before


def test_a_clock_is_given_a_truth_value(tmp_path: Path) -> None:
    tick = Connector("tick", Causality.INPUT, DataType.CLOCK)
    system = System("s", connectors={"tick": tick}).set("tick", True)
    write_parameter_set(system, tmp_path / "s.ssv")
    bare = replace(system, values={})
    assert apply_parameter_set(bare, tmp_path / "s.ssv", strict=True) == system
