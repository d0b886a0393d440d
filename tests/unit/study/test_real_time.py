"""Experiments in real time: table, option, files."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

from orchestrator import read_experiment, read_parquet, run_experiment, simulate
from orchestrator.cli.run import completed
from orchestrator.core.diagnostics import DeadlineError, DescriptionError
from orchestrator.core.realtime import RealTime
from orchestrator.core.simunits import block
from orchestrator.core.system import System
from orchestrator.study import FailedRunError
from orchestrator.study.prepare.prepared_case import RunSettings
from orchestrator.study.run.pace import COLUMNS, overruns_section, timing_plot, timing_section
from orchestrator.study.runner import run_with

pytestmark = pytest.mark.usefixtures("sample_blocks", "no_pictures")

EXPERIMENT = """
title = "paced"
[defaults]
step = "1 ms"
stop = "20 ms"
[case.one]
system = "system.toml"
"""
SYSTEM = """
[system]
name = "one"
[component.x]
source = "block:integrator"
values = { u = 1.0 }
"""
QUIET = "priority = 0\nlock_memory = false\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "system.toml").write_text(SYSTEM)

    def write(table=""):
        file = tmp_path / "experiment.toml"
        file.write_text(EXPERIMENT + table)
        return file

    return write


def test_the_table(folder, tmp_path):
    file = folder(f"[realtime]\nfactor = 0.2\n{QUIET}budget = '1 ns'\n")
    experiment = read_experiment(file)
    outcome = run_experiment(experiment, tmp_path, tmp_path / "out")
    result = outcome.cases["one"].result
    timing = result.timing
    assert (timing.factor, timing.computing.count, timing.overruns) == (0.2, 20, 20)
    # less what a busy machine takes between the begin and the first step
    assert result.wall_seconds >= 0.5 * 19e-3 / 0.2
    run = read_parquet(tmp_path / "out" / "one.parquet").attrs["run"]["realtime"]
    assert run == json.loads(json.dumps(timing.as_json()))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["cases"]["one"]["realtime"] == run
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Timing of one" in report
    assert "Overruns of one" in report
    plain = run_experiment(
        experiment.model_copy(update={"realtime": None}), tmp_path, tmp_path / "out"
    )
    assert plain.cases["one"].result.timing is None
    assert plain.cases["one"].result.values.tobytes() == result.values.tobytes()


def test_the_argument_wins_over_the_factor_of_the_table(folder, tmp_path):
    experiment = read_experiment(folder(f"[realtime]\nfactor = 0.001\npolicy = 'slip'\n{QUIET}"))
    outcome = run_experiment(experiment, tmp_path, tmp_path / "out", realtime=50.0)
    timing = outcome.cases["one"].result.timing
    assert (timing.factor, timing.policy) == (50.0, "slip")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("factor = 0", r"realtime\.factor: expected a finite number > 0, found 0"),
        ("policy = 'hold'", "policy: expected catch_up, slip or stop, found 'hold'"),
        ("priority = 100", "0 to 98"),
        ("prioritty = 10", "prioritty"),
        ("budget = '-3 us'", "a time > 0 s"),
    ],
)
def test_a_wrong_table(folder, table, said):
    with pytest.raises(DescriptionError, match=said) as caught:
        read_experiment(folder(f"[realtime]\n{table}\n"))
    assert "experiment.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("cpus = [4711]", r"cpus: expected processors that this process may use .*4711"),
        ("budgets = { y = '1 ms' }", "no component 'y'"),
    ],
)
def test_what_is_not_there_is_said_before_anything_runs(folder, tmp_path, table, said):
    experiment = read_experiment(folder(f"[realtime]\n{table}\n"))
    with pytest.raises(DescriptionError, match=said):
        run_experiment(experiment, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_was_computed_before_too_many_overruns_is_kept():
    strict = RealTime(policy="stop", overruns=3, budget="1 ns", priority=0, lock_memory=False)
    system = System("x").add("x", block("integrator"), u=1.0)
    with pytest.raises(FailedRunError, match="3 overruns in a row") as caught:
        simulate(system, step="1 ms", stop="1 s", realtime=strict)
    assert isinstance(caught.value.__cause__, DeadlineError)
    np.testing.assert_array_equal(caught.value.result.time_ns, np.arange(4) * 1_000_000)
    assert caught.value.result.timing.overruns == 3


@pytest.mark.parametrize("table", ["", f"[realtime]\n{QUIET}budget = '1 ns'\n"])
def test_it_is_seen_how_far_a_run_is(folder, tmp_path, table):
    seen = []

    @contextmanager
    def look(case, about, where):
        assert (case, about, where.time_ns()) == ("one", None, 0)
        yield
        rows = where.rows
        paced = None if rows is None else (rows.written, rows.told[0], rows.times_ns[19])
        seen.append((where.start_ns, where.last_ns, where.time_ns(), paced))

    experiment = read_experiment(folder(table))
    run_with(experiment, tmp_path, tmp_path / "out", RunSettings(), look=look)
    expected = (20, 20, 20_000_000) if table else None
    assert seen == [(0, 20_000_000, 20_000_000, expected)]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["--realtime"], ["--realtime=1"]),
        (["--realtime", "2.5", "x"], ["--realtime=2.5", "x"]),
        (["--realtime", "-2", "x"], ["--realtime=-2", "x"]),
        (["--realtime", "x", "--json"], ["--realtime=1", "x", "--json"]),
        (["--realtime=3", "x"], ["--realtime=3", "x"]),
        (["x", "--", "--realtime"], ["x", "--", "--realtime"]),
        (["--realtime", "--", "2"], ["--realtime=1", "--", "2"]),
        (["--live", "x"], ["--live=8700", "x"]),
        (["--live", "8701", "x"], ["--live=8701", "x"]),
        (["--live", "0.0.0.0:0", "--realtime"], ["--live=0.0.0.0:0", "--realtime=1"]),
        (["--live", "[::1]:80", "x"], ["--live=[::1]:80", "x"]),
    ],
)
def test_the_value_of_the_option_may_be_left_out(given, found):
    assert list(completed(given)) == found


def test_the_option(softdock, folder, tmp_path):
    file = folder(f"[realtime]\n{QUIET}")
    arguments = ("run", "--realtime", str(file), "--output", str(tmp_path / "out"))
    code, out, err = softdock(*arguments)
    assert code == 0, err
    assert "Timing of one [us]" in out
    assert "wake-up latency" in out
    code, _, err = softdock(*arguments, "--realtime=zwei")
    assert code != 0
    assert "expected a number > 0, or nothing" in err


def test_tables_and_picture():
    system = System("x").add("x", block("integrator"), u=1.0)
    plain = {"priority": 0, "lock_memory": False}
    given = {"step": "1 ms", "stop": "5 ms"}
    timing = simulate(system, **given, realtime=RealTime(**plain, budget="1 ns")).timing
    table = timing_section("x", timing)
    assert table.columns == COLUMNS
    assert [row[0] for row in table.rows] == [name for name, _ in timing.rows]
    assert all(len(row) == len(COLUMNS) for row in table.rows)
    section = overruns_section("x", timing)
    assert [row[0] for row in section.rows] == ["1", "2", "3", "4", "5"]
    (panel,) = timing_plot("x", timing).panels
    assert {curve.label for curve in panel.curves} >= {"wake-up latency", "computing time", "x"}
    for curve in panel.curves:
        x, y = curve.points()
        assert (np.diff(x) >= 0).all()
        assert (np.diff(y) <= 0).all()
        assert (np.asarray(y) > 0).all()


def test_sweeps_and_finer_runs_are_not_paced(folder, tmp_path):
    file = folder(f"[realtime]\nfactor = 0.5\n{QUIET}")
    outcome = run_experiment(read_experiment(file), tmp_path, tmp_path / "out", verify=True)
    verification = outcome.cases["one"].value("verification")
    assert verification is not None
    assert outcome.cases["one"].result.timing.computing.count == 20  # of H alone
    said = outcome.cases["one"].result.remarks
    assert "sweeps and finer runs are not paced in real time" in said
