"""``softdock export ssp``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestrator import read_system
from orchestrator.checks import check_target
from orchestrator.cli.main import app
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    SoftdockError,
    UnknownNameError,
)
from orchestrator.study.experiment import RunOptions

EPOS = Path(__file__).parents[4] / "examples" / "epos"


def run(*arguments):
    result = CliRunner().invoke(app, ["export", "ssp", *map(str, arguments)])
    if isinstance(result.exception, SoftdockError):
        raise result.exception
    return result


def test_a_case_as_it_is(plants, tmp_path):
    file = tmp_path / "own.ssp"
    assert run(EPOS, "--case", "capture_b20", "--output", file).exit_code == 0
    system = read_system(file)
    assert system.components["damper"].source.kind == "block"
    assert system.components["damper"].values == {"b": 20.0}
    assert [c.delay.nominal_ns for c in system.connections if c.delay] == [16_000_000] * 2


def test_a_system_as_it_is(plants, tmp_path):
    file = tmp_path / "own.ssp"
    assert run(EPOS / "ideal.ssd", "--output", file, "--ssp-version", "2.0").exit_code == 0
    assert read_system(file).name == "ideal"


def test_a_portable_case(plants, tmp_path):
    file = tmp_path / "other.ssp"
    options = ("--case", "capture_b60", "--portable", "--step", "2 ms", "--delay", "plain")
    result = run(EPOS, *options, "--json", "--output", file)
    content = json.loads(result.output)
    assert content["file"] == str(file)
    assert "for 16 ms, of a delay of 16 ms, in steps of 2 ms" in content["remarks"][0]
    assert read_system(file).experiment.step_ns == 2_000_000


def test_two_lines_are_two_models(plants, tmp_path):
    file = tmp_path / "lines.ssp"
    run(EPOS, "--case", "capture_b60", "--portable", "--output", file)
    report = check_target(file, RunOptions())
    assert len([name for name in read_system(file).components if name.startswith("delayed_")]) == 2
    assert "FMU107" not in {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((EPOS,), UnknownNameError),
        ((EPOS, "--case", "x"), UnknownNameError),
        ((EPOS / "ideal.ssd", "--case", "x"), DescriptionError),
        ((EPOS, "--case", "ideal", "--step", "1 ms"), DescriptionError),
        ((EPOS, "--case", "capture_delay_step", "--portable"), CapabilityError),
        ((EPOS, "--case", "capture_b60_jacobi_mean", "--portable"), CapabilityError),
    ],
)
def test_wrong_arguments(arguments, error, plants, tmp_path, wording):
    with wording.raises(error):
        run(*arguments, "--output", tmp_path / "x.ssp")
    assert list(tmp_path.iterdir()) == []
