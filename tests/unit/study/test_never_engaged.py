"""What is left of a run whose rig was watched, and never followed: no success is among it."""

import json
import shutil
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest
import typer

from orchestrator.cli.failure import fail_with
from orchestrator.cli.run import _end
from orchestrator.core.diagnostics import NeverEngagedError
from orchestrator.core.recording import read_parquet
from orchestrator.core.simulation import InterruptedRun
from orchestrator.core.ssp import write_ssd
from orchestrator.rig.runs import supervision
from orchestrator.rig.supervisor.states import ChangeRecord, StateChange
from orchestrator.study import read_experiment, run_experiment, runner
from orchestrator.study.extension import Steps, loaded

from .conftest import GOOD, experiment

HEARD = StateChange(0.0, "OFF", "heard", "SHADOW", "", "")
FIGURES = "force 61 N, limit 60 N"
FOUND = StateChange(1.0, "SHADOW", "quick fault", "SAFE", "force", "sensor.fx", FIGURES)
ENGAGED = StateChange(1.0, "SHADOW", "engage", "BLEND", "", "pts/1")
NEVER = f"rig 'r' was never engaged: sensor.fx: force ({FIGURES})"


@pytest.fixture
def run(fuse, tmp_path, monkeypatch, no_pictures):
    """Run two cases whose rig went through some states."""

    def made(*changes, blow=None):
        write_ssd(fuse(blow), tmp_path / "fused.ssd")
        record = ChangeRecord("r", changes)
        monkeypatch.setattr(supervision, "states_of", lambda *_: record)
        watched = supervision.Supervision("supervisor")

        def with_watched(*arguments):
            extensions, left_out = loaded(*arguments)
            return [*extensions, watched], left_out

        monkeypatch.setattr(runner, "loaded", with_watched)
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        table = read_experiment(experiment(tmp_path, GOOD))
        return run_experiment(table, tmp_path, tmp_path / "out")

    return made


def test_a_run_that_came_to_its_end_says_so_everywhere_and_has_its_own_exit_code(
    run, tmp_path, capsys
):
    outcome = run(HEARD, FOUND)
    assert outcome.cases["a"].result.remarks.count(NEVER) == 1
    with pytest.raises(typer.Exit) as end:
        _end(outcome, json=False)
    assert end.value.exit_code == 4
    said = capsys.readouterr()
    assert NEVER in said.out.replace("\n", " ")
    assert "never engaged in a, b" in said.err.replace("\n", " ")
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "never engaged" in report
    assert "States of the rig" in report
    told = json.loads((tmp_path / "out" / "summary.json").read_text())["cases"]["a"]
    assert told["supervisor"]["engaged"] is False
    assert told["supervisor"]["states"][1] == {
        "time_s": 1.0,
        "before": "SHADOW",
        "event": "quick fault",
        "after": "SAFE",
        "reason": "force",
        "where": "sensor.fx",
        "figures": FIGURES,
    }


def test_a_run_whose_rig_was_engaged_is_a_success(run, tmp_path, capsys):
    outcome = run(HEARD, ENGAGED)
    _end(outcome, json=True)
    told = json.loads(capsys.readouterr().out)["cases"]["a"]
    assert told["supervisor"]["engaged"] is True
    assert outcome.never_engaged == []


def test_a_run_that_ends_before_its_rig_is_engaged_fails_with_the_same_exit_code(
    run, tmp_path, wording
):
    with wording.raises(NeverEngagedError) as caught:
        run(HEARD, FOUND, blow=ValueError)
    assert (tmp_path / "out" / "a.partial.parquet").is_file()
    with pytest.raises(typer.Exit) as end:
        fail_with(caught.value)
    assert end.value.exit_code == 4


def test_a_wait_that_ends_without_the_rig_leaves_what_a_failed_run_leaves(
    run, tmp_path, monkeypatch, wording
):
    def refuse():
        raise NeverEngagedError("rig 'r' was never engaged: its supervisor ended")

    def supervising(case, *_, **__):
        return nullcontext(Steps(case, begin=refuse))

    monkeypatch.setattr(supervision, "supervising", supervising)
    with wording.raises(NeverEngagedError):
        run(HEARD)
    assert len(read_parquet(tmp_path / "out" / "a.partial.parquet")) == 1
    assert not (tmp_path / "out" / "a.partial").exists()


def test_ctrl_c_while_a_run_waits_says_that_nothing_was_engaged(run, wording):
    with wording.raises(InterruptedRun):
        run(HEARD, blow=KeyboardInterrupt)


class Faulty:
    """The supervision of a rig whose supervisor had latched a fault when the run ended."""

    def __init__(self, monkeypatch, after_fault, faults):
        settings = SimpleNamespace(after_fault=after_fault, tracking=None)
        self.run = SimpleNamespace(
            experiment=SimpleNamespace(supervisor=settings), output=None, remarks={"a": []}
        )
        self.run.value = lambda *_: None
        self.case = SimpleNamespace(name="a")
        self.watched = supervision.Supervision("supervisor")

        @contextmanager
        def supervising(case, settings, output, remarks, *_, faults):
            yield Steps(case)
            faults += self.faults

        self.faults = faults
        monkeypatch.setattr(supervision, "supervising", supervising)
        monkeypatch.setattr(supervision, "states_of", lambda *_: None)

    def result(self, made):
        with self.watched.around(self.run, Steps(self.case)):
            pass
        return self.watched.after(self.run, self.case, made)


@pytest.mark.parametrize(
    ("after_fault", "faults", "safe"),
    [("stop", ["sensor_stale (robot)"], 1), ("stop", [], 0), ("continue", ["x"], 0)],
)
def test_a_run_that_ends_while_its_rig_is_brought_to_rest_is_no_success(
    run, monkeypatch, after_fault, faults, safe
):
    """A robot that could not be answered any more: the run went to its end, with exit code 0."""
    made = run(HEARD, ENGAGED).cases["a"].result
    result = Faulty(monkeypatch, after_fault, faults).result(made)
    assert len(result.safe_states) == safe
    if safe:
        assert "sensor_stale (robot)" in str(result.safe_states[0])
