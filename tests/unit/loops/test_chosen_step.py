"""``step = "auto"``: what is chosen is run, told, and repeatable."""

import html
import json

import numpy as np
import pytest

from orchestrator import Block, Input, Output, State, read_experiment, run_experiment
from orchestrator.checks import check_target
from orchestrator.core.diagnostics import DescriptionError, Severity

SYSTEM = """
[system]
name = "ring"
[component.one]
source = "block:turning"
[connections]
"one.x -> one.u" = { delay = "200 ms" }
"""
EXPERIMENT = """
title = "ring"
[defaults]
step = "auto"
tolerance = 0.05
stop = "4 s"
[case.chosen]
system = "ring.toml"
[case.given]
system = "ring.toml"
step = "100 ms"
"""


class Turning(Block):
    """x' = v, v' = -4 x - 0.2 v + u, exact while u is held."""

    u: float = Input()
    x: float = Output(depends_on=())
    state: list = State(start=[1.0, 0.0])

    def initialise(self, t):
        self.x = self.state[0]

    def step(self, t, h):
        rates = np.array([[0.0, 1.0], [-4.0, -0.2]])
        rest = np.array([self.u / 4.0, 0.0])
        values, vectors = np.linalg.eig(rates)
        after = (vectors * np.exp(values * h)) @ np.linalg.inv(vectors)
        self.state = (rest + after.real @ (np.array(self.state) - rest)).tolist()
        self.x = self.state[0]


@pytest.fixture
def ring(register, tmp_path):
    register(turning=Turning)
    (tmp_path / "ring.toml").write_text(SYSTEM)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.usefixtures("no_pictures")
def test_what_is_chosen_is_run_told_and_repeatable(ring, tmp_path):
    outcome = run_experiment(read_experiment(ring), tmp_path, tmp_path / "out")
    chosen, given = outcome.cases["chosen"], outcome.cases["given"]
    assert given.value("step_choice") is None
    step_ns = chosen.value("step_choice").step_ns
    assert chosen.result.step_ns == step_ns
    assert chosen.value("step_choice").effect.share <= 0.05
    assert 4_000_000_000 % step_ns == 0
    (note,) = [text for text in chosen.result.remarks if "auto" in text]
    assert note.endswith(f'the same run has step = "{step_ns} ns"')
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["cases"]["chosen"]["step_choice"]["step_ms"] == step_ns / 1e6
    report = html.unescape((tmp_path / "out" / "report.html").read_text())
    assert note.split(";")[0] in report
    ring.write_text(EXPERIMENT.replace('"100 ms"', f'"{step_ns} ns"'))
    again = run_experiment(read_experiment(ring), tmp_path, tmp_path / "again")
    np.testing.assert_array_equal(again.cases["given"].result.values, chosen.result.values)


def test_it_is_checked_without_a_run(ring):
    assert check_target(ring).count(Severity.ERROR) == 0


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("tolerance = 0.05\n", "", "case 'chosen': expected a tolerance with step = \"auto\""),
        (
            'step = "100 ms"',
            'step = "100 ms"\ntolerance = 0.1',
            "case 'given': expected step = \"auto\" with a tolerance",
        ),
        ("tolerance = 0.05", "tolerance = 0", "tolerance"),
        ("tolerance = 0.05", "tolerance = 1e-12", "case 'chosen': step = \"auto\": no step is"),
    ],
)
def test_what_is_missing_or_out_of_reach_is_said(ring, tmp_path, old, new, text):
    ring.write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(DescriptionError) as raised:
        run_experiment(read_experiment(ring), tmp_path, tmp_path / "out")
    assert text in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_a_case_without_a_loop_has_no_step_to_choose(ring, tmp_path, wording):
    open_loop = SYSTEM.split("[connections]", maxsplit=1)[0] + "[component.one.values]\nu = 0.0\n"
    (tmp_path / "ring.toml").write_text(open_loop)
    with wording.raises(DescriptionError):
        run_experiment(read_experiment(ring), tmp_path, tmp_path / "out")
