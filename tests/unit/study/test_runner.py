import json
import os
from pathlib import Path

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError, SoftdockError, UnknownNameError
from orchestrator.core.recording import read_parquet, whole_folder
from orchestrator.core.simulation import FailedRunError, InterruptedRun
from orchestrator.core.simunits import Block, Output, block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.study import read_experiment, run_experiment, simulate
from orchestrator.study.extension import Extension

from .conftest import GOOD, experiment


@pytest.mark.parametrize(
    ("blow", "expected"),
    [(ValueError, FailedRunError), (KeyboardInterrupt, InterruptedRun)],
)
def test_what_ends_a_run_leaves_its_result(fuse, blow, expected):
    with pytest.raises(expected) as ended:
        simulate(fuse(blow), step="100 ms", stop="1 s")
    np.testing.assert_allclose(ended.value.result["fuse.y"], np.arange(6) * 0.1, atol=1e-12)


@pytest.mark.usefixtures("no_pictures")
def test_a_failing_case_keeps_what_went_before(fuse, tmp_path, wording):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    out = tmp_path / "out"
    run_experiment(read_experiment(experiment(tmp_path, GOOD)), tmp_path, out)
    before = (out / "a.parquet").read_bytes()
    fuse(ValueError)
    with wording.raises(FailedRunError):
        run_experiment(read_experiment(experiment(tmp_path, GOOD)), tmp_path, out)
    assert (out / "a.parquet").read_bytes() == before
    assert len(read_parquet(out / "a.partial.parquet")) == 6


def test_a_second_run_into_a_folder_is_refused_before_anything_begins(
    fuse, tmp_path, monkeypatch, wording
):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    begun = []
    monkeypatch.setattr(Extension, "begin", lambda *_: begun.append(1))  # such as identification
    read = read_experiment(experiment(tmp_path, GOOD))
    with whole_folder(tmp_path / "out", alone=True):
        with wording.raises(SoftdockError):
            run_experiment(read, tmp_path, tmp_path / "out")
        assert not any((tmp_path / "out").iterdir())
    assert not begun


@pytest.mark.usefixtures("no_pictures")
def test_every_second_step_is_recorded(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    outcome = run_experiment(
        read_experiment(experiment(tmp_path, GOOD)), tmp_path, tmp_path / "out"
    )
    np.testing.assert_array_equal(outcome.cases["b"].result.time, np.arange(6) / 5)


def test_csv_is_written_only_when_asked_for(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    text = GOOD + 'formats = ["csv"]\n'
    run_experiment(read_experiment(experiment(tmp_path, text)), tmp_path, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").glob("[ab].*")}
    assert names == {"a.parquet", "b.csv"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title = 1", ["'title'", "missing key 'case'"]),
        (GOOD + "[case.c]\n", ["missing key 'case.c.system'"]),
        (GOOD + "[case.c]\nsystem = 's'\nevery = 0\n", ["case.c.every", "found 0"]),
        (
            GOOD + "[sweep.s]\ncase='z'\nover='step'\nvalues=[1]\nmeasures=['m']",
            ["no case 'z'", "a and b"],
        ),
        (GOOD + "[sweep.s]\ncase='a'\nover='step'\nvalues=[1]\nmeasures=['m']", ["no measure 'm'"]),
        (GOOD + "[figure.f]\nkind='pie'\ntitle='t'\n", ["figure.f", "pie"]),
        ("[case.a", ["TOML"]),
    ],
)
def test_wrong_experiment_files(tmp_path, text, expected):
    from orchestrator.core.diagnostics import SoftdockError

    path = experiment(tmp_path, text)
    with pytest.raises(SoftdockError) as error:
        read_experiment(path)
    for part in [str(path), *expected]:
        assert part in str(error.value)


def test_names_that_no_case_has(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    read = read_experiment(experiment(tmp_path, GOOD))
    for options in ({"only": ["c"]}, {"values": {"x.u": 1.0}}, {"swaps": {"x": "block:fuse"}}):
        with pytest.raises(UnknownNameError):
            run_experiment(read, tmp_path, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_everything_is_checked_before_anything_runs(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    text = (
        GOOD
        + """
measure.one = { kind = "peak", signal = "fuse.z", until = "1 parsec" }
measure.two.kind = "growth"
measure.two.signal = "fuse.y"
measure.two.predict = { mass = "fuse.m", stiffness = 1, damping = 1 }
[case.c]
system = "fused.ssd"
algorithm = "magic"
measure.three = { kind = "difference", signal = "fuse.y", to = "a" }
[sweep.s]
case = "c"
over = "fuse.q"
values = [1]
measures = ["three"]
[figure.f]
kind = "time"
title = "t"
[[figure.f.panels]]
ylabel = "y"
curves = [
  { case = "a", signal = "fuse.w", label = "w" },
  { case = "a", signal = "fuse.y", label = "late", minus = { case = "b", signal = "fuse.y" } },
  { case = "a", signal = "fuse.y", label = "v", minus = { case = "a", signal = "fuse.v" } },
  { case = "a", signal = "fuse.y", label = "u", angle = "x" },
]
"""
    )
    with pytest.raises(DescriptionError) as error:
        run_experiment(read_experiment(experiment(tmp_path, text)), tmp_path, tmp_path / "out")
    assert len(error.value.problems) == 13
    wrong = ["fuse.z", "parsec", "'m'", "magic", "cannot be swept", "'q'", "fuse.w", "fuse.v"]
    for part in (*wrong, "'late': expected the same", *(f"'fuse.y[{i}]'" for i in range(4))):
        assert sum(part in problem for problem in error.value.problems) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_difference_to_a_later_case(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    measure = '[case.a.measure]\nd = { kind = "difference", signal = "fuse.y", to = "b" }\n'
    text = GOOD.replace("every = 2", "").replace("[case.b]", measure + "[case.b]")
    outcome = run_experiment(
        read_experiment(experiment(tmp_path, text)), tmp_path, tmp_path / "out", notes=["changed"]
    )
    assert outcome.cases["a"].measured["d"].value == 0.0
    assert outcome.cases["a"].result.remarks == ("changed",)


def test_missing_times(fuse, wording):
    with wording.raises(DescriptionError):
        simulate(fuse(), step="1 ms")
    with wording.raises(DescriptionError):
        simulate(fuse(), step="1 ms", start=1.0, stop=0.5)


def test_a_stop_off_the_grid_is_reached_by_the_last_whole_step(fuse):
    result = simulate(fuse(), step="300 ms", stop="1 s")
    assert result.time[-1] == pytest.approx(0.9)
    assert result.remarks == (
        (
            "the stop time of 1 s is not a whole number of steps of 300 ms after the start: the run"
            " ends at 0.9 s"
        ),
    )


def test_examples_folder_is_complete():
    folder = Path(__file__).parents[3] / "examples" / "epos"
    read = read_experiment(folder / "experiment.toml")
    assert {case.system for case in read.case.values()} <= {p.name for p in folder.glob("*.ssd")}


@pytest.mark.usefixtures("no_pictures")
def test_a_later_failure_keeps_a_finished_case_apart_from_the_run_before(fuse, tmp_path, wording):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    out = tmp_path / "out"
    read = read_experiment(experiment(tmp_path, GOOD))
    run_experiment(read, tmp_path, out)
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    fuse(ValueError)
    text = GOOD.replace('system = "fused.ssd"', 'system = "fused.ssd"\nstop = "0.4 s"', 1)
    with wording.raises(FailedRunError):
        run_experiment(read_experiment(experiment(tmp_path, text)), tmp_path, out)
    assert len(read_parquet(out / "a.partial.parquet")) == 5
    for name, content in before.items():
        assert (out / name).read_bytes() == content
    fuse()
    run_experiment(read, tmp_path, out)
    assert {path.name for path in out.iterdir() if path.is_file()} == set(before)


@pytest.mark.usefixtures("no_pictures")
def test_formats_of_the_run_before_do_not_stay_beside_new_ones(fuse, tmp_path):
    write_ssd(fuse(), tmp_path / "fused.ssd")
    out = tmp_path / "out"
    for only, formats in (("b", '["csv"]'), ("a", '["csv", "mat"]'), ("a", '["parquet"]')):
        text = GOOD.replace("[defaults]", f"[defaults]\nformats = {formats}")
        run_experiment(read_experiment(experiment(tmp_path, text)), tmp_path, out, only=[only])
    left = {path.name for path in out.iterdir() if path.is_file()}
    assert left == {"a.parquet", "b.csv", "report.html", "summary.json"}
    said = json.loads((out / "summary.json").read_text(encoding="utf-8"))["files"]
    assert str(out / "a.parquet") in said
    assert all(Path(path).is_file() for path in said)


@pytest.mark.parametrize("key", ["int", "[x]", "str"])
def test_an_unknown_key_that_looks_like_a_kind_is_named(tmp_path, key, wording):
    path = experiment(tmp_path, f'"{key}" = 1\n' + GOOD)
    with wording.raises(DescriptionError):
        read_experiment(path)


class Wanderer(Block):
    """Changes the working directory in its first step."""

    y: float = Output(depends_on=())

    def step(self, t, h):
        os.chdir("/")


@pytest.mark.usefixtures("no_pictures")
def test_results_stay_where_they_were_meant(register, tmp_path, monkeypatch):
    register(wanderer=Wanderer)
    monkeypatch.chdir(tmp_path)
    write_ssd(System("fused").add("way", block("wanderer")), tmp_path / "fused.ssd")
    done = run_experiment(
        read_experiment(experiment(tmp_path, GOOD)), tmp_path, Path("results") / "here"
    )
    assert all(path.is_relative_to("results/here") for path in done.files)
    assert all((tmp_path / path).is_file() for path in done.files)
    assert Path.cwd() == tmp_path
    notes = done.cases["a"].result.notes
    assert any("component 'way' changed the working directory, to '/'" in note for note in notes)
