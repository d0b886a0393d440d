"""How a command ends that cannot do what it was asked for, for people and for programs."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from diagnostic_cases.files import component, copied, ssd

PROGRAM = str(Path(sys.executable).with_name("softdock"))
EXPERIMENT = 'title = "e"\n[case.only]\nsystem = "s.ssd"\n'


@pytest.fixture
def folder(probe, tmp_path, monkeypatch):
    """A folder with a system and an experiment, in which commands are run."""
    copied(probe, tmp_path)
    (tmp_path / "s.ssd").write_text(ssd(component()))
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_version_is_printed(softdock):
    assert softdock("--version") == (0, f"softdock {version('softdock')}\n", "")


FIELDS = {"code", "message", "file", "line", "place", "key", "hint", "context"}
FAILING = {
    "run no file": ["run", "none.toml"],
    "run no case": ["run", "e.toml", "--case", "onlz"],
    "run no target": ["run"],
    "run no such option": ["run", "e.toml", "--sett", "a=1"],
    "build": ["build", "none.toml"],
    "check": ["check", "s.ssd", "--select", "LOP"],
    "sweep": ["sweep", "e.toml"],
    "animate": ["animate", "e.toml"],
    "graph": ["graph", "e.toml", "--case", "onlz"],
    "diff": ["diff", "e.toml#onlz", "s.ssd"],
    "analyze": ["analyze", "--delay", "soon"],
    "analyze delays": ["analyze", "delays", "none.ssd"],
    "fmu info": ["fmu", "info", "none.fmu"],
    "fmu check": ["fmu", "check", "none.fmu"],
    "system show": ["system", "show", "none.ssd"],
    "export fmu": ["export", "fmu", "e.toml", "--case", "onlz"],
    "export block": ["export", "block", "damper"],
    "export ssp": ["export", "ssp", "e.toml", "--case", "onlz"],
}


@pytest.mark.parametrize("name", FAILING)
def test_json_is_an_object_on_failure_too(softdock, folder, name):
    code, out, err = softdock(*FAILING[name], "--json")
    error = json.loads(out)["error"]
    assert (code, error["exit_code"]) == (2, 2)
    assert error["message"].splitlines()[0] in err.replace("\n", " ") + err
    for problem in error["problems"]:
        assert set(problem) == FIELDS
        assert problem["message"]
    assert softdock(*FAILING[name])[1] == "", "without it there is nothing on standard output"


def problem(softdock, *arguments):
    (found,) = json.loads(softdock(*arguments, "--json")[1])["error"]["problems"]
    return found


def test_file_line_and_place_are_fields(softdock, folder):
    found = problem(softdock, "run", "none.toml")
    assert (found["code"], found["file"]) == ("LoadError", "none.toml")
    assert found["message"] == "no such file or folder"

    text = ssd(component()).replace("</ssd:Elements>", "</ssd:Elements><ssd:Connections>"
        '<ssd:Connection startElement="probe" startConnector="y" endElement="no"'
        ' endConnector="u"/></ssd:Connections>')  # fmt: skip
    (folder / "s.ssd").write_text(text)
    found = problem(softdock, "system", "show", "s.ssd")
    assert found["code"].startswith("SSP")
    assert found["file"] == "s.ssd"
    assert text.splitlines()[found["line"] - 1].count("<ssd:Connection ") == 1
    assert "no.u" in found["place"]


def test_a_case_and_a_component_are_named(softdock, folder):
    (folder / "s.ssd").write_text(ssd(component(source="gone.fmu")))
    found = problem(softdock, "run", "e.toml")
    assert found["context"] == "case 'only': component 'probe'"
    assert found["file"].endswith("gone.fmu")
    assert found["message"] == (
        "no such FMU; build it (`softdock build`) or correct the component's source"
    )


def test_a_key_and_what_was_meant_are_fields(softdock, folder):
    (folder / "e.toml").write_text(EXPERIMENT + "formts = ['csv']\n")
    found = problem(softdock, "run", "e.toml")
    assert (found["code"], found["file"]) == ("EXP101", "e.toml")
    assert (found["key"], found["hint"]) == ("case.only.formts", "formats")

    (folder / "e.toml").write_text(EXPERIMENT + "set = { 'probe.gane' = 1 }\n")
    found = problem(softdock, "run", "e.toml")
    assert (found["context"], found["hint"]) == ("case 'only'", "gain")

    text = "[system]\nname = 's'\n[connections]\n'a.y -> b.u' = {}\n"
    (folder / "s.toml").write_text(text)
    found, _ = json.loads(softdock("run", "s.toml", "--json")[1])["error"]["problems"]
    assert (found["code"], found["key"]) == ("CON101", "a.y -> b.u")
    assert found["place"] == "connection a.y -> b.u"


def test_several_problems_are_several_objects(softdock, folder):
    (folder / "e.toml").write_text(EXPERIMENT + "set = { 'probe.gane' = 1, 'prob.u' = 1 }\n")
    error = json.loads(softdock("run", "e.toml", "--json")[1])["error"]
    assert len(error["problems"]) == len(error["message"].splitlines()) == 2


@pytest.mark.slow
def test_what_was_built_is_in_the_object(softdock, folder):
    (folder / "A.mo").write_text("model A\n  Real x(start=1);\nequation\n  der(x) = -x;\nend A;\n")
    (folder / "B.mo").write_text("model B\n  Real x;\nequation\n  x = ;\nend B;\n")
    code, out, _ = softdock("build", "A.mo", "B.mo", "--json")
    content = json.loads(out)
    assert (code, [row["name"] for row in content["built"]]) == (2, ["A"])
    assert "B.mo:4" in content["error"]["message"]


def test_a_measure_that_cannot_be_read_off_is_an_error_of_the_object(softdock, folder):
    measure = '[case.only.measure.m]\nkind = "growth"\nsignal = "probe.y"\n'
    (folder / "e.toml").write_text(EXPERIMENT + measure)
    arguments = ("run", "e.toml", "--step", "1 s", "--stop", "2 s", "--output", "out", "--json")
    code, out, _ = softdock(*arguments)
    content = json.loads(out)
    assert (code, content["error"]["exit_code"]) == (2, 2)
    assert content["error"]["problems"][0]["message"].startswith("case 'only', measure 'm'")
    assert content["cases"]["only"]


@pytest.mark.slow
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_closed_pipe_is_no_failure(folder, option):
    command = [PROGRAM, "check", "s.ssd", *option]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait() == 141, "as of a program that SIGPIPE has ended"
