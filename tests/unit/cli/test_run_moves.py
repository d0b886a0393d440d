"""What ``softdock run`` says before anything moves, and twins of an earlier identification."""

import pytest
from robot_twin import TWIN
from typer.testing import CliRunner

from orchestrator.cli.main import app
from orchestrator.core.diagnostics import ArmingError, DescriptionError
from orchestrator.rig.hardware.twin_file import twin_text
from orchestrator.rig.identification import before_arming

BLOCKS = '''
from orchestrator import Block, Input, Output


class Body(Block):
    """Is pushed with a force that comes back."""

    force: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=("force",))

    def step(self, t, h):
        self.x = 2.0 * self.force


class Follow(Block):
    """Follows at once, and grows with every round."""

    dx: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.x = self.dx
'''
SYSTEM = """
[system]
name = "rig"
[component.body]
source = "block:rig.py:Body"
[component.robot]
source = "block:rig.py:Follow"
[connections]
"body.x -> robot.dx" = {}
"robot.x -> body.force" = {}
"""
EXPERIMENT = """
title = "rig"
[defaults]
algorithm = "gauss-seidel"
delay = "plain"
step = "4 ms"
stop = "0.6 s"
[realtime]
clock = "robot"
[identification]
duration = "1.2 s"
compared_duration = "0.6 s"
rest = "0.2 s"
limits = { "robot.dx" = [5e-4, 0.05] }
[case.rig]
system = "rig.toml"
[case.rig.devices.robot]
device = "kuka_rsi"
axes = ["x"]
"""
IDENTIFIED = (
    "before case 'rig' is armed, 'robot' (kuka_rsi) moves to be identified: robot.dx by up to"
    " 0.0005 m either way at up to 0.05 m/s; for 2.4 s"
)
COMMANDED = (
    "when it is armed, case 'rig' commands 'robot' (kuka_rsi): robot.dx by up to 0.05 m either way"
    " at up to 0.25 m/s"
)


class MovedError(Exception):
    """What must not come before the rest."""


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """Write a rig whose loop is unstable; return what runs it until it would move."""
    (tmp_path / "rig.py").write_text(BLOCKS)
    (tmp_path / "rig.toml").write_text(SYSTEM)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)

    def identify(*_, **__):
        raise MovedError

    monkeypatch.setattr(before_arming, "identify_case", identify)
    return lambda *options: CliRunner().invoke(app, ["run", str(tmp_path), *options])


def leave(place, twin=TWIN):
    place.mkdir(parents=True)
    (place / "robot.twin.toml").write_text(twin_text(twin))


def said(found):
    return " ".join(found.output.split())


def test_it_is_said_what_will_move_before_it_moves(rig):
    found = rig()
    assert isinstance(found.exception.__cause__, MovedError)
    assert IDENTIFIED in said(found)
    assert "at most 4 times" in said(found)
    assert said(found).index(IDENTIFIED) < said(found).index(COMMANDED)


def test_a_stored_twin_stands_for_the_identification(rig, tmp_path):
    leave(tmp_path / "results" / tmp_path.name / "identification" / "rig")
    found = rig("--no-identify", "--case", "rig")
    assert isinstance(found.exception, ArmingError), found.output
    assert (
        "'robot' is not identified again: its stored twin of 2026-01-02T03:04:05+00:00 ("
        in said(found)
    )
    assert "identified: robot.dx" not in said(found)
    assert COMMANDED in said(found)


def test_the_file_may_name_twins(rig, tmp_path):
    leave(tmp_path / "twins")
    named = 'twins = { robot = "twins/robot.twin.toml" }\nduration = "1.2 s"'
    (tmp_path / "experiment.toml").write_text(EXPERIMENT.replace('duration = "1.2 s"', named, 1))
    found = rig("--no-identify")
    assert isinstance(found.exception, ArmingError), found.output
    assert "twins/robot.twin.toml" in said(found)


def test_without_a_twin_nothing_moves(rig):
    found = rig("--no-identify")
    assert isinstance(found.exception, DescriptionError)
    told = str(found.exception)
    assert told.startswith("case 'rig', device 'robot': --no-identify: expected a stored twin")
    assert "identification/rig/robot.twin.toml; run once without --no-identify" in told
    assert COMMANDED not in said(found)


@pytest.mark.parametrize("change", [{"component": "arm"}, {"device": "ur_rtde"}])
def test_the_twin_of_another_device_is_refused(rig, tmp_path, change):
    leave(tmp_path / "out" / "identification" / "rig", TWIN.model_copy(update=change))
    found = rig("--no-identify", "--output", str(tmp_path / "out"))
    assert isinstance(found.exception, DescriptionError)
    told = str(found.exception)
    assert "robot.twin.toml is the twin of " in told
    assert told.endswith("expected one of 'robot' (kuka_rsi)")
