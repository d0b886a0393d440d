"""``softdock devices faults`` on the EPOS rig, once for each of its kinds: real processes.

What a fault leads to, and when, is in ``tests/unit/rig/supervisor/test_rig_in_step.py``. A busy
machine may find another one first; that the rig is left alone by it is all that is held.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.main import app

EPOS = Path(__file__).parents[3] / "examples" / "epos"
pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("shipped_fmus")]


def faults(rig, *options):
    return CliRunner().invoke(app, ["devices", "faults", str(rig), "--lead", "0.2", *options])


@pytest.mark.parametrize(
    ("rig", "code"), [("rig_supervised.toml", "-9"), ("rig.toml --case capture", "-9")]
)
def test_a_run_is_killed_and_the_second_time_read_back(tmp_path, rig, code):
    file, *case = rig.split()
    given = (*case, "--only", "kill -9 of the simulation", "--output", str(tmp_path), "--json")
    done = faults(EPOS / file, *given)
    assert done.exit_code in (0, 1), done.output
    assert "1 trial, 0 done before" in done.stderr
    (row,) = json.loads(done.stdout)
    assert row["exit code"] == code
    assert row["detected by"] or not case
    assert row["recorded until [s]"] != "nothing"
    assert list(tmp_path.glob("*/robot.log.csv"))
    again = faults(EPOS / file, *given)
    assert "1 trial, 1 done before" in again.stderr
    assert json.loads(again.stdout) == [row]
