"""Archives, folders and variants."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import fmpy.ssp.ssd
import pytest

from orchestrator.core.diagnostics import DescriptionError, FmuError, SspError
from orchestrator.core.simunits import instantiation, registry
from orchestrator.core.ssp import read_ssd, read_system, variants, write_ssd, write_ssp
from orchestrator.core.system import Component, Source, SourceKind, System


def sources(system: System) -> dict[str, Path]:
    parts = system.components.values()
    return {p.name: Path(p.source.location) for p in parts if p.source.kind is SourceKind.FMU}


def at_home(system: System, home: System) -> System:
    """The system with the sources of another, whose archive was unpacked elsewhere."""
    for name, part in home.components.items():
        system = system.replace(replace(system.component(name), source=part.source))
    return system


def pack(path: Path, content: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return path


def test_an_archive_comes_back_with_its_fmus(capture: System, tmp_path: Path) -> None:
    path = tmp_path / "capture.ssp"
    write_ssp(capture, path)
    system = read_system(path)
    fmu = sources(system)["chaser"]
    assert (fmu.parent.name, fmu.name) == ("resources", "Chaser.fmu")
    assert fmu.read_bytes() == sources(capture)["chaser"].read_bytes()
    assert at_home(system, capture) == capture
    assert sources(read_system(path))["chaser"] == fmu  # unpacked once


def test_bytes_are_the_same_every_time(
    capture: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    softer = capture.set("contact.latched", False)
    paths = [tmp_path / name for name in ("a.ssp", "b.ssp", "c.ssp")]
    write_ssp(capture, paths[0], {"x": softer, "b": softer})
    monkeypatch.setattr("time.time", lambda: 4e9)
    write_ssp(capture, paths[1], {"b": softer, "x": softer})
    names = ("x", "b")
    write_ssp(read_system(paths[0]), paths[2], {n: read_system(paths[0], n) for n in names})
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()
    with zipfile.ZipFile(paths[0]) as archive:
        assert archive.namelist() == [
            "SystemStructure.ssd",
            "b.ssd",
            "x.ssd",
            "resources/Chaser.fmu",
        ]
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_variants_are_found_in_archives_and_folders(
    capture: System, tmp_path: Path, wording
) -> None:
    softer = capture.set("contact.latched", False)
    archive, folder = tmp_path / "capture.ssp", tmp_path / "capture"
    write_ssp(capture, archive, {"soft": softer})
    folder.mkdir()
    write_ssd(capture, folder / "SystemStructure.ssd")
    write_ssd(softer, folder / "soft.ssd")
    for path in (archive, folder):
        assert variants(path) == ["SystemStructure.ssd", "soft.ssd"]
        assert at_home(read_system(path), capture) == capture
        assert at_home(read_system(path, "soft"), capture) == softer
        assert at_home(read_system(path, "soft.ssd"), capture) == softer
        for wrong in ("hard", "../x", "resources/soft", "/etc/passwd"):
            with wording.raises(SspError, code="SSP010"):
                read_system(path, wrong)
    main = folder / "SystemStructure.ssd"
    assert read_system(main) == read_ssd(main) == capture
    assert read_system(main, "soft") == softer


def test_fmus_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    system = System("s")
    for folder, content in (("a", b"1"), ("b", b"2"), ("c", b"1")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "X.fmu"
        path.write_bytes(content)
        system = system.add(folder, Component(folder, Source(SourceKind.FMU, str(path))))
    write_ssp(system, tmp_path / "s.ssp")
    with zipfile.ZipFile(tmp_path / "s.ssp") as archive:
        assert archive.namelist()[1:] == ["resources/X.fmu", "resources/X_2.fmu"]
    found = sources(read_system(tmp_path / "s.ssp"))
    assert {name: path.read_bytes() for name, path in found.items()} == {
        "a": b"1",
        "b": b"2",
        "c": b"1",
    }


def test_an_archive_is_unpacked_where_it_is_wanted(
    capture: System, tmp_path: Path, wording
) -> None:
    path, target = tmp_path / "capture.ssp", tmp_path / "here"
    write_ssp(capture, path)
    system = read_system(path, unpack_to=target)
    assert sources(system)["chaser"] == target / "resources" / "Chaser.fmu"
    with wording.raises(SspError):
        read_system(path, unpack_to=target)


def test_missing_fmus_are_listed_together(capture: System, tmp_path: Path, wording) -> None:
    gone = replace(capture.component("chaser"), source=Source(SourceKind.FMU, "gone.fmu"))
    also = replace(gone, name="also", source=Source(SourceKind.FMU, "also.fmu"))
    system = capture.replace(gone).add("also", also)
    path = tmp_path / "capture.ssp"
    path.write_bytes(b"old")
    with wording.raises(FmuError):
        write_ssp(system, path)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["", "a/b", "..\\x", "SystemStructure", "SystemStructure.ssd"])
def test_variants_have_usable_names(capture: System, tmp_path: Path, name: str, wording) -> None:
    with wording.raises(DescriptionError):
        write_ssp(capture, tmp_path / "capture.ssp", {name: capture})


def test_a_failed_write_leaves_the_old_archive(
    capture: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording
) -> None:
    path = tmp_path / "capture.ssp"
    write_ssp(capture, path)
    before, files = path.read_bytes(), sorted(tmp_path.iterdir())

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full_disk)
    with wording.raises(SspError):
        write_ssp(capture, path)
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("../x.fmu", "is outside of the archive"),
        ("resources/../../x.fmu", "is outside of the archive"),
        ("%2e%2e/x.fmu", "is outside of the archive"),
        ("/tmp/x.fmu", "is outside of the archive"),  # noqa: S108
        ("file:///tmp/x.fmu", "is outside of the archive"),
        ("resources/y.fmu", "the archive has no 'resources/y.fmu'; it has: SystemStructure.ssd, "),
    ],
)
def test_sources_stay_inside_the_archive(
    ssd: Any, tmp_path: Path, source: str, expected: str
) -> None:
    (tmp_path / "x.fmu").write_bytes(b"")
    text = ssd(elements=f'<ssd:Component name="b" source="{source}"/>').read_bytes()
    path = pack(tmp_path / "s.ssp", {"SystemStructure.ssd": text, "resources/x.fmu": b""})
    with pytest.raises(SspError) as caught:
        read_system(path)
    assert f"{path}:SystemStructure.ssd:13: component 'b': " in str(caught.value)
    assert expected in str(caught.value)


def test_parameter_files_are_found_in_archives(ssd: Any, tmp_path: Path, wording) -> None:
    text = ssd(bindings='<ssd:ParameterBinding source="p/set.ssv"/>').read_bytes()
    path = tmp_path / "s.ssp"
    pack(path, {"SystemStructure.ssd": text, "p/set.ssv": ssd.values(ssd.real("a.k", 5.0))})
    assert read_system(path).component("a").values == {"k": 5.0}
    pack(path, {"SystemStructure.ssd": text, "p/set.ssv": "<broken"})
    with wording.raises(SspError, code="SSP003"):
        read_system(path)


@pytest.mark.parametrize("name", ["../evil.ssd", "/evil.ssd", "a/../../evil", "..\\evil", "C:evil"])
def test_entries_that_escape_are_refused(ssd: Any, tmp_path: Path, name: str, wording) -> None:
    content = {"SystemStructure.ssd": ssd().read_bytes(), name: b"evil"}
    with wording.raises(SspError):
        read_system(pack(tmp_path / "s.ssp", content))
    assert not (tmp_path / "evil.ssd").exists()


def test_damaged_archives_are_refused(ssd: Any, tmp_path: Path, wording) -> None:
    path = tmp_path / "s.ssp"
    path.write_bytes(b"no zip at all")
    with wording.raises(SspError):
        read_system(path)
    text = ssd().read_bytes()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SystemStructure.ssd", text)
    whole = bytearray(path.read_bytes())
    whole[60:90] = bytes(range(200, 230))
    path.write_bytes(whole)
    with wording.raises(SspError):
        read_system(path)
    pack(path, {"other.txt": b""})
    with wording.raises(SspError, code="SSP010"):
        read_system(path)


def test_nothing_there_is_an_ssp_error(tmp_path: Path, wording) -> None:
    for name in ("none.ssp", "none.ssd", "none"):
        with wording.raises(SspError, code="SSP001"):
            read_system(tmp_path / name)
    with wording.raises(SspError, code="SSP010"):
        read_system(tmp_path)


def test_plain_ssp_tools_read_ours(capture: System, tmp_path: Path) -> None:
    path = tmp_path / "capture.ssp"
    write_ssp(capture, path)
    description = fmpy.ssp.ssd.read_ssd(str(path))  # validates against the schema
    assert description.version == "1.0"
    chaser, contact = description.system.elements
    assert (chaser.name, chaser.source) == ("chaser", "resources/Chaser.fmu")
    assert [(c.name, c.kind) for c in contact.connectors] == [
        ("position", "input"),
        ("force", "output"),
        ("latched", "parameter"),
    ]
    (values,) = chaser.parameterBindings[0].parameterValues
    mass = next(p for p in values.parameters if p.name == "m")
    assert (mass.type, mass.value, mass.unit) == ("Real", "750.0", "kg")
    assert len(description.system.connections) == 2
    degree = next(u for u in description.units if u.name == "deg")
    assert (degree.rad, degree.factor) == (1, pytest.approx(0.0174532925199))


def test_what_ssp_does_not_hold_comes_back_from_the_source(tmp_path: Path) -> None:
    system = System("s").add("contact", registry.block("spring_dashpot"), k=2000.0)
    write_ssp(system, tmp_path / "s.ssp")
    assert registry.resolve(read_system(tmp_path / "s.ssp")) == system


def test_an_fmu_runs_from_an_archive(probe: Path, tmp_path: Path) -> None:
    system = System("s").add("probe", registry.fmu(probe))
    write_ssp(system, tmp_path / "s.ssp")
    packed = registry.resolve(read_system(tmp_path / "s.ssp"))
    assert at_home(packed, system) == system
    assert instantiation.make_unit(packed.component("probe"))
