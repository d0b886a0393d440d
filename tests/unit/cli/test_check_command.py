"""The command line of `softdock check`."""

import json

import pytest
from diagnostic_cases.files import component, copied, ssd


@pytest.fixture
def file(probe, tmp_path):
    """A system with warnings (inputs that are not connected), and a note (no step)."""
    copied(probe, tmp_path)
    path = tmp_path / "s.ssd"
    path.write_text(ssd(component()))
    return path


def test_lines_are_those_of_a_linter(softdock, file):
    code, out, err = softdock("check", file)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[-3] == (
        f"{file}:3: note TIM102: no communication step: give it for a run (SSP 1.0.1, 5.1.1)"
    )
    assert (
        f"{file}:6: warning CON119: probe.u: input is not connected; it keeps probe.u = 0.0" in out
    )
    assert lines[-2] == "s: ok (1 component, 0 connections, 0 closed loops)"
    assert lines[-1] == "0 errors, 3 warnings, 1 note"
    assert softdock("check", file, "--strict")[0] == 1


def test_codes_are_selected_and_ignored(softdock, file):
    code, out, _ = softdock("check", file, "--select", "tim")
    assert (code, out.count("TIM102"), out.count("CON119")) == (0, 1, 0)
    code, out, _ = softdock("check", file, "--ignore", "CON119,TIM", "--ignore", "POR")
    assert (code, out.splitlines()[-1]) == (0, "0 errors, 0 warnings, 0 notes")


def test_a_step_may_be_given(softdock, file):
    _, out, _ = softdock("check", file, "--step", "1 ms")
    assert "TIM102" not in out
    _, out, _ = softdock("check", file, "--step", "1 ms", "--algorithm", "magic")
    assert "error CAP104: no algorithm 'magic'" in out


def test_json_holds_the_same(softdock, file):
    code, out, err = softdock("check", file, "--json")
    data = json.loads(out)
    assert (code, err, data["exit_code"], data["target"]) == (0, "", 0, str(file))
    assert data["counts"] == {"error": 0, "warning": 3, "note": 1}
    assert {found["code"] for found in data["findings"]} == {"CON119", "TIM102"}
    again = softdock("check", file, "--json")[1]
    assert again == out


def test_what_cannot_be_checked_ends_with_2(softdock, tmp_path):
    code, out, err = softdock("check", tmp_path)
    assert (code, err) == (2, "")
    assert "error FIL101: expected experiment.toml, SystemStructure.ssd or system.toml" in out
    (tmp_path / "s.ssd").write_bytes(b"no XML")
    assert softdock("check", tmp_path / "s.ssd")[0] == 2
    (tmp_path / "notes.txt").write_text("nothing")
    assert softdock("check", tmp_path / "notes.txt")[0] == 2


def test_strict_makes_warnings_count(softdock, file):
    text = ssd(component()).replace('name="s"', 'name="s" colour="3"', 1)
    file.write_text(text)
    arguments = ("check", file, "--select", "SSP102")
    assert softdock(*arguments)[0] == 0
    assert softdock(*arguments, "--strict")[0] == 1


def test_a_code_is_explained(softdock):
    code, out, _ = softdock("check", "--explain", "loo104")
    assert code == 0
    assert out.startswith("LOO104 warning: a loop misses its declared delay\n\n")
    code, _, err = softdock("check", "--explain", "LOO999")
    assert (code, "no code 'LOO999'" in err) == (2, True)


def test_a_target_is_wanted(softdock):
    code, _, err = softdock("check")
    assert (code, "missing argument 'TARGET'" in err) == (2, True)
