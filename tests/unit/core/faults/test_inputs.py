"""Own inputs of a system that are driven by signals of files."""

import numpy as np
import pytest

from orchestrator.author import read_system
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.recording import Result, write_parquet
from orchestrator.core.simunits import block
from orchestrator.core.ssp import write_parameter_set, write_ssd
from orchestrator.core.system import Causality, Connector, DefaultExperiment, System
from orchestrator.study import read_experiment, run_experiment
from orchestrator.study.experiment import ParameterFile

pytestmark = pytest.mark.usefixtures("sample_blocks", "no_pictures")

TEXT = """
title = "played"
[defaults]
algorithm = "jacobi"
[case.a]
system = "driven.ssd"
[case.a.input.force]
file = "thrust.csv"
column = "force"
"""


@pytest.fixture
def folder(tmp_path):
    own = {"force": Connector("force", Causality.INPUT, unit="N")}
    experiment = DefaultExperiment(0, 10_000_000, 1_000_000)
    system = System("driven", connectors=own, experiment=experiment).add("g", block("gain"))
    system = system.add("b", block("body"), virtual_force=0.0, thrust=0.0)
    write_ssd(system.connect("force", "g.u").connect("force", "b.force"), tmp_path / "driven.ssd")
    (tmp_path / "thrust.csv").write_text("time,force [kN]\n0,0.001\n0.004,0.005\n0.01,0.002\n")
    return tmp_path


def run(folder, text):
    (folder / "experiment.toml").write_text(text)
    read = read_experiment(folder / "experiment.toml")
    return run_experiment(read, folder, folder / "out").cases["a"].result


def test_linear(folder):
    """In row n the gain has passed on the value at n - 1, in N for the body only."""
    result = run(folder, TEXT)
    expected = np.interp(np.arange(10), [0, 4, 10], [1, 5, 2])
    np.testing.assert_allclose(result["force.value"][:-1], expected / 1e3, rtol=1e-15)
    np.testing.assert_allclose(result["g.y"][1:], expected / 1e3, rtol=1e-15)
    velocity = np.cumsum(expected) * 1e-3 / 750.0
    np.testing.assert_allclose(result["b.velocity"][1:], velocity, rtol=1e-13)
    assert result.units["force.value"] == "kN"


def test_a_file_takes_the_place_of_the_value_in_the_system(folder):
    system = read_system(folder / "driven.ssd").set("force", 7.0)
    write_ssd(system, folder / "driven.ssd")
    assert run(folder, TEXT)["g.y"][5] == pytest.approx(5e-3, rel=1e-15)


def test_hold(folder):
    (folder / "thrust.csv").write_text("time [s],force\n-1,3\n0.004,5\n0.0055,7\n")
    result = run(folder, TEXT + 'interpolation = "hold"\n')
    assert result["g.y"][1:].tolist() == [3, 3, 3, 3, 5, 5, 7, 7, 7, 7]
    assert result.units["force.value"] == "N"


def test_a_result_can_be_played(folder):
    result = Result(
        "r",
        np.array([0, 10_000_000], dtype=np.int64),
        ("x.y",),
        np.array([[1.0], [2.0]]),
        {"x.y": "N"},
    )
    write_parquet(result, folder / "thrust.parquet")
    text = TEXT.replace("thrust.csv", "thrust.parquet").replace('"force"\n', '"x.y"\n')
    np.testing.assert_allclose(run(folder, text)["g.y"][1:], 1 + np.arange(10) / 10, rtol=1e-15)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"input.force": "input.torque"},
            "case 'a': system 'driven' has no input 'torque'; its only input is force",
        ),
        ({'"force"\n': '"forse"\n'}, "no column 'forse'. Did you mean 'force'?"),
        (
            {"thrust.csv": "thrust.txt"},
            "expected a file of signals that ends in .csv, .parquet or .npz",
        ),
        ({"thrust.csv": "none.csv"}, "none.csv: cannot be read as CSV"),
        (
            {"[case.a.input": "stop = 0.02\n[case.a.input"},
            "has values from 0 s to 0.01 s; expected",
        ),
        ({"[case.a.input": "start = -1\n[case.a.input"}, "cover the run from -1 s to 0.01 s"),
        ({"[case.a.input": "set = { force = 1.0 }\n[case.a.input"}, "is set and also played"),
        ({"hold": "hold", '"force"\n': '"force"\ninterpolation = "cubic"\n'}, "'linear' or 'hold'"),
    ],
)
def test_messages(folder, changes, expected):
    text = TEXT
    for old, new in changes.items():
        text = text.replace(old, new)
    with pytest.raises(SoftdockError) as error:
        run(folder, text)
    assert expected in str(error.value)
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "expected a column 'time'"),
        ("time,force\n", "expected at least one row"),
        ("t,force\n0,1\n", "expected a column 'time' in seconds, found: t, force"),
        ("time,force\n0,1\n0,2\n", "row 2: expected a time after 0 s, found 0 s"),
        ("time,force\n0,1\n1\n", "row 2: expected 2 cells, found 1"),
        ("time,force\n0,nan\n1,1\n", "row 1: expected a finite number, found 'nan'"),
        ("time,force [m]\n0,1\n1,1\n", "column 'force': unit"),
    ],
)
def test_files(folder, content, expected):
    (folder / "thrust.csv").write_text(content)
    with pytest.raises(SoftdockError) as error:
        run(folder, TEXT)
    assert expected in str(error.value)


@pytest.mark.parametrize("given", ["settings", "parameters", "file"])
def test_a_played_input_is_not_set_as_well(folder, given, wording):
    """Not even to the value that the system has."""
    system = read_system(folder / "driven.ssd").set("force", 7.0)
    write_ssd(system, folder / "driven.ssd")
    write_parameter_set(system, folder / "all.ssv")
    text, options = TEXT, {}
    if given == "settings":
        options = {"values": {"force": "7"}}
    elif given == "parameters":
        options = {"parameters": [ParameterFile(file=str(folder / "all.ssv"))]}
    else:
        text = TEXT.replace('.ssd"', '.ssd"\nparameters = ["all.ssv"]')
    (folder / "experiment.toml").write_text(text)
    read = read_experiment(folder / "experiment.toml")
    with wording.raises(SoftdockError):
        run_experiment(read, folder, folder / "out2", **options)
    assert not (folder / "out2").exists()
