import json
import re

import pandas as pd
import pytest

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.simunits import fmu
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.pictures import sweep_page as page

TEXT = """
title = "slopes"
[case.slope]
system = "slope.ssd"
step = "100 ms"
stop = "1 s"
[case.slope.measure]
end = { kind = "final", signal = "a.y" }
growth = { kind = "growth", signal = "a.y" }
[sweep.ends]
cases = ["slope"]
measures = ["end"]
[sweep.ends.over.slope]
set = ["a.u"]
values = [1.0, 2.0, 3.0]
[sweep.rates]
cases = ["slope"]
measures = ["growth"]
[sweep.rates.over.slope]
set = ["a.u"]
values = [1.0]
[sweep.swept]
case = "slope"
over = "step"
values = ["50 ms", "100 ms"]
measures = ["end"]
"""


@pytest.fixture
def folder(tmp_path, small_fmu, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "rig"
    folder.mkdir()
    system = System("slope").add("a", fmu(small_fmu("crash_on_demand")), u=1.0)
    write_ssd(system, folder / "slope.ssd")
    (folder / "experiment.toml").write_text(TEXT)
    (folder / "maps.toml").write_text(TEXT)
    return folder


def test_a_run_says_which_sweeps_it_did_not_run(softdock, folder):
    file = folder / "experiment.toml"
    file.write_text(TEXT.replace('kind = "growth"', 'kind = "final"'))
    code, _, err = softdock("run", folder, "--no-linearise", "--json")
    assert code == 0, err
    assert "sweep 'ends' was not run: softdock sweep" in err
    assert "sweep 'rates' was not run" in err
    assert "'swept' was not run" not in err


def test_everything_is_run_and_told(softdock, folder, tmp_path):
    code, out, err = softdock("sweep", folder, "--workers", "1")
    assert (code, err) == (0, "")
    for name, runs in (("ends", 3), ("rates", 1), ("swept", 2)):
        assert len(pd.read_csv(tmp_path / "results" / "rig" / f"{name}.csv")) == runs
        assert str(tmp_path / "results" / "rig" / f"{name}.parquet").rpartition("results")[2] in out
    assert "1 unmeasured" in out
    assert "rates: unmeasured: slope at slope = 1.0: measure 'growth': case 'slope', 'a.y'" in out
    page = (tmp_path / "results" / "rig" / "sweep.html").read_text()
    assert "slope at slope = 1.0" in page.partition('aria-label="Without figures"')[2]


def sweeps_of(page):
    """Titles of the first table of a page, without its heading."""
    table = page.read_text().partition('aria-label="Sweeps"')[2].partition("</table>")[0]
    return re.findall(r"<tr>\s*<t[dh][^>]*>([^<]*)<", table)[1:]


@pytest.mark.slow
def test_the_page_keeps_sweeps_that_are_not_run_again(softdock, folder, tmp_path):
    page = tmp_path / "results" / "rig" / "sweep.html"
    for names, listed in (
        (["swept"], ["swept"]),
        (["ends"], ["ends", "swept"]),
        (["rates"], ["ends", "rates", "swept"]),
        (["ends"], ["ends", "rates", "swept"]),
    ):
        code, _, err = softdock("sweep", folder, *names, "--workers", "1")
        assert (code, err) == (0, "")
        assert sweeps_of(page) == listed
    (folder / "experiment.toml").write_text(TEXT.replace("2.0, 3.0", "2.0, 4.0"))
    code, _, err = softdock("sweep", folder, "rates", "--workers", "1")
    assert (code, sweeps_of(page)) == (0, ["rates", "swept"])
    assert "ends: ran earlier and is not on the page: 1 of 3 runs are missing" in err


def test_a_file_of_another_name_has_results_of_its_own(softdock, folder, tmp_path):
    code, _, _ = softdock("sweep", folder / "maps.toml", "ends", "--workers", "1")
    assert code == 0
    assert (tmp_path / "results" / "rig-maps" / "ends.csv").is_file()
    assert not (tmp_path / "results" / "rig-maps" / "rates.csv").exists()


@pytest.mark.slow
def test_json_says_what_was_run_and_what_was_kept(softdock, folder, tmp_path):
    where = ("--output", tmp_path / "out", "--workers", "1", "--json")
    content = json.loads(softdock("sweep", folder, "ends", *where)[1])
    assert content["sweeps"]["ends"]["ran"] == 3
    content = json.loads(softdock("sweep", folder, "ends", "rates", *where)[1])
    assert (content["sweeps"]["ends"]["ran"], content["sweeps"]["ends"]["kept"]) == (0, 3)
    assert content["sweeps"]["rates"]["status"] == {"unmeasured": 1}
    content = json.loads(softdock("sweep", folder, *where, "--retry-failed")[1])
    assert content["sweeps"]["rates"]["ran"] == 1
    content = json.loads(softdock("sweep", folder, "ends", *where, "--fresh")[1])
    assert content["sweeps"]["ends"]["ran"] == 3


@pytest.mark.slow
def test_a_dry_run_writes_nothing(softdock, folder, tmp_path):
    content = json.loads(softdock("sweep", folder, "--dry-run", "--json")[1])
    assert {name: row["to_run"] for name, row in content.items()} == {
        "ends": 3, "rates": 1, "swept": 2,
    }  # fmt: skip
    assert 0 < content["ends"]["seconds"] < 60
    code, out, _ = softdock("sweep", folder, "--dry-run")
    assert code == 0
    assert "Nothing is run yet" in out
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("endz",), "no sweep 'endz'. Did you mean 'ends'? The sweeps are ends"),
        (("--workers", "2", "--scheduler", "tcp://a:1"), "give one of both"),
    ],
)
def test_what_is_asked_for_does_not_exist(softdock, folder, arguments, expected):
    code, out, err = softdock("sweep", folder, *arguments)
    assert (code, out) == (2, "")
    assert expected in err


def test_an_experiment_without_sweeps(softdock, folder):
    (folder / "maps.toml").write_text(TEXT[: TEXT.index("[sweep.ends]")])
    code, _, err = softdock("sweep", folder / "maps.toml")
    assert code == 2
    assert "the experiment has no sweep: add [sweep.NAME]" in err


def test_dask_that_is_not_installed(softdock, folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "orchestrator.study.sweep.cluster", raising=False)
    code, _, err = softdock("sweep", folder, "--scheduler", "tcp://localhost:1")
    assert code == 2
    assert "pip install 'softdock[cluster]'" in err


def test_a_page_that_cannot_be_drawn_leaves_the_tables_that_belong_to_it(
    softdock, folder, tmp_path, monkeypatch
):
    out = tmp_path / "results" / "rig"
    assert softdock("sweep", folder, "ends", "--workers", "1")[0] == 0
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    (folder / "experiment.toml").write_text(TEXT.replace("[1.0, 2.0, 3.0]", "[4.0]"))

    def fail(*_):
        raise SoftdockError("the disk is full")

    monkeypatch.setattr(page, "write_report", fail)
    assert softdock("sweep", folder, "ends", "--workers", "1")[0] == 2
    after = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    done = after.pop("ends.jsonl")
    assert done.startswith(before.pop("ends.jsonl"))  # what was run is not run again
    assert done.count(b"\n") == 4
    assert after == before
    assert {path.name for path in out.parent.iterdir()} == {"rig"}
