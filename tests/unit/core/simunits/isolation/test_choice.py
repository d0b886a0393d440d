"""Where isolation is chosen: the command, the experiment file, the options of a component."""

import json
import re
import subprocess
import sys

import pytest

from orchestrator import read_result
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.simunits import fmu, resolve
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import ComponentOptions, DefaultExperiment, System
from orchestrator.study import read_experiment, run_experiment

pytestmark = pytest.mark.usefixtures("no_pictures")
ABORT, EXIT_0, EXIT_3, STEP = 1, 2, 3, 4


@pytest.fixture
def folder(crash, tmp_path):
    """An experiment of two components, one of which crashes at 5 ms."""
    system = System("pair", experiment=DefaultExperiment(stop_ns=10_000_000, step_ns=1_000_000))
    system = system.add("bad", fmu(crash), u=1.0, phase=STEP, how=ABORT, at=0.005)
    system = system.add("good", fmu(crash), u=2.0)
    write_ssd(resolve(system), tmp_path / "pair.ssd")
    return tmp_path


def experiment(folder, options):
    file = folder / "experiment.toml"
    file.write_text(f'title = "t"\n[case.a]\nsystem = "pair.ssd"\n[case.a.unit.bad]\n{options}')
    return file


def test_the_experiment_file(folder):
    file = experiment(folder, 'isolation = "process"\non_failure = "hold"\nstep_timeout = "2 s"')
    outcome = run_experiment(read_experiment(file), folder, folder / "out")
    (case,) = outcome.cases.values()
    assert case.system.components["bad"].options == ComponentOptions(
        isolation="process", on_failure="hold", step_timeout="2 s"
    )
    assert "failed in the step from t = 0.005 s" in case.result.remarks[0]
    assert case.result["good.y"][-1] == pytest.approx(0.02, abs=1e-15)  # ten roundings below 0.02


def test_restarts_need_something_that_restarts(folder, wording):
    file = experiment(folder, 'isolation = "process"\non_failure = "hold"\nrestarts = 3')
    with wording.raises(DescriptionError):
        run_experiment(read_experiment(file), folder, folder / "out")


@pytest.mark.slow
def test_the_command_keeps_the_results_of_a_crash(folder, softdock):
    """Exit code 2, one line, and a file with the rows before the crash."""
    out = folder / "out"
    options = ["--isolate", "all", "--format", "csv", "--output", out]
    code, _, err = softdock("run", folder / "pair.ssd", *options)
    assert code == 2
    errors = re.sub(r"\s+", " ", err)
    assert "component 'bad' failed in the step from t = 0.005 s" in errors
    assert "SIGABRT" in errors
    rows = (out / "pair.partial.csv").read_text().splitlines()
    assert len(rows) == 1 + 6


def test_the_command_isolates_one(folder, softdock):
    options = ["--isolate", "good", "--stop", "3 ms", "--json", "--output", folder / "out"]
    code, out, _ = softdock("run", folder / "pair.ssd", *options)
    assert code == 0
    remarks = json.loads(out)["cases"]["pair"]["remarks"]
    assert "changed on the command line: --isolate good --stop '3 ms'" in remarks


def test_an_unknown_component(folder, wording):
    file = experiment(folder, "")
    with wording.raises(UnknownNameError):
        run_experiment(read_experiment(file), folder, folder / "out", isolated=["x"])


@pytest.mark.parametrize(
    "options",
    [
        {"isolation": "thread"},
        {"on_failure": None},
        {"step_timeout": 0.0},
        {"step_timeout": "soon"},
        {"restarts": 0},
        {"restarts": True},
    ],
)
def test_values_that_do_not_fit(options, wording):
    with wording.raises(DescriptionError):
        ComponentOptions(**options)


@pytest.mark.slow
@pytest.mark.parametrize("how", [EXIT_0, EXIT_3])
def test_rows_outlive_a_component_that_ends_the_program(crash, tmp_path, how):
    """C's exit() in a process that is the run's own: what was recorded is kept, and exit code 2."""
    system = System("pair", experiment=DefaultExperiment(stop_ns=10_000_000, step_ns=1_000_000))
    system = system.add("bad", fmu(crash), u=1.0, phase=STEP, how=how, at=0.005)
    write_ssd(resolve(system), tmp_path / "pair.ssd")
    file = experiment(tmp_path, 'isolation = "none"')
    command = [sys.executable, "-m", "orchestrator", "run", str(file), "--output", "out"]
    done = subprocess.run(  # noqa: S603 - this interpreter, our command
        command, capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "(C function exit) after t = 0.005 s; the recording keeps 6 rows in" in said
    (folder,) = (tmp_path / "out").glob("a.*")
    assert read_result(folder)["bad.y"].shape == (6,)
