"""A supervised rig whose robot is identified, armed, tracked and looked at."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator.cli.main import app

EPOS = Path(__file__).parents[3] / "examples" / "epos"
pytestmark = pytest.mark.alone
PATIENCE = 90.0  # s; a busy machine


def supervisor(wish, rig):
    done = CliRunner().invoke(app, ["supervisor", wish, rig, "--json"])
    return done.exit_code, json.loads(done.stdout) if done.stdout else done.exception


def active(run, rig):
    """Wait until both devices are engaged, the robot is so alone before: it is identified."""
    end, found = time.monotonic() + PATIENCE, None
    while time.monotonic() < end and run.poll() is None:
        code, found = supervisor("status", rig)
        if code == 0 and found["state"] == "ACTIVE" and len(found["devices"]) == 2:
            return found
        time.sleep(0.02)
    raise AssertionError(f"the rig did not become active: {found}")


@pytest.fixture
def rig(tmp_path):
    """Write the experiment for a short run on a machine that others use; return file and name."""
    name = f"tracked-{os.getpid()}"
    text = (EPOS / "rig_tracked.toml").read_text(encoding="utf-8")
    for old, new in {
        'stop = "12 s"': 'stop = "7 s"',
        "strike-after = 6": "strike-after = 3",
        'memory = "3 s"': 'memory = "1 s"',
        'rig = "epos-tracked"': f'rig = "{name}"\nheartbeat = "5 s"',
        'command_stale = "500 ms"': 'command_stale = "5 s"',
        "hold_cycles = 0 ": "hold_cycles = 1000 ",
        'stale = "500 ms"': 'stale = "5 s"',
        "acceleration = 20.0": "acceleration = 2000.0",
        '"rig_capture.ssd"': f'"{EPOS}/rig_capture.ssd"',
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    path = tmp_path / "rig.toml"
    path.write_text(text, encoding="utf-8")
    return path, name


@pytest.fixture
def run(rig, tmp_path, shipped_fmus):
    path, _ = rig
    command = [sys.executable, "-m", "orchestrator", "run", str(path), "--case", "slower"]
    with (tmp_path / "said.txt").open("w", encoding="utf-8") as said:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [*command, "--output", str(tmp_path / "out")], stdout=said, stderr=said
        )
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def test_a_tracked_run_says_what_its_robot_was_like(rig, run, tmp_path):
    _, name = rig
    found = active(run, name)
    assert found["rig"] == name
    assert found["latched"] == []
    assert set(found["devices"]) == {"robot", "sensor"}
    assert found["devices"]["robot"]["pid"] not in (run.pid, os.getpid())
    code, refused = supervisor("reset", name)
    assert code == 1
    assert "refused" in refused
    assert run.wait(PATIENCE) == 0, (tmp_path / "said.txt").read_text()
    out = tmp_path / "out"
    (track,) = json.loads((out / "summary.json").read_text())["cases"]["slower"]["tracking"]
    assert track["response"] == "robot.x"
    # 16 ms of the emulator and the wire, and 8 ms more from 3 s on
    assert 0.012 < track["delay_s"] < 0.032
    assert track["gain"] == pytest.approx(1.0, abs=0.05)
    assert track["delay_margin_s"] is not None
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "Tracking of slower" in report
    assert "Tracking of robot.x in slower." in report


def test_an_operator_stops_the_rig_and_the_run_ends(rig, run, tmp_path):
    _, name = rig
    active(run, name)
    code, stopped = supervisor("stop", name)
    assert code == 0
    assert stopped["latched"]
    assert run.wait(PATIENCE) == 6
    said = (tmp_path / "said.txt").read_text(encoding="utf-8")
    assert "case 'slower': stopped by the operator at" in said.replace("\n", " ")
    changes = (tmp_path / "out" / "slower.supervisor" / "changes.csv").read_text()
    assert "operator" in changes


def test_a_rig_that_is_not_there_is_said():
    code, error = supervisor("status", "nobody")
    assert code != 0
    assert "nobody" in str(error)
