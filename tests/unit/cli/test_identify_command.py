"""``softdock identify``: what the file's table says, and what options say instead."""

import pytest
from typer.testing import CliRunner

from orchestrator.cli.main import app
from orchestrator.core.diagnostics import DescriptionError

BLOCKS = '''
from orchestrator import Block, Input, Output


class Plan(Block):
    """Stays where it is."""

    x: float = Output(unit="m", depends_on=())


class Follow(Block):
    """Follows at once."""

    dx: float = Input(unit="m")
    x: float = Output(unit="m")
'''
SYSTEM = """
[system]
name = "rig"
[component.plan]
source = "block:rig.py:Plan"
[component.robot]
source = "block:rig.py:Follow"
[connections]
"plan.x -> robot.dx" = {}
"""
EXPERIMENT = """
title = "rig"
[defaults]
step = "4 ms"
stop = "0.6 s"
[identification]
duration = "1.2 s"
compared = "chirp"
limits = { "robot.LIMITED" = [2e-4, 0.05], "arm.tau" = [1.0] }
[case.rig]
system = "rig.toml"
[case.rig.devices.robot]
device = "kuka_rsi"
axes = ["x"]
measured = "displacement"
"""


@pytest.fixture
def rig(tmp_path):
    """Write a rig whose table limits a command; return what does it."""

    def write(limited):
        (tmp_path / "rig.py").write_text(BLOCKS)
        (tmp_path / "rig.toml").write_text(SYSTEM)
        (tmp_path / "experiment.toml").write_text(EXPERIMENT.replace("LIMITED", limited))
        return str(tmp_path)

    return write


@pytest.fixture
def procedures(monkeypatch):
    """What devices would have been excited with; none is."""
    seen = []

    def refuse(*arguments, **_):
        seen.append(arguments[3])
        raise DescriptionError("not in this test")

    monkeypatch.setattr("orchestrator.rig.identification.before_arming.identify_case", refuse)
    return seen


def test_the_table_of_the_file_holds_where_no_option_does(rig, procedures):
    CliRunner().invoke(app, ["identify", rig("dx"), "--rest", "0.2", "--compared", "step"])
    (how,) = procedures
    assert (how.fitted, how.duration, how.compared_duration) == ("prbs", 1.2, 2.0)
    assert (how.rest, how.compared) == (0.2, "step")
    assert list(how.limits) == ["robot.dx"]  # the arm is no device of this case
    assert (how.limits["robot.dx"].amplitude, how.limits["robot.dx"].speed) == (2e-4, 0.05)


def test_an_option_limits_a_command_instead_of_the_table(rig, procedures):
    CliRunner().invoke(app, ["identify", rig("dx"), "--limits", "robot.dx=1e-4"])
    (how,) = procedures
    assert (how.limits["robot.dx"].amplitude, how.limits["robot.dx"].speed) == (1e-4, float("inf"))


def test_a_limit_of_no_command_is_refused_before_anything_is_opened(rig):
    outcome = CliRunner().invoke(app, ["identify", rig("dz")])
    assert outcome.exit_code != 0
    assert "limits of 'robot.dz': expected a command of: robot.dx" in str(outcome.exception)
