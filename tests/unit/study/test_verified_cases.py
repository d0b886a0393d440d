"""Cases of an experiment that are verified: what is written, and what stays as it is."""

import csv
import json

import numpy as np
import pytest

from orchestrator import (
    Block,
    Input,
    Output,
    Parameter,
    read_experiment,
    run_experiment,
)

pytestmark = pytest.mark.usefixtures("no_pictures")

SYSTEM = """
[system]
name = "ring"
[component.one]
source = "block:decay"
[connections]
"one.x" = { to = "one.u", delay = "8 ms" }
"""
EXPERIMENT = """
title = "ring"
[defaults]
step = "4 ms"
stop = "1 s"
formats = ["csv"]
[case.exact]
system = "ring.toml"
[case.plain]
system = "ring.toml"
delay = "plain"
"""


class Decay(Block):
    u: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=(), start=1.0)
    late: bool = Output(depends_on=())
    shortest: float = Parameter(unit="s", start=0.0)

    def step(self, t, h):
        if 0.0 < h < self.shortest:
            raise ValueError("too short a step")
        self.x -= 3.0 * h * self.u
        self.late = t + h / 2 > 0.502


@pytest.fixture
def ring(register, tmp_path):
    register(decay=Decay)
    text = SYSTEM.replace('"one.x" = { to = "one.u",', '"one.x -> one.u" = {')
    (tmp_path / "ring.toml").write_text(text)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.slow
def test_results_are_those_without_verification_to_the_bit(softdock, ring, tmp_path):
    run = ("run", ring, "--case", "exact")
    assert softdock(*run, "--output", tmp_path / "plain")[0] == 0
    assert softdock(*run, "--verify", "--output", tmp_path / "verified")[0] == 0
    results = [tmp_path / folder / "exact.csv" for folder in ("plain", "verified")]
    assert results[0].read_bytes() == results[1].read_bytes()
    plain, verified = (
        {file.name for file in (tmp_path / folder).iterdir()} for folder in ("plain", "verified")
    )
    assert verified - plain == {"exact.verification.csv"}
    summary = json.loads((tmp_path / "plain" / "summary.json").read_text())
    assert "verification" not in summary["cases"]["exact"]


@pytest.mark.slow
def test_the_table_the_file_and_the_report_say_the_same(softdock, ring, tmp_path):
    code, out, err = softdock("run", ring, "--verify", "--output", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "Verification of exact" in out
    assert "Verification of plain" in out
    assert "exact: runs with steps of 4 ms, 2 ms, 1 ms, compared at 251 times that all have" in out
    with (tmp_path / "out" / "exact.verification.csv").open() as file:
        rows = {row["output"]: row for row in csv.DictReader(file)}
    assert float(rows["one.x"]["order"]) == pytest.approx(2, abs=0.05)
    assert rows["one.x"]["unit"] == "m"
    assert rows["one.late"]["flags"].startswith("discrete")
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Verification of exact" in report
    table = report[report.index("Verification of exact") : report.index("Verification of plain")]
    assert f"{float(rows['one.x']['order']):.5g}" in table


@pytest.mark.slow
def test_json_has_the_figures_of_each_case(softdock, ring, tmp_path):
    code, out, err = softdock("run", ring, "--verify", "--json", "--output", tmp_path / "out")
    assert (code, err) == (0, "")
    cases = json.loads(out)["cases"]
    orders = {}
    for name, case in cases.items():
        assert case["verification"]["steps_s"] == [0.004, 0.002, 0.001]
        outputs = {row["output"]: row for row in case["verification"]["outputs"]}
        orders[name] = outputs["one.x"]["order"]
        assert outputs["one.late"]["order"] is None
    assert orders == pytest.approx({"exact": 2.0, "plain": 1.0}, abs=0.1)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["cases"] == cases


def test_a_finer_run_that_fails_leaves_everything_else(softdock, ring, tmp_path):
    out = tmp_path / "out"
    code, told, err = softdock(
        "run", ring, "--case", "exact", "--verify", "--set", "one.shortest=1.5e-3", "--output", out
    )
    assert (code, err) == (0, "")
    assert "exact: the run with H/4 = 0.001 s failed: " in told
    assert "too short a step" in told
    assert len((out / "exact.csv").read_text().splitlines()) == 252
    with (out / "exact.verification.csv").open() as file:
        rows = {row["output"]: row for row in csv.DictReader(file)}
    assert float(rows["one.x"]["largest_1"]) > 0.0
    assert rows["one.x"]["largest_2"] == rows["one.x"]["order"] == ""


def test_a_case_that_cannot_be_verified_is_refused_before_any_run(softdock, ring, tmp_path):
    ring.write_text(EXPERIMENT + 'algorithm = "step-doubling"\n')
    code, _, err = softdock("run", ring, "--verify", "--output", tmp_path / "out")
    assert code == 2
    assert "case 'plain': algorithm 'step-doubling' chooses its steps" in err.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_in_python_the_outcome_has_it(ring, tmp_path):
    told = []
    outcome = run_experiment(
        read_experiment(ring),
        tmp_path,
        tmp_path / "out",
        only=["exact"],
        verify=True,
        progress=lambda job, share: told.append((job, share)),
    )
    case = outcome.cases["exact"]
    assert case.value("verification").result is case.result
    np.testing.assert_array_equal(case.value("verification").time_ns, case.result.time_ns)
    shares = [share for job, share in told if job == "exact with H/2 and H/4"]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_what_interrupts_a_finer_run_leaves_the_results_of_the_run(ring, tmp_path, monkeypatch):
    step = Decay.step

    def interrupted(self, t, h):
        if 0.0 < h < 0.003:
            raise KeyboardInterrupt
        step(self, t, h)

    monkeypatch.setattr(Decay, "step", interrupted)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt) as ended:
        run_experiment(read_experiment(ring), tmp_path, out, only=["exact"], verify=True)
    assert type(ended.value) is KeyboardInterrupt  # the partial result is not that of the case
    assert len((out / "exact.partial.csv").read_text().splitlines()) == 252
