"""``softdock devices faults`` on the EPOS rig: what goes wrong, and what the table says of it.

Thresholds are those of a machine that others use: a fault is found late, but found.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.main import app

EPOS = Path(__file__).parents[3] / "examples" / "epos"
PATIENT = {
    'system = "rig_capture.ssd"': f'system = "{EPOS}/rig_capture.ssd"',
    "hold_cycles = 0": 'hold_cycles = 500\nheartbeat = "2 s"\ncommand_stale = "3 s"',
    'frozen = "200 ms"': 'frozen = "3 s"',
    'frozen = "50 ms"': 'frozen = "3 s"',
    'stale = "60 ms"': 'stale = "1 s"',
    "travel = 0.0005": "travel = 0.02",
    "acceleration = 20.0": "acceleration = 2000.0",
    "lost = 40": "lost = 4000",
    "lost = 100": 'lost = 4000\nstale = "1 s"',
}


@pytest.fixture
def rig(tmp_path, shipped_fmus, worker_id):
    text = (EPOS / "rig_supervised.toml").read_text(encoding="utf-8")
    name = f'rig = "faults-{worker_id}"'
    for old, new in {**PATIENT, 'rig = "epos"': name}.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "rig.toml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(rig, *options):
    return CliRunner().invoke(app, ["devices", "faults", str(rig), "--lead", "0.2", *options])


@pytest.mark.parametrize(
    ("fault", "reason", "state"),
    [
        ("kill -9 of the simulation", "engine_lost (simulation)", "FALLBACK"),
        ("kill -9 of the supervisor", "supervisor_lost (each device)", "FALLBACK"),
        ("robot: drop:1", "sensor_stale (robot)", "FALLBACK"),
    ],
)
def test_a_fault_is_found_and_the_rig_comes_to_rest(rig, tmp_path, fault, reason, state):
    done = faults(rig, "--only", fault, "--output", str(tmp_path / "out"), "--json")
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert row["fault"] == fault
    assert row["detected by"] == reason
    assert row["reaction"].startswith(state)
    assert row["within limits"] == "yes"
    assert float(row["force [N]"]) < 60.0
    assert 0.0 < float(row["velocity [m/s]"]) < 0.1
    assert float(row["recorded until [s]"]) > 0.2  # the fault came 0.2 s after ACTIVE
    assert list((tmp_path / "out").glob("*/robot.log.csv"))


def test_a_rig_needs_a_supervisor(tmp_path):
    done = faults(EPOS / "rig.toml", "--output", str(tmp_path))
    assert done.exit_code != 0
    assert "expected a table [supervisor], found none" in str(done.exception)
