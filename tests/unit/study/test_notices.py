"""What a run says of a safe state: result, metadata, report, summary, standard error, exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.core.master import Execution
from orchestrator.core.recording import read_parquet
from orchestrator.core.simunits import Notice, block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import DefaultExperiment, System
from orchestrator.study import read_experiment, run_experiment
from tests.page_plots import plots_of

pytestmark = pytest.mark.usefixtures("sample_blocks")
H = "1 ms"


def running_away(**values: float) -> System:
    """The time as a position: 1 m/s, which is faster than the guard allows, from the first step."""
    values = {"travel": 0.01, "speed": 2.0} | values
    return (
        System("away", experiment=DefaultExperiment(stop_ns=20_000_000, step_ns=1_000_000))
        .add("s", block("source"))
        .add("g", block("gain"))  # from seconds to metres
        .add("guard", block("axis_guard"), **values)
        .set("guard.velocity", 0.0)
        .set("guard.healthy", value=True)
        .set("guard.reset", value=False)
        .set("guard.stop", 0)
        .connect("s.time", "g.u")
        .connect("g.y", "guard.position")
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_ssd(running_away(), tmp_path / "away.ssd")
    write_ssd(running_away(travel=1.0), tmp_path / "near.ssd")
    (tmp_path / "experiment.toml").write_text(
        'title = "t"\n[case.away]\nsystem = "away.ssd"\n[case.near]\nsystem = "near.ssd"\n'
    )
    return tmp_path


@pytest.mark.slow
def test_the_result_says_so_and_is_whole(folder: Path) -> None:
    experiment = read_experiment(folder / "experiment.toml")
    outcome = run_experiment(experiment, folder, folder / "out")
    result = outcome.cases["away"].result
    (notice,) = result.notices
    assert (notice.component, notice.time_ns, notice.safe) == ("guard", 11_000_000, True)
    assert result.remarks[0] == str(notice)
    assert "SAFE STATE of component 'guard' at 0.011 s: the command left the allowed range" in str(
        notice
    )
    assert len(result.time_ns) == 21
    assert list(outcome.safe_states) == ["away"]
    assert not outcome.cases["near"].result.notices
    (told,) = read_parquet(folder / "out" / "away.parquet").attrs["run"]["notices"]
    assert told == {
        "component": "guard",
        "time_ns": 11_000_000,
        "safe": True,
        "what": notice.what,
        "advice": notice.advice,
    }
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["cases"]["away"]["notices"] == [told]
    report = (folder / "out" / "report.html").read_text()
    assert report.count("What components noticed") == 1
    assert notice.advice.replace("'", "&#39;") in report
    # The default figure shades what comes after it.
    plots = plots_of(folder / "out" / "report.html")
    assert plots["away"]["spans"] == [["safe state", 0.011, None]]
    assert plots["near"]["spans"] == []


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.slow
@pytest.mark.parametrize(("case", "expected"), [("away", 3), ("near", 0)])
def test_the_exit_code(
    folder: Path, softdock: Callable[..., tuple[int, str, str]], case: str, expected: int
) -> None:
    code, out, err = softdock("run", folder, "--case", case, "--output", folder / "out", "--json")
    assert code == expected
    assert len(json.loads(out)["cases"][case]["notices"]) == (1 if expected else 0)
    assert ("safe state in away" in err) is bool(expected)
    assert (folder / "out" / "report.html").is_file()


def test_notices_go_back_with_a_checkpoint() -> None:
    with Execution(running_away(), step=H) as run:
        run.advance("10 ms")
        before = run.save()
        run.advance("15 ms")
        assert len(run.notices) == 1
        after = run.save()
        run.restore(before)
        assert run.notices == ()
        run.restore(after)
        assert len(run.notices) == 1


def test_notices_come_from_a_process_of_its_own() -> None:
    alone = running_away().with_options("guard", isolation="process")
    with Execution(running_away(), step=H) as one, Execution(alone, step=H) as other:
        for run in (one, other):
            run.advance("15 ms")
        assert one.notices == other.notices
        assert len(other.notices) == 1


def test_words() -> None:
    notice = Notice(1_500_000_000, "it hardly moves", "push it", component="g")
    assert str(notice) == "warning of component 'g' at 1.5 s: it hardly moves; push it"
