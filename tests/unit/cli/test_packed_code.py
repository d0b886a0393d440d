"""Python files of an archive: a look at the archive executes none of them, a run does."""

import json
import os
import sys
import zipfile

import pytest
from live_pages import recording

from orchestrator import System, block, read_system, simulate, write_ssp, write_toml
from orchestrator.cli.main import HOMES, LOOKS, opens_systems
from orchestrator.core.diagnostics import SspError
from orchestrator.core.recording import write_parquet
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
def foreign(tmp_path, monkeypatch):
    """An archive from elsewhere, and the file that its code writes when it is executed."""
    monkeypatch.chdir(tmp_path)  # where commands write what nobody names
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
TWO = """[component.d]
source = "block:own/pi.py:PI"
[connections]
lines = ["c.y -> d.u"]
"""
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


def test_no_archive_is_written_with_a_module(victim, softdock, tmp_path, wording):
    from orchestrator.core.system import Component, System

    (tmp_path / "packed_victim.py").write_text(CODE.format(mark=str(tmp_path / "m")))
    system = System("s", {"c": Component("c", Source(SourceKind.BLOCK, "packed_victim:PI"), {})})
    with wording.raises(SspError):
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


def commands():
    """Every command, by the words that call it."""
    for name, home in HOMES.items():
        made = home.load(name)
        for sub, each in getattr(made, "commands", {"": made}).items():
            yield f"{name} {sub}".strip(), each


#: What is left of a command line that opens {t}, for each command that opens a system.
LINES = {
    "check": "{t}",
    "run": "{t} --output {o}",
    "arm": "{t}",
    "animate": "{t}",
    "replay": "{r} --of {t} --port none",
    "sweep": "{t} --output {o}",
    "graph": "{t} --output {o}",
    "diff": "{t} {t} --resolve",
    "analyze delays": "{t}",
    "analyze loop": "{t}",
    "analyze step": "{t} --tolerance 0.01",
    "certify": "{t}",
    "stubs": "{t}",
    "devices faults": "{t}",
    "dcp serve": "{t} --port 0 --runs 1",
    "dcp describe": "{t} --output {o}.dcpx",
    "identify": "{t} --output {o}",
    "system show": "{t}",
    "system new": "{o}.ssd",
    "system add": "{t} e block:{p}:PI",
    "system add-system": "{t} inner",
    "system experiment": "{t} --stop 1s",
    "system connect": "{t} d.y c.u",
    "system connect-power": "{t} c.a d.b",
    "system auto-connect": "{t}",
    "system set-delay": "{t} c.y d.u 5ms",
    "system disconnect": "{t} c.y d.u",
    "system expose": "{t} d.y out",
    "system set": "{t} c.u=2.0",
    "system unset": "{t} c.u",
    "system parameters": "{t} {o}.ssv c.u=2.0",
    "system link": "{t} {o}.ssv",
    "system rename": "{t} c other",
    "system remove": "{t} c",
    "system swap": "{t} c block:{p}:PI",
    "system move": "{t} c inner",
    "system convert": "{t} {o}.toml",
    "export fmu": "{t} --output {o}.fmu",
    "export ssp": "{t} --output {o}.ssp",
}


def test_every_command_that_opens_a_system_has_the_one_option():
    opening = {name for name, each in commands() if opens_systems(name, each)}
    assert opening == set(LINES)
    assert opening >= LOOKS
    for name, each in commands():
        options = [one for one in each.params if "--code" in one.opts]
        assert len(options) == (name in opening), name
        assert all("--no-code" in option.secondary_opts for option in options)
        told = " ".join(one.help or "" for one in each.params if one.param_type_name == "argument")
        if any(word in told for word in ("experiment", ".ssd", ".ssp", "xperiment (.toml)")):
            assert name in opening, f"{name} opens: {told}"


@pytest.mark.parametrize("name", LINES)
def test_no_command_executes_what_it_was_told_not_to(foreign, softdock, name):
    archive, mark = foreign
    with (archive.parent / "own/pi.py").open("a") as file:
        file.write("# another file than the one that was loaded to make the archive")
    plain = archive.with_name("plain.toml")
    plain.write_text(SYSTEM.format(device="").replace("[connections]", TWO))
    write_parquet(recording(10), archive.with_name("r.parquet"))
    for target in (archive, plain):
        words = {"t": target, "o": target.with_name("out"), "r": target.with_name("r.parquet")}
        line = LINES[name].format(p=target.with_name("own") / "pi.py", **words)
        _, _, err = softdock(*name.split(), *line.split(), "--no-code")
        assert "Usage:" not in err
        assert not mark.exists(), (target, err)


@pytest.mark.parametrize("name", sorted(LOOKS))
def test_what_looks_executes_nothing_of_an_archive(foreign, softdock, name):
    archive, mark = foreign
    write_parquet(recording(10), archive.with_name("r.parquet"))
    words = {"t": archive, "o": archive.with_name("out"), "r": archive.with_name("r.parquet")}
    softdock(*name.split(), *LINES[name].format(**words).split())
    assert not mark.exists()


@pytest.mark.parametrize("name", ["certify", "analyze loop", "graph"])
def test_it_is_executed_where_that_is_asked_for(foreign, softdock, name):
    archive, mark = foreign
    code = archive.with_name("own") / "pi.py"
    lag = "self.y += h * (0.5 * self.u - self.y)"  # so the loop has states, and decays
    code.write_text(CODE.format(mark=str(mark)).replace("self.y = 7.0 * self.u", lag))
    one = block(f"{code}:PI")
    ring = System("s").add("c", one, u=1.0).add("d", one).connect("c.y", "d.u")
    write_ssp(ring.connect("d.y", "c.u", delay="5 ms"), archive)
    mark.unlink(missing_ok=True)
    experiment = archive.with_name("experiment.toml")
    line = [*name.split(), *LINES[name].format(t=experiment, o=archive.with_name("out")).split()]
    code, out, err = softdock(*line)
    assert not mark.exists()
    if name != "graph":  # which draws what the archive declares; certify knows the delays at least
        assert code == (0 if name == "certify" else 2)
        assert "--code lets a command execute it" in " ".join((out + err).split())
    softdock(*line, "--code")
    assert mark.exists()


def test_the_environment_decides_for_all_commands_and_their_processes(
    foreign, softdock, monkeypatch
):
    archive, mark = foreign
    monkeypatch.setenv("SOFTDOCK_UNOPENED", "all")
    line = ["run", archive.with_name("experiment.toml"), "--output", archive.with_name("out")]
    for more in ([], ["--isolate", "all"]):
        code, _, err = softdock(*line, *more)
        assert (code, "it is code" in err) == (2, True)
    assert not mark.exists()
    assert os.environ["SOFTDOCK_UNOPENED"] == "all"
    monkeypatch.setenv("SOFTDOCK_UNOPENED", "some")
    code, _, err = softdock(*line)
    assert (code, "SOFTDOCK_UNOPENED: expected none, packed or all" in err) == (2, True)
    assert softdock(*line, "--code")[0] == 0
    assert mark.exists()
