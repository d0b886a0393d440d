"""Python files of an archive: a look at the archive executes none of them, a run does."""

import json
import sys
import zipfile

import pytest

from orchestrator import block, read_system, simulate, write_ssp, write_toml
from orchestrator.core.diagnostics import SspError
from orchestrator.core.system import Source, SourceKind

CODE = """
from pathlib import Path

from orchestrator import Block, Input, Output

with Path({mark!r}).open("a") as file:
    file.write("x")


class PI(Block):
    u: float = Input(start=1.0)
    y: float = Output()

    def step(self, t, h):
        self.y = 7.0 * self.u
"""
MODULE = "block:packed_victim:PI"


@pytest.fixture
def foreign(tmp_path):
    """An archive from elsewhere, and the file that its code writes when it is executed."""
    from orchestrator import System

    mark = tmp_path / "mark"
    (tmp_path / "own").mkdir()
    (tmp_path / "own/pi.py").write_text(CODE.format(mark=str(mark)))
    one = block(f"{tmp_path}/own/pi.py:PI")
    system = System("s").add("c", one, u=1.0).add("d", one).connect("c.y", "d.u")
    write_ssp(system, tmp_path / "foreign.ssp")
    mark.unlink()
    (tmp_path / "experiment.toml").write_text(
        'title = "t"\n[defaults]\nstep = "1 ms"\nstop = "2 ms"\n[case.a]\nsystem = "foreign.ssp"\n'
    )
    return tmp_path / "foreign.ssp", mark


NOTE = "block:pi.py:PI of the archive was not opened: it is code; softdock run opens it"


def without_connectors(archive, *names):
    """Leave out what the SSD of an archive declares of connectors."""
    import re

    with zipfile.ZipFile(archive) as file:
        content = {name: file.read(name) for name in file.namelist()}
    text = content["SystemStructure.ssd"].decode()
    for name in names:
        pattern = rf'<ssd:Connector name="{name}".*?</ssd:Connector>'
        text, count = re.subn(pattern, "", text, flags=re.DOTALL)
        assert count
    content["SystemStructure.ssd"] = text.encode()
    with zipfile.ZipFile(archive, "w") as file:
        for name, data in content.items():
            file.writestr(name, data)


@pytest.mark.parametrize("left_out", [(), ("y",), ("u", "y")])
@pytest.mark.parametrize("what", ["foreign.ssp", "experiment.toml"])
def test_a_check_executes_nothing_of_an_archive(foreign, softdock, what, left_out):
    archive, mark = foreign
    without_connectors(archive, *left_out)
    _, out, err = softdock("check", archive.with_name(what), "--json")
    assert not mark.exists()
    findings = json.loads(out)["findings"]
    told = {f["where"]: f["message"] for f in findings if f["code"] == "CAP112"}
    assert told == {"c": NOTE, "d": NOTE}
    wrong = [f["code"] for f in findings if f["severity"] == "error"]
    assert not wrong, (findings, err)
    assert "FIL102" in {f["code"] for f in findings}


SYSTEM = """
[system]
name = "s"
[component.c]
source = "block:own/pi.py:PI"
{device}
[connections]
"""
NAMED = "spring_dashpot"
SWAPPED = """
[case.b]
system = "plain.toml"
swap = {{ c = "block:own/pi.py:PI" }}
"""


@pytest.mark.parametrize("what", ["named.toml", "device.toml", "experiment.toml"])
def test_a_check_without_code_executes_nothing_that_is_named(foreign, softdock, what, monkeypatch):
    archive, mark = foreign
    folder = archive.parent
    monkeypatch.syspath_prepend(folder / "own")
    with (folder / "own/pi.py").open("a") as file:
        file.write("# another file than the one that was loaded to make the archive")
    device = '[component.d]\nsource = "device:pi:PI?port=1"'
    (folder / "named.toml").write_text(SYSTEM.format(device=""))
    (folder / "device.toml").write_text(SYSTEM.format(device=device))
    (folder / "plain.toml").write_text(SYSTEM.format(device="").replace("own/pi.py:PI", NAMED))
    with (folder / "experiment.toml").open("a") as file:
        file.write(SWAPPED.format())
    _, out, _ = softdock("check", folder / what, "--no-code", "--json")
    assert not mark.exists()
    findings = json.loads(out)["findings"]
    assert not [f for f in findings if f["severity"] == "error"], findings
    assert "FIL102" in {f["code"] for f in findings}
    softdock("check", folder / what)
    assert mark.exists()


@pytest.mark.parametrize("what", ["foreign.ssp", "experiment.toml"])
def test_a_graph_executes_nothing_of_an_archive(foreign, softdock, what):
    archive, mark = foreign
    code, out, err = softdock(
        "graph", archive.with_name(what), "--html", "--output", archive.with_name("graphs")
    )
    assert not mark.exists()
    assert code == 0, err
    assert f"component 'c': {NOTE}" in " ".join(err.split())
    assert ".svg" in out


def test_what_is_shown_and_compared_is_not_executed(foreign, softdock):
    archive, mark = foreign
    code, out, err = softdock("system", "show", archive)
    assert code == 0
    assert "pi.py:PI)" in out
    assert f"component 'd': {NOTE}" in " ".join(err.split())
    code, out, _ = softdock("diff", "--resolve", archive, archive)
    assert code == 0
    assert f"{archive}: component 'c': {NOTE}" in " ".join(out.split())
    case = f"{archive.with_name('experiment.toml')}#a"
    assert softdock("diff", case, case)[0] == 0
    assert not mark.exists()


def test_a_run_executes_it_after_a_look(foreign, softdock):
    archive, mark = foreign
    assert softdock("check", archive)[0] == 0
    assert not mark.exists()
    result = simulate(read_system(archive), step="1 ms", stop="2 ms")
    assert result["d.y"][-1] == 49.0
    assert mark.exists()


def test_a_file_of_ones_own_is_opened_as_before(foreign, softdock):
    archive, mark = foreign
    code = archive.with_name("own.py")
    code.write_text(CODE.format(mark=str(mark)))
    own = archive.with_name("own.toml")
    own.write_text('[system]\nname = "s"\n[component.c]\nsource = "block:own.py:PI"\n')
    code, out, _ = softdock("check", own)
    assert "CAP112" not in out
    assert mark.exists(), (code, out)


@pytest.fixture
def victim(foreign, monkeypatch):
    """A module beside the archive, and the archive with its block from that module."""
    archive, mark = foreign
    (archive.parent / "packed_victim.py").write_text(CODE.format(mark=str(mark)))
    monkeypatch.syspath_prepend(archive.parent)
    with zipfile.ZipFile(archive) as file:
        text = file.read("SystemStructure.ssd").decode()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("SystemStructure.ssd", text.replace("block:resources/pi/pi.py:PI", MODULE))
    yield archive, mark
    sys.modules.pop("packed_victim", None)


def test_an_archive_imports_no_module(victim, softdock):
    archive, mark = victim
    for command in ("check", "graph", "run"):
        code, out, err = softdock(command, archive)
        assert code != 0
        text = " ".join((out + err).split())
        assert f"source '{MODULE}' is a module outside of the archive" in text, text
        assert "pack the file, block:FILE.py:CLASS" in text
    assert "packed_victim" not in sys.modules
    assert not mark.exists()


def test_no_archive_is_written_with_a_module(victim, softdock, tmp_path):
    from orchestrator.core.system import Component, System

    (tmp_path / "packed_victim.py").write_text(CODE.format(mark=str(tmp_path / "m")))
    system = System("s", {"c": Component("c", Source(SourceKind.BLOCK, "packed_victim:PI"), {})})
    with pytest.raises(SspError, match=r"component 'c': source '.*pack the file"):
        write_ssp(system, tmp_path / "new.ssp")
    assert not (tmp_path / "new.ssp").exists()
    write_toml(system, tmp_path / "new.toml")  # which is read where the module is


def test_no_module_is_added_to_an_archive(foreign, softdock, monkeypatch):
    archive, mark = foreign
    (archive.parent / "packed_victim.py").write_text(CODE.format(mark=str(mark)))
    monkeypatch.syspath_prepend(archive.parent)
    before = archive.read_bytes()
    code, _, err = softdock("system", "add", archive, "e", MODULE)
    sys.modules.pop("packed_victim", None)
    assert code == 2
    assert "pack the file" in " ".join(err.split())
    assert archive.read_bytes() == before
