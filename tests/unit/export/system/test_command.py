"""``softdock export fmu``."""

import json
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest

from orchestrator.cli.target import experiment_of
from orchestrator.core.simunits import fmu
from orchestrator.core.ssp import write_ssp
from orchestrator.core.system import System
from orchestrator.export.system import export_system
from orchestrator.study import simulate
from orchestrator.study.prepare.prepare import prepare

ROOT = Path(__file__).parents[4]
EPOS = ROOT / "examples" / "epos"


def test_the_docking_loop_in_both_versions(softdock, plants, tmp_path):
    contact = plants / "SpringDashpot.fmu"
    code, out, _ = softdock(
        *("export", "fmu", EPOS, "--case", "ideal", "--swap", f"contact={contact}"),
        *("--fmi", "both", "--output", tmp_path / "epos.fmu", "--json"),
    )
    assert code == 0
    assert json.loads(out) == [
        {"file": str(tmp_path / "epos.fmu"), "fmi": 2},
        {"file": str(tmp_path / "epos.fmi3.fmu"), "fmi": 3},
    ]
    experiment, folder = experiment_of(EPOS)
    system = prepare("ideal", experiment.case["ideal"], folder, {"contact": str(contact)}, {})
    expected = simulate(system)
    for name in ("epos.fmu", "epos.fmi3.fmu"):
        result = fmpy.simulate_fmu(
            str(tmp_path / name),
            stop_time=2.0,
            step_size=1e-3,
            output_interval=1e-3,
            output=list(expected.names),
        )
        found = np.array([result[signal] for signal in expected.names]).T
        np.testing.assert_array_equal(found, expected.values)
    description = fmpy.read_model_description(str(tmp_path / "epos.fmu"))
    assert description.defaultExperiment.stopTime == "2.0"


@pytest.mark.parametrize("built_before", [True, False])
def test_blocks_go_in_as_fmus(softdock, plants, tmp_path, built_before):
    """The hybrid contact is a block in C; the exported whole equals the example itself."""
    path, swap = tmp_path / "x.fmu", ()
    if built_before:
        assert softdock("export", "block", "hybrid_contact", "--output", tmp_path)[0] == 0
        swap = ("--swap", f"hybrid={tmp_path / 'hybrid_contact.fmu'}")
    code, _, err = softdock("export", "fmu", EPOS, "--case", "hybrid", *swap, "--output", path)
    assert (code, err) == (0, "")
    experiment, folder = experiment_of(EPOS)
    expected = simulate(prepare("hybrid", experiment.case["hybrid"], folder, {}, {}))
    result = fmpy.simulate_fmu(
        str(path),
        stop_time=2.0,
        step_size=1e-3,
        output_interval=1e-3,
        output=list(expected.names),
    )
    found = np.array([result[signal] for signal in expected.names]).T
    np.testing.assert_array_equal(found, expected.values)


def test_options_win_over_the_case(softdock, plants, tmp_path):
    path = tmp_path / "x.fmu"
    code, out, _ = softdock(
        *("export", "fmu", EPOS, "--case", "ideal", "--set", "chaser.m=800", "--step", "2 ms"),
        *("--swap", f"contact={plants / 'SpringDashpot.fmu'}", "--output", path),
    )
    assert (code, out.startswith(str(path))) == (0, True)
    description = fmpy.read_model_description(str(path))
    assert float(description.defaultExperiment.stepSize) == 2e-3
    assert {v.name: v.start for v in description.modelVariables}["chaser.m"] == "800.0"
    run = simulate(System("outer").add("it", fmu(path)), step="2 ms", stop="0.1 s")
    assert run.simulated_seconds == pytest.approx(0.1)


def test_refusals_are_printed_and_nothing_is_written(softdock, plants, tmp_path):
    path = tmp_path / "x.fmu"
    code, _, err = softdock("export", "fmu", EPOS, "--output", path)
    assert (code, "choose one with --case" in err) == (2, True)
    code, _, err = softdock("export", "fmu", EPOS, "--case", "none", "--output", path)
    assert (code, "no case 'none'" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_called_by_the_case(softdock, plants, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contact = f"contact={plants / 'SpringDashpot.fmu'}"
    code, out, _ = softdock(
        "export", "fmu", EPOS, "--case", "ideal", "--fmi", "3", "--swap", contact
    )
    assert (code, out.split()[0]) == (0, "ideal.fmu")
    with zipfile.ZipFile("ideal.fmu") as archive:
        assert "binaries/x86_64-linux/ideal.so" in archive.namelist()


def test_a_package_keeps_its_own_connectors(softdock, driven, tmp_path):
    write_ssp(driven(), tmp_path / "driven.ssp")
    path = tmp_path / "x.fmu"
    code, _, err = softdock(
        *("export", "fmu", tmp_path / "driven.ssp", "--step", "1 ms"),
        *("--set", "push=2.5", "--output", path),
    )
    assert (code, err) == (0, "")
    found = {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}
    assert (found["push"].causality, found["push"].start) == ("input", "2.5")
    assert found["position"].causality == "output"
    direct = export_system(driven(), tmp_path / "y.fmu", step="1 ms")
    runs = [
        simulate(System("outer").add("it", fmu(p), push=2.5), step="1 ms", stop="0.1 s").values
        for p in (path, direct)
    ]
    np.testing.assert_array_equal(*runs)
