"""``softdock arm`` on the shipped rigs: the table, JSON, and what a refusal ends with."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.main import app

EPOS = Path(__file__).parents[3] / "examples" / "epos"


def arm(name, *options):
    return CliRunner().invoke(app, ["arm", str(EPOS / name), *options])


def test_all_cases_are_listed_and_one_that_is_forced_is_no_refusal(shipped_fmus):
    done = arm("rig.toml", "--json")
    assert done.exit_code == 0
    content = json.loads(done.stdout)
    assert list(content) == ["contact_16", "contact_32", "capture"]
    text = json.dumps(content["contact_32"])
    assert "forced" in text
    assert "unstable" in text
    assert (
        arm("rig.toml", "--json", "--case", "capture").stdout
        == json.dumps({"capture": content["capture"]}, indent=2) + "\n"
    )


@pytest.mark.parametrize("dry", [False, True])
def test_a_refusal_is_shown_and_ends_with_2_unless_it_is_a_dry_run(shipped_fmus, dry):
    done = arm("rig_unstable.toml", *(["--dry"] if dry else []))
    assert "unstable" in done.stdout
    assert "refused" in done.stdout
    if dry:
        assert done.exit_code == 0
    else:
        assert "arming is refused: chaser.position -> robot.dx" in str(done.exception)
