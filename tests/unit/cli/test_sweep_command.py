import json

import pandas as pd
import pytest

from orchestrator.simunits import fmu
from orchestrator.ssp import write_ssd
from orchestrator.system import System

TEXT = """
title = "slopes"
[case.slope]
system = "slope.ssd"
step = "100 ms"
stop = "1 s"
[case.slope.measure]
end = { kind = "final", signal = "a.y" }
growth = { kind = "growth", signal = "a.y" }
[campaign.ends]
cases = ["slope"]
measures = ["end"]
[campaign.ends.over.slope]
set = ["a.u"]
values = [1.0, 2.0, 3.0]
[campaign.rates]
cases = ["slope"]
measures = ["growth"]
[campaign.rates.over.slope]
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


def test_everything_is_run_and_told(softdock, folder, tmp_path):
    code, out, err = softdock("sweep", folder, "--workers", "1")
    assert (code, err) == (0, "")
    for name, runs in (("ends", 3), ("rates", 1), ("swept", 2)):
        assert len(pd.read_csv(tmp_path / "results" / "rig" / f"{name}.csv")) == runs
        assert str(tmp_path / "results" / "rig" / f"{name}.parquet").rpartition("results")[2] in out
    assert "1 unmeasured" in out
    assert "rates: such as: measure 'growth': case 'slope', 'a.y': growth fit" in out
    assert (tmp_path / "results" / "rig" / "sweep.html").is_file()


def test_a_file_of_another_name_has_results_of_its_own(softdock, folder, tmp_path):
    code, _, _ = softdock("sweep", folder / "maps.toml", "ends", "--workers", "1")
    assert code == 0
    assert (tmp_path / "results" / "rig-maps" / "ends.csv").is_file()
    assert not (tmp_path / "results" / "rig-maps" / "rates.csv").exists()


def test_json_says_what_was_run_and_what_was_kept(softdock, folder, tmp_path):
    where = ("--output", tmp_path / "out", "--workers", "1", "--json")
    told = json.loads(softdock("sweep", folder, "ends", *where)[1])
    assert told["campaigns"]["ends"]["ran"] == 3
    told = json.loads(softdock("sweep", folder, "ends", "rates", *where)[1])
    assert (told["campaigns"]["ends"]["ran"], told["campaigns"]["ends"]["kept"]) == (0, 3)
    assert told["campaigns"]["rates"]["status"] == {"unmeasured": 1}
    told = json.loads(softdock("sweep", folder, *where, "--retry-failed")[1])
    assert told["campaigns"]["rates"]["ran"] == 1
    told = json.loads(softdock("sweep", folder, "ends", *where, "--fresh")[1])
    assert told["campaigns"]["ends"]["ran"] == 3


def test_a_dry_run_writes_nothing(softdock, folder, tmp_path):
    told = json.loads(softdock("sweep", folder, "--dry-run", "--json")[1])
    assert {name: row["to_run"] for name, row in told.items()} == {
        "ends": 3, "rates": 1, "swept": 2,
    }  # fmt: skip
    assert 0 < told["ends"]["seconds"] < 60
    code, out, _ = softdock("sweep", folder, "--dry-run")
    assert code == 0
    assert "Nothing is run yet" in out
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("endz",), "no campaign 'endz'; the experiment has: ends, rates, swept"),
        (("--workers", "2", "--scheduler", "tcp://a:1"), "give one of both"),
    ],
)
def test_what_is_asked_for_does_not_exist(softdock, folder, arguments, expected):
    code, out, err = softdock("sweep", folder, *arguments)
    assert (code, out) == (2, "")
    assert expected in err


def test_an_experiment_without_campaigns(softdock, folder):
    (folder / "maps.toml").write_text(TEXT[: TEXT.index("[campaign.ends]")])
    code, _, err = softdock("sweep", folder / "maps.toml")
    assert code == 2
    assert "no campaign and no sweep" in err


def test_dask_that_is_not_installed(softdock, folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "orchestrator.sweep.cluster", raising=False)
    code, _, err = softdock("sweep", folder, "--scheduler", "tcp://localhost:1")
    assert code == 2
    assert "pip install 'softdock[cluster]'" in err
