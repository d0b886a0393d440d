"""The files of a run become visible together, whenever it is killed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kill_at.py")


@pytest.mark.slow
def test_a_killed_run_leaves_the_files_of_one_run(tmp_path):
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    content = json.loads(done.stdout)
    runs = [set(found.values()) for found, _ in content["seen"]]
    assert len(runs) > 20
    assert [run for run in runs if run not in ({1}, {2})] == []
    assert (runs[0], runs[-1]) == ({1}, {2})
    assert {kept for _, kept in content["seen"]} == {"kept"}  # what is not of a run stays
    assert content["crashes"] == [True] * 6
    assert set(content["last"].values()) == {3}
    results = [f"{case}.{kind}" for case in "ab" for kind in ("csv", "parquet")]
    ours = sorted([*results, "mine/notes.txt", "report.html", "summary.json"])
    assert content["files"] == ["a.ssd", "experiment.toml", *(f"out/{name}" for name in ours)]
