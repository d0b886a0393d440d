"""``softdock identify`` on the emulated robot: the twin, the delay in the system, the table."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator import read_system
from orchestrator.cli.main import app
from orchestrator.rig.hardware.twin_file import read_twin

EPOS = Path(__file__).parents[3] / "examples" / "epos"
pytestmark = pytest.mark.alone
SHORT = ("--duration", "0.8", "--compared-duration", "0.4", "--rest", "0.2")


def test_the_delay_of_the_emulator_is_found_and_written_into_the_system(tmp_path, shipped_fmus):
    text = (EPOS / "rig_capture.ssd").read_text(encoding="utf-8")
    declared = text.replace('nominal="0.018"', 'nominal="0.004"')  # less than the robot alone has
    assert declared != text
    (tmp_path / "rig_capture.ssd").write_text(declared, encoding="utf-8")
    rig = [str(EPOS / "rig_tracked.toml"), "--case", "steady", "--device", "robot"]
    where = ["--set-delays", str(tmp_path / "rig_capture.ssd"), "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["identify", *rig, *SHORT, *where])
    assert done.exit_code == 0, done.output
    twin = read_twin(tmp_path / "out" / "robot.twin.toml")
    pair = next(each for each in twin.pair if each.response == "x")
    # 16 ms of the emulator and one cycle in which it answers; a busy machine misses cycles
    assert 0.015 < pair.delay.value < 0.032
    assert pair.gain.value == pytest.approx(1.0, abs=0.02)
    lines = read_system(tmp_path / "rig_capture.ssd").connections
    (line,) = (line for line in lines if str(line.target) == "sensor.x")
    # The line to the sensor is made by hardware: it has the delay of the robot alone, but in the
    # time of the run, which differs from that of the robot by less than a thousandth.
    assert line.delay.nominal_ns * 1e-9 == pytest.approx(pair.delay.value, rel=1e-3)
    assert line.delay.provenance == "identified"
    said = done.stdout.replace("\n", " ")
    assert "robot: kuka_rsi, intervals of 95%" in said
    assert "ppm" in said
    assert (tmp_path / "out" / "identification.html").exists()
