"""A run reads each system, and opens its sources, once: however many cases and values it has."""

import pytest

from orchestrator.core.simunits import block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System, flatten
from orchestrator.study import read_experiment, run_experiment
from orchestrator.study.prepare import prepared_case
from orchestrator.study.sweep import plans_of

pytestmark = pytest.mark.usefixtures("no_pictures")

EXPERIMENT = """
title = "t"
[defaults]
step = "10 ms"
stop = "50 ms"
[case.one]
system = "s.ssd"
[case.one.measure]
end = { kind = "final", signal = "a.force" }
[case.two]
system = "s.ssd"
[case.two.set]
"a.b" = 30.0
[sweep.values]
case = "one"
over = "a.b"
values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
measures = ["end"]
[sweep.grid]
cases = ["one"]
measures = ["end"]
[sweep.grid.over.b]
set = ["a.b"]
from = 1
to = 2
count = 10
"""


@pytest.fixture
def experiment(tmp_path):
    system = System("s").add("a", block("virtual_damper"), b=60.0, velocity=1.0)
    write_ssd(system, tmp_path / "s.ssd")
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    return read_experiment(tmp_path / "experiment.toml")


@pytest.fixture
def asked(monkeypatch):
    """Names of what was asked of a system file, in the order in which it was."""
    names = []

    def counted(name):
        function = getattr(prepared_case, name)
        return lambda *given: names.append(name) or function(*given)

    for name in ("read_system", "resolve"):
        monkeypatch.setattr(prepared_case, name, counted(name))
    return names


def test_a_run_reads_a_system_once(experiment, asked, tmp_path):
    outcome = run_experiment(experiment, tmp_path, tmp_path / "out")
    assert len(outcome.sweeps["values"].values) == 10
    assert list(outcome.cases) == ["one", "two"]
    assert asked == ["read_system", "resolve"]


def test_a_plan_reads_a_system_once(experiment, asked, tmp_path):
    assert [len(plan.jobs) for plan in plans_of(experiment, tmp_path).values()] == [10, 10]
    assert asked == ["read_system", "resolve"]


def test_cases_of_one_file_do_not_change_each_other(experiment, tmp_path):
    reader = prepared_case.SystemReader(tmp_path)
    first, second = (reader.read(case) for case in experiment.case.values())
    assert first is second
    cases = run_experiment(experiment, tmp_path, tmp_path / "out").cases
    assert [case.system.value("a.b") for case in cases.values()] == [60.0, 30.0]
    assert first.flat.value("a.b") == 60.0


def test_a_nested_system_is_made_flat_once_for_all_cases_and_values(
    experiment, tmp_path, monkeypatch
):
    inner = System("inner").add("a", block("virtual_damper"), b=60.0, velocity=1.0)
    write_ssd(System("s").add("in", inner), tmp_path / "s.ssd")
    text = EXPERIMENT.replace("a.force", "in/a.force").replace("a.b", "in/a.b")
    (tmp_path / "experiment.toml").write_text(text)
    made = []
    walked = flatten._Flattener.flat
    monkeypatch.setattr(flatten._Flattener, "flat", lambda self: made.append(self) or walked(self))
    outcome = run_experiment(
        read_experiment(tmp_path / "experiment.toml"), tmp_path, tmp_path / "out"
    )
    assert len(outcome.cases) == 2
    assert len(outcome.sweeps["values"].values) == 10
    assert len(made) == 1
