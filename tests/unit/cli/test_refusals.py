"""What the command line refuses, and that it leaves alone what it refuses to change."""

from __future__ import annotations

import json
import zipfile

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import LinearTransformation

PAIR = """\
[system]
name = "pair"

[component.a]
source = "block:spring_dashpot"
values = { position_a = 0.0, velocity_a = 0.0, position_b = 0.0, velocity_b = 0.0 }

[component.b]
source = "block:virtual_damper"
values = { velocity = 0.0 }
"""
EXPERIMENT = """\
title = "faulty"

[case.only]
system = "pair.toml"

[case.only.fault.none]
kind = "drop"
on = []
from = "1 s"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a system file, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.toml").write_text(PAIR)
    return tmp_path


REFUSED = {
    "a factor that is no number": (
        ["system", "connect", "pair.toml", "b.force", "a.velocity_a", "--factor", "nan"],
        "connection b.force -> a.velocity_a: factor and offset: expected finite numbers, found nan",
    ),
    "ends without a connector": (
        ["system", "connect", "pair.toml", "b", "a.velocity_a"],
        "the system has no connectors of its own, such as 'b'; expected component.connector",
    ),
    "a file onto itself": (
        ["system", "convert", "pair.toml", "./pair.toml"],
        "pair.toml: expected another file than the one that is read",
    ),
    "codes that do not exist": (
        ["check", "pair.toml", "--select", "LOP"],
        "no code begins with 'LOP'; expected one of FIL, SSP",
    ),
    "an archive by another name": (
        ["export", "ssp", "pair.toml", "--output", "pair.zip"],
        "--output pair.zip: expected a name that ends in .ssp",
    ),
    "an FMU by another name": (
        ["export", "fmu", "pair.toml", "--output", "pair.zip"],
        "--output pair.zip: expected a name that ends in .fmu",
    ),
    "a component to swap that is not there": (
        ["export", "fmu", "pair.toml", "--swap", "c=block:virtual_damper"],
        "no case has a component 'c'; the components are a and b",
    ),
    "a target that is not there": (["diff", "other", "pair.toml"], "other: no such file or folder"),
    "no step": (["run", "pair.toml", "--stop", "1 s"], "no communication step is given; pass"),
    "no stop": (["run", "pair.toml", "--step", "1 s"], "no stop time is given; pass"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_changes_nothing(softdock, folder, name):
    arguments, message = REFUSED[name]
    code, _, err = softdock(*arguments)
    assert (code, message in err) == (2, True), err
    assert (folder / "pair.toml").read_text() == PAIR
    assert [path.name for path in folder.iterdir()] == ["pair.toml"]


@pytest.mark.parametrize("shape", ["[-1]", "[1000000000]", "[1000, 1001]"])
def test_arrays_that_cannot_be_meant_are_refused(softdock, folder, shape):
    own = f'[connectors]\nx = {{ causality = "input", shape = {shape} }}\n'
    (folder / "wide.toml").write_text(PAIR + own)
    code, out, _ = softdock("check", "wide.toml")
    assert code == 1
    assert "'connectors.x.shape': expected extents >= 0 of at most 1000000 elements" in out


def test_a_table_that_is_none_is_told_in_words(softdock, folder):
    (folder / "flat.toml").write_text('[system]\nname = "x"\n[component]\na = 4\n')
    code, _, err = softdock("system", "show", "flat.toml")
    assert (code, err) == (2, "error: flat.toml: 'component.a': expected a table, found 4\n")


def test_a_fault_on_nothing_is_refused(softdock, folder):
    (folder / "experiment.toml").write_text(EXPERIMENT)
    code, _, err = softdock("run", ".")
    assert code == 2
    assert "'case.only.fault.none.on'" in err
    assert not (folder / "results").exists()


def test_an_empty_file_is_told_what_it_may_be(softdock, folder):
    (folder / "empty.toml").write_text("")
    code, _, err = softdock("run", "empty.toml")
    assert code == 2
    assert "table [case.NAME], or a system file, which has a table [system]" in err


@pytest.mark.parametrize("command", [["show"], ["set"]])
def test_other_kinds_of_files_hold_no_system(softdock, folder, command):
    (folder / "notes.txt").write_text("a")
    more = ["a.k=1"] if command == ["set"] else []
    code, _, err = softdock("system", *command, "notes.txt", *more)
    assert code == 2
    assert "notes.txt: expected a .toml, .ssd or .ssp file" in err


def test_an_archive_shows_its_sources_as_they_are_called_in_it(softdock, folder, probe):
    softdock("system", "add", "pair.toml", "chaser", probe)
    softdock("system", "convert", "pair.toml", "pair.ssp")
    assert "resources/Probe.fmu" in zipfile.ZipFile("pair.ssp").namelist()
    assert "chaser (resources/Probe.fmu)" in softdock("system", "show", "pair.ssp")[1]
    content = json.loads(softdock("system", "show", "pair.ssp", "--json")[1])
    assert content["component"]["chaser"]["source"] == "resources/Probe.fmu"


def test_an_archive_says_where_it_cannot_be_unpacked(softdock, folder):
    softdock("system", "convert", "pair.toml", "pair.ssp")
    (folder / "taken").write_text("")
    code, _, err = softdock("system", "convert", "pair.ssp", "taken/x.toml")
    assert code == 2
    assert "pair.ssp: cannot be unpacked to taken/x.files: Not a directory" in err


@pytest.mark.parametrize("figures", [(float("nan"), 0.0), (1.0, float("-inf"))])
def test_a_transformation_is_finite(figures, wording):
    with wording.raises(DescriptionError):
        LinearTransformation(*figures)


@pytest.mark.parametrize("kind", ["toml", "ssd", "ssp"])
def test_a_read_only_file_is_not_replaced(softdock, folder, kind):
    target = folder / f"system.{kind}"
    softdock("system", "convert", "pair.toml", target)
    before = target.read_bytes()
    target.chmod(0o444)
    code, _, err = softdock("system", "set", target, "a.k=7")
    assert (code, "is read-only; make it writable" in err) == (2, True)
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (before, 0o444)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("kind", ["toml", "ssd", "ssp"])
def test_an_edit_keeps_permissions_and_links(softdock, folder, kind):
    target, link = folder / f"system.{kind}", folder / f"link.{kind}"
    softdock("system", "convert", "pair.toml", target)
    target.chmod(0o640)
    link.symlink_to(target.name)
    code, _, err = softdock("system", "set", link, "a.k=7")
    assert code == 0, err
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert "k = 7" in softdock("system", "show", target)[1]
