"""System files: what is read, what is said about mistakes, and edits that keep comments."""

import math
import re
import shutil
from pathlib import Path

import pytest

from orchestrator import System, fmu
from orchestrator.author import is_system_file, open_document, read_system, read_toml, write_toml
from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import Component, Source, SourceKind

TEXT = """# A loop of two.
[system]
name = "rig"   # its name

[component.a]
source = "block:gain"
values = { k = 3.0 }  # stiff

# The second one.
[component.b]
source = "block:gain"

[nested.c]
include = "inner.toml"  # elsewhere

[connections]
"a.y -> b.u" = { delay = "16 ms" }  # slow
"b.y -> a.u" = {}
"""
INNER = """[system]
name = "inner"
[component.d]
source = "block:gain"
values = { k = 1.0 }
"""


@pytest.fixture
def file(tmp_path) -> Path:
    (tmp_path / "inner.toml").write_text(INNER, newline="\n")
    path = tmp_path / "rig.toml"
    path.write_text(TEXT, newline="\n")
    return path


def write(path, text):
    path.write_text(text, newline="\n")
    return path


def refused(kind, text):
    return pytest.raises(kind, match=re.escape(text))


def test_what_is_read(file):
    system = read_toml(file)
    assert system.name == "rig"
    assert system.components["a"].values == {"k": 3.0}
    assert system.systems["c"].component("d").values == {"k": 1.0}
    assert [str(c) for c in system.connections] == ["a.y -> b.u", "b.y -> a.u"]
    assert system.connections[0].delay.nominal_ns == 16_000_000


X = "[component.x]"
MISTAKES = {
    f"{X}\nsorce = 'a.fmu'": "unknown key 'component.x.sorce'. Did you mean 'source'?",
    f"{X}\nvalues = {{}}": "missing key 'component.x.source'",
    f"{X}\nsource = 'a.exe'": "'component.x': component source 'a.exe': expected a path",
    f"{X}\nsource = 3": "'component.x.source': expected a text, found 3",
    f"{X}\nsource = 'block:g'\noptions = {{ isolation = 'a' }}": (
        "'component.x': option 'isolation': expected one of none, process, found 'a'"
    ),
    "[nested.x]\ninclude = 'no.toml'": "no.toml: no such file",
    "[nested.x]\ninclude = 'inner.toml'\n[nested.x.component.y]\nsource = 'block:g'": (
        "is included from 'inner.toml', so it has no component here"
    ),
    "[nested.x]\nset = { k = 1.0 }": "'variant' and 'set' go with 'include', which is missing",
    "[experiment]\nstep = '1 m'": "'experiment': step: expected seconds or a time such as '16 ms'",
    "[experiment]\nstep = true": "'experiment.step': expected a text or a whole number or a number",
}


@pytest.mark.parametrize(("extra", "told"), MISTAKES.items())
def test_mistakes_are_told_with_file_and_key(file, extra, told):
    path = write(file.with_name("x.toml"), f"[system]\nname = 'x'\n{extra}\n")
    with pytest.raises(DescriptionError) as error:
        read_toml(path)
    [problem] = [text for text in error.value.problems if told in text]
    assert problem.startswith(f"{path}: ")


def test_a_misspelt_key_is_not_reported_as_missing_too(file):
    text = f"[system]\nname = 'x'\n{X}\nsorce = 'a.fmu'\n"
    with pytest.raises(DescriptionError) as error:
        read_toml(write(file.with_name("x.toml"), text))
    (problem,) = error.value.problems
    assert "Did you mean 'source'?" in problem


def test_lines_that_are_no_lines(file):
    path = write(file.with_name("x.toml"), "[system]\nname = 'x'\n[connections]\n'a.y' = {}\n")
    with refused(DescriptionError, "expected 'component.connector -> component.connector'"):
        read_toml(path)
    path.write_text("[system]\nname = 'x'\n[connections]\n'a.y -> b.u' = { dely = 1 }\n")
    with refused(DescriptionError, "dely'. Did you mean 'delay'?"):
        read_toml(path)


def test_files_that_include_each_other(file):
    (file.parent / "inner.toml").write_text(
        '[system]\nname = "inner"\n[nested.r]\ninclude = "rig.toml"'
    )
    with refused(DescriptionError, "files include each other: "):
        read_toml(file)


def test_no_toml_and_no_system(tmp_path):
    with refused(LoadError, "x.toml: no such file"):
        read_toml(tmp_path / "x.toml")
    path = write(tmp_path / "x.toml", "[system")
    with refused(LoadError, "expected a TOML file"):
        read_toml(path)
    assert not is_system_file(write(path, "title = 'x'\n[case.a]\nsystem = 'a.ssd'\n"))
    assert is_system_file(write(path, "[system]\nname = 'x'\n"))


def test_a_folder_stands_for_its_system_file(file, tmp_path):
    file.rename(tmp_path / "system.toml")
    assert read_system(tmp_path).name == "rig"
    with refused(LoadError, "a .toml file has no variants, found 'v'"):
        read_system(tmp_path / "system.toml", "v")


def test_an_ssd_is_included(file, arm):
    write_ssd(arm, file.with_name("arm.ssd"))
    path = write(
        file.with_name("x.toml"),
        "[system]\nname = 'x'\n[nested.leg]\ninclude = 'arm.ssd'\nset = { k = 7.0 }\n",
    )
    system = read_toml(path)
    assert system.value("leg.k") == 7.0
    assert system.systems["leg"].name == "leg"


def test_an_ssd_and_a_system_file_say_the_same(tmp_path, rig):
    write_toml(rig, tmp_path / "rig.toml")
    write_ssd(read_toml(tmp_path / "rig.toml"), tmp_path / "rig.ssd")
    assert read_system(tmp_path / "rig.ssd") == rig == read_system(tmp_path / "rig.toml")


def test_connectors_may_be_left_to_the_sources(tmp_path, rig):
    write_toml(rig, tmp_path / "rig.toml", connectors=False)
    text = (tmp_path / "rig.toml").read_text()
    assert "component.spring.connectors" not in text
    assert "[nested.arm.connectors]" in text, "a system's own have no other source"


def test_comments_stay(file):
    document = open_document(file)
    document.update(document.system)
    assert document.content == TEXT.encode()
    system = document.system.set("a.k", 4.0).with_delay("a.y", "b.u", "17 ms")
    document.update(system.disconnect("b.y"))
    wanted = TEXT.replace("3.0", "4.0").replace("16 ms", "17 ms").replace('"b.y -> a.u" = {}\n', "")
    assert document.content.decode() == wanted
    document.save()
    assert file.read_text() == wanted


def test_new_parts_stand_where_a_person_would_write_them(file):
    document = open_document(file)
    part = Component("e", Source(SourceKind.BLOCK, "gain"), values={"k": 1.0})
    document.update(document.system.add("e", part).connect("a.y", "e.u", factor=-1.0))
    added = '[component.e]\nsource = "block:gain"\nvalues = { k = 1.0 }\n\n'
    assert (
        document.content.decode()
        == TEXT.replace("[nested.c]", f"{added}[nested.c]") + '"a.y -> e.u" = { factor = -1.0 }\n'
    )


def test_a_name_is_changed_wherever_it_stands(file):
    document = open_document(file)
    document.rename("a", "first")
    document.rename("c", "third")
    wanted = TEXT.replace("component.a", "component.first").replace("nested.c", "nested.third")
    wanted = wanted.replace('"a.y', '"first.y').replace("-> a.u", "-> first.u")
    assert document.content.decode() == wanted


def test_an_included_system_is_set_beside_its_name(file):
    document = open_document(file)
    document.update(document.system.set("c/d.k", 2.0))
    document.save()
    assert read_toml(file).value("c/d.k") == 2.0
    assert (file.parent / "inner.toml").read_text() == INNER
    with refused(LoadError, "is in an included file; change that file"):
        document.update(document.system.remove("c/d"))
    assert document.system.component("c/d").values == {"k": 2.0}


def test_a_file_that_was_changed_meanwhile_is_not_written_over(file):
    document = open_document(file)
    document.update(document.system.set("a.k", 4.0))
    file.write_text(TEXT + "# later\n")
    with refused(LoadError, "was changed by something else since it was opened"):
        document.save()
    assert file.read_text() == TEXT + "# later\n"


@pytest.mark.parametrize("name", ["noext", "my fmu [1]", "device:a b.fmu"])
def test_an_fmu_of_an_odd_name_is_read_back(probe, tmp_path, monkeypatch, name):
    """Beside the file, and with its name alone: as if it were a block, or nothing at all."""
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(probe, tmp_path / name)
    system = System("s").add("m", fmu(name), gain=-0.0)
    assert Source.parse(str(Source(SourceKind.FMU, name))).file == Path(name)
    write_toml(system, Path("s.toml"))
    found = read_toml(Path("s.toml")).components["m"]
    assert found.source.file == tmp_path / name
    assert math.copysign(1.0, found.values["gain"]) == -1.0
