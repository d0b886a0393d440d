"""The benchmark against peers finds wrong outputs and says why a peer is missing."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[3] / "benchmarks" / "peers"


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(PEERS))
    return importlib.import_module


def test_verdict_tells_the_orders_apart_and_finds_a_wrong_output(load):
    verdict = load("verdict").verdict
    jacobi, ahead = [0.5, 0.25], [0.5, 0.26]
    assert verdict([0.5, 0.25 * (1 + 1e-12)], jacobi, ahead)[0] == "Jacobi"
    assert verdict(ahead, jacobi, ahead) == ("in sequence", 0.0)
    order, deviation = verdict([0.5, 0.2501], jacobi, ahead)
    assert order == "wrong"
    assert deviation == pytest.approx(4e-4)


@pytest.mark.parametrize("outputs", [[0.5], [0.5, float("nan")]])
def test_verdict_missing_or_no_number_is_wrong(load, outputs):
    assert load("verdict").verdict(outputs, [0.5, 0.25], [0.5, 0.26]) == ("wrong", float("inf"))


def _job(load, folder, n):
    return load("job").Job(
        fmu="absent.fmu",
        folder=str(folder),
        guid="",
        library="absent.so",
        input_name="u",
        output_name="y",
        input_reference=0,
        output_reference=1,
        floor="absent",
        work=str(folder / "work"),
        n=n,
        step_ns=1_000_000,
        record=False,
        budget=0.1,
    )


def test_a_peer_that_fails_gives_its_reason(load, tmp_path):
    row = load("rounds").measure("fmpy", sys.executable, _job(load, tmp_path, 2), 60.0)
    assert "absent.fmu" in row["skipped"]


def test_a_peer_that_is_not_installed_and_an_absent_interpreter(load, tmp_path):
    rounds, job = load("rounds"), _job(load, tmp_path, 2)
    row = rounds.measure("none_such", sys.executable, job, 60.0)
    assert row["skipped"] == "not installed (No module named 'peer_none_such')"
    job = job.at(2, tmp_path / "again", record=False)
    row = rounds.measure("fmpy", str(tmp_path / "python"), job, 60.0)
    assert row["skipped"].endswith("python: No such file or directory")


def test_a_peer_that_hangs_ends_in_bounded_time(load, tmp_path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 30\n", encoding="utf-8")
    slow.chmod(0o755)
    row = load("rounds").measure("fmpy", str(slow), _job(load, tmp_path, 2), 0.2)
    assert row == {"skipped": "longer than 0.2 s"}


@pytest.mark.parametrize("record", [False, True])
def test_pyfmi_is_measured_where_it_is_installed(load, plants, tmp_path, record):
    if importlib.util.find_spec("pyfmi") is None:
        pytest.skip("PyFMI is not on PyPI: docs/howto/pyfmi.md")
    fmu = plants / "PositionAxis.fmu"
    names = {"input_name": "position_command", "output_name": "position"}
    job = replace(_job(load, tmp_path, 2), fmu=str(fmu), record=record, **names)
    row = load("rounds").measure("pyfmi", sys.executable, job, 60.0)
    assert row["outputs"][0] > row["outputs"][1] > 0.0  # each unit follows the one before


def test_summary_takes_the_ratio_of_each_turn(load):
    floor = {"outputs": [1.0], "in_sequence": [1.0], "start_s": 0.0, "import_s": 0.0}
    floor |= {"steps": 1, "version": ""}
    bare = [floor | {"step_s": [t]} for t in (1e-6, 2e-6, 4e-6)]
    ours = [floor | {"step_s": [t]} for t in (2e-6, 6e-6, 4e-6)]
    row = load("rounds").summary(ours, bare, 2)
    assert row["ratio"] == 2.0
    assert row["us"] == pytest.approx(2.0)
    assert row["order"] == "Jacobi"


def test_command_refuses_an_unknown_peer():
    command = [sys.executable, str(PEERS), "--python", "nobody=python"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert "expected one of floor, softdock" in done.stderr
    assert "'nobody=python'" in done.stderr


def test_job_survives_its_file(load, tmp_path):
    job = _job(load, tmp_path, 3)
    job.write(tmp_path / "job.json")
    assert load("job").Job.read(tmp_path / "job.json") == job
    assert json.loads((tmp_path / "job.json").read_text(encoding="utf-8"))["n"] == 3
