"""What shells complete: names of the file that the command line already has."""

import os
import subprocess
import sys

import pytest

from orchestrator.cli.completion import names_for

PROGRAM = "import sys; sys.argv = ['softdock']; from orchestrator.cli.main import main; main()"


@pytest.fixture(scope="module")
def epos(plants):
    return plants.parent.parent / "examples" / "epos"


@pytest.mark.parametrize(
    ("parameter", "begun", "expected"),
    [
        ("swap", "cont", ["contact="]),
        ("set_", "target.m", ["target.m="]),
        ("record", "chaser.pos", ["chaser.position"]),
        ("source", "chaser.v", ["chaser.velocity"]),
        ("into", "contact.velocity_", ["contact.velocity_a", "contact.velocity_b"]),
        ("name", "ta", ["target"]),
        ("case", "capture_b60_j", []),
    ],
)
def test_names_are_those_of_the_file(epos, parameter, begun, expected):
    inside = {"inside": ""} if parameter in {"source", "into", "name"} else {}
    given = {"target": epos / "ideal.ssd", **inside}
    assert names_for(parameter, given, begun) == expected


def test_cases_are_those_of_the_experiment(epos):
    found = names_for("case", {"target": epos}, "capture_b60_j")
    assert found == ["capture_b60_jacobi", "capture_b60_jacobi_mean"]


def test_nothing_is_offered_of_a_file_that_is_none(tmp_path):
    (tmp_path / "s.toml").write_text("[system")
    for target in (tmp_path / "s.toml", tmp_path / "no.ssd", None):
        assert names_for("swap", {"target": target}, "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_ask_the_command(epos, shell):
    line = f"softdock run {epos / 'ideal.ssd'} --swap cont"
    asked = {"COMP_WORDS": line, "COMP_CWORD": "4", "_SOFTDOCK_COMPLETE": f"complete_{shell}"}
    asked |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "contact=" in done.stdout, done.stderr
