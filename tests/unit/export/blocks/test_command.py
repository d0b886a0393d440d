"""``softdock export block``."""

import json

import pytest
from typer.testing import CliRunner

from orchestrator.cli.main import app
from orchestrator.core.diagnostics import DescriptionError, SoftdockError, UnknownNameError
from orchestrator.core.simunits import read_fmu


def run(*arguments):
    result = CliRunner().invoke(app, ["export", "block", *map(str, arguments)])
    if isinstance(result.exception, SoftdockError):
        raise result.exception
    return result


def test_values_become_defaults(tmp_path):
    file = tmp_path / "contact.fmu"
    options = ("--set", "k=2500", "--set", "latched=true", "--output", file)
    result = run("spring_dashpot", *options)
    assert result.exit_code == 0
    assert str(file) in result.output.replace("\n", "")
    connectors = read_fmu(file).description.connectors
    assert (connectors["k"].start, connectors["latched"].start) == (2500.0, True)
    again = run("spring_dashpot", *options, "--json")
    assert json.loads(again.output) == {
        "files": {"2.0": str(file)},
        "name": "spring_dashpot",
        "cached": True,
    }


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("nothing",), UnknownNameError),
        (("virtual_damper", "--set", "b"), DescriptionError),
        (("virtual_damper", "--set", "b=x"), DescriptionError),
        (("virtual_damper", "--set", "q=1"), UnknownNameError),
        (("virtual_damper", "--set", "force=1"), UnknownNameError),
        (("virtual_damper", "--fmi", "both", "--output", "x.fmu"), DescriptionError),
    ],
)
def test_wrong_arguments(arguments, error, wording):
    with wording.raises(error):
        run(*arguments)
