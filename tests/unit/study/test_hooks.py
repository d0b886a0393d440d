"""Hooks that misuse a run: one sentence names the extension, and results are kept."""

from contextlib import contextmanager, suppress
from dataclasses import replace as changed

import pytest

from orchestrator import Extension
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.structs import replace
from orchestrator.study import read_experiment, run_experiment, runner

pytestmark = pytest.mark.usefixtures("no_pictures", "sample_blocks")
SYSTEM = """
[system]
name = "s"
[component.a]
source = "block:source"
"""
EXPERIMENT = """
title = "x"
[defaults]
step = "1 ms"
stop = "10 ms"
linearise = false
[case.one]
system = "s.toml"
"""


@pytest.fixture
def run_with_extension(tmp_path, monkeypatch):
    """Run an experiment with one extension; return its problems, or the error of the run."""
    (tmp_path / "s.toml").write_text(SYSTEM)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)

    def call(**hooks):
        bad = type("Bad", (Extension,), hooks)("bad")
        monkeypatch.setattr(runner, "loaded", lambda *_: ([bad], []))
        experiment = read_experiment(tmp_path / "experiment.toml")
        try:
            outcome = run_experiment(experiment, tmp_path, tmp_path / "out")
        except SoftdockError as error:
            return str(error), False
        return "\n".join(outcome.problems), (tmp_path / "out" / "one.parquet").exists()

    return call


def around(**settings):
    @contextmanager
    def enter(self, run, steps):
        yield replace(steps, **settings)

    return enter


@contextmanager
def suppressing(self, run, steps):
    with suppress(Exception):
        yield replace(steps, watch=lambda _rows: 1 / 0)


def set_to(name, value):
    return lambda self, run: setattr(run, name, value)


BEFORE = {
    "a case taken away": ({"begin": lambda self, run: run.cases.clear()}, "run.cases: expected"),
    "a case added": (
        {"begin": lambda self, run: run.cases.update(two=run.cases["one"])},
        "run.cases: expected one, found PreparedCase",
    ),
    "no case": ({"begin": lambda self, run: run.cases.update(one=3)}, "run.cases: expected one"),
    "settings": ({"begin": set_to("settings", None)}, "run.settings: expected RunSettings, found"),
    "real time": ({"begin": set_to("realtime", "yes")}, "run.realtime: expected RealTime, found"),
    "a note": ({"begin": lambda self, run: run.notes["one"].append(3)}, "run.notes: expected"),
    "notes": ({"begin": lambda self, run: run.notes.update(one="abc")}, "run.notes: expected"),
    "another case": (
        {"prepare": lambda self, run, case: changed(case, name="two")},
        "prepare returned case 'two'; expected 'one'",
    ),
    "an error suppressed": ({"around": suppressing}, "ZeroDivisionError"),
    "watch": ({"around": around(watch=lambda _: 3)}, "watch returned 3; expected a sentence"),
    "steer, a text": ({"around": around(steer=lambda _: "x")}, "steer returned 'x'; expected a"),
    "steer, below 0": ({"around": around(steer=lambda _: -3)}, "steer returned -3; expected a"),
    "steer, a part": ({"around": around(steer=lambda _: 1.5)}, "steer returned 1.5; expected a"),
    "end of the steps": ({"around": around(end=lambda: "stop")}, "end returned 'stop'; expected a"),
}


@pytest.mark.parametrize("name", BEFORE)
def test_misuse_before_the_end_of_the_steps_ends_the_run(run_with_extension, name):
    hooks, expected = BEFORE[name]
    text, has_rows = run_with_extension(**hooks)
    assert expected in text
    assert not has_rows


def written(name, text="mine"):
    def end(self, run):
        run.write(name, lambda path: text and path.write_text(text))

    return end


AFTER = {
    "outside": (written("../escaped"), "file '../escaped': expected a name in the folder"),
    "absolute": (written("/tmp/escaped"), "file '/tmp/escaped': expected a name in the folder"),  # noqa: S108
    "nothing": (written("nothing.txt", ""), "file 'nothing.txt': its writer has not written it"),
    "a result": (written("one.parquet"), "file 'one.parquet': the run writes a file of this name"),
    "the summary": (written("summary.json"), "file 'summary.json': the run writes a file of this"),
    "a problem": (
        lambda self, run: run.outcome.problems.append(3),
        "run.outcome.problems: expected a list of sentences, found [3]",
    ),
    "a remark": (lambda self, run: run.remarks["one"].append(None), "run.remarks: expected a list"),
}


@pytest.mark.parametrize("name", AFTER)
def test_misuse_after_the_steps_is_a_problem_and_the_results_are_kept(run_with_extension, name):
    end, expected = AFTER[name]
    text, has_rows = run_with_extension(end=end)
    assert "extension 'bad': " in text
    assert expected in text
    assert has_rows


def test_an_extension_writes_its_own_file(run_with_extension, tmp_path):
    assert run_with_extension(end=written("mine.txt")) == ("", True)
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"
