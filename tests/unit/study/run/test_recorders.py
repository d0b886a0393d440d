"""The files of a case: chosen signals and rows, formats, and what a killed run leaves."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy.io import loadmat

from orchestrator.core.diagnostics import (
    DescriptionError,
    LoadError,
    SoftdockError,
    StepError,
)
from orchestrator.core.recording import Journal, journal, read_parquet, read_result
from orchestrator.core.simunits import Block, Output, Parameter, block, fmu
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.study import read_experiment, run_experiment, simulate
from orchestrator.study.run import case_runs

pytestmark = pytest.mark.usefixtures("sample_blocks", "no_pictures")


class Fuse(Block):
    """Shows the time, and fails in the step from ``blow`` on."""

    y: float = Output(depends_on=())
    blow: float = Parameter(start=0.01)

    def step(self, t, h):
        self.y = t + h
        if t > self.blow - 5e-10:
            raise ValueError("blown")


TWO = """
title = "two"
[defaults]
step = "1 ms"
stop = "20 ms"
record = ["clock.*", "i.y"]
[case.a]
system = "two.ssd"
every = 2
formats = ["mat", "csv"]
[case.a.recorder.slow]
record = ["*.time", "i.*"]
every = 6
formats = ["parquet", "mat"]
"""


@pytest.fixture
def experiment(tmp_path):
    """Write the experiment with its system, and read it."""
    system = System("two").add("clock", block("source")).add("i", block("integrator"), u=2.0)
    write_ssd(system.add("g", block("gain"), u=1.0), tmp_path / "two.ssd")

    def make(text):
        path = tmp_path / "experiment.toml"
        path.write_text(text)
        return read_experiment(path)

    return make


def test_each_recorder_writes_its_own(experiment, tmp_path):
    out = tmp_path / "out"
    outcome = run_experiment(experiment(TWO), tmp_path, out)
    files = {path.name for path in out.iterdir() if path.is_file()}
    assert files == {
        "a.mat",
        "a.csv",
        "a.slow.parquet",
        "a.slow.mat",
        "report.html",
        "summary.json",
    }
    assert {out / name for name in files} <= set(outcome.files)
    whole = loadmat(out / "a.mat")["data_2"]
    np.testing.assert_allclose(whole[0], np.arange(0, 21, 2) * 1e-3, rtol=1e-15)
    slow = read_parquet(out / "a.slow.parquet")
    assert list(slow.columns) == ["clock.time", "i.y"]
    np.testing.assert_array_equal(slow.index, np.array([0, 6, 12, 18, 20]) / 1e3)
    np.testing.assert_allclose(slow["clock.time"], slow.index, atol=1e-17)
    np.testing.assert_allclose(slow["i.y"], 2.0 * slow.index, rtol=1e-14)


def test_a_run_that_fails_leaves_partial_files_of_every_recorder(register, tmp_path, wording):
    register(fuse=Fuse)
    system = System("f").add("rig", block("fuse"))
    text = TWO.replace("two.ssd", "f.ssd").replace('"clock.*", "i.y"', '"rig.*"')
    text = text.replace('"*.time", "i.*"', '"*.y"')
    (tmp_path / "experiment.toml").write_text(text)
    out = tmp_path / "out"

    def outcome(blow):
        write_ssd(system.set("rig.blow", blow), tmp_path / "f.ssd")
        return run_experiment(read_experiment(tmp_path / "experiment.toml"), tmp_path, out)

    with wording.raises(StepError):
        outcome(blow=0.01)
    names = {path.name for path in out.iterdir()}
    assert names == {
        "a.partial.mat",
        "a.partial.csv",
        "a.slow.partial.parquet",
        "a.slow.partial.mat",
    }
    assert list(read_parquet(out / "a.slow.partial.parquet").index) == [0.0, 0.006, 0.01]
    outcome(blow=1.0)
    assert not list(out.glob("*.partial*"))


@pytest.mark.parametrize(
    "change",
    [
        ("every = 6", "every = 5"),
        ('"i.*"', '"g.*"'),
        ('"clock.*"', '"clok.*"'),
        ('"*.time"', '"*.tine"'),
        ('"mat", "csv"', '"xls"'),
        ("every = 2", 'every = 2\nflush = "soon"'),
        ("every = 2", "every = 2\nflush = 0"),
        ("recorder.slow", "recorder.partial"),
        ("[case.a]", '[case."a.slow"]\nsystem = "two.ssd"\n[case.a]'),
        ('stop = "20 ms"', 'stop = "200000 s"'),
    ],
)
def test_wrong_recorders_are_told_before_the_run(experiment, tmp_path, change, wording):
    with wording.raises(DescriptionError):
        run_experiment(experiment(TWO.replace(*change)), tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a.b", "a/b", ""])
def test_names_of_recorders(experiment, name, wording):
    with wording.raises(DescriptionError, code="EXP101"):
        experiment(TWO.replace("recorder.slow", f'recorder."{name}"'))


@pytest.fixture
def coasting(plants, tmp_path):
    """The path of a system of one body with x = 0.03 t + 0.05 t^2 and v = 0.03 + 0.1 t."""
    held = {"force": 0.0, "virtual_force": 0.0, "thrust": 75.0}
    system = System("coasting").add("body", fmu(plants / "Chaser.fmu"), **held)
    write_ssd(system, tmp_path / "coasting.ssd")
    return tmp_path / "coasting.ssd"


RIPPLE = """
import math
from orchestrator import Block, Output

class Ripple(Block):
    y: float = Output()
    z: float = Output()
    def step(self, t: float, h: float) -> None:
        self.y, self.z = math.sin(1e4 * t), math.cos(1e4 * t)
"""
#: A run whose files may not grow beyond a size.
SMALL_DISK = """import resource; from orchestrator.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); main()"""


def run(system, output, *options, program="from orchestrator.cli import main; main()"):
    command = [sys.executable, "-c", program, "run", system]
    command += ["--output", output, "--step", "10 us", *options]
    command = [str(part) for part in command]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program


@pytest.mark.slow
def test_a_killed_run_leaves_what_it_had_flushed(coasting, tmp_path):
    folder = tmp_path / "out" / "coasting.partial"
    with run(coasting, tmp_path / "out", "--stop", "1000 s", "--flush", "50 ms") as child:
        deadline = time.monotonic() + 60
        while len(list(folder.glob("part-*.parquet"))) < 3:
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    frame = read_parquet(folder)
    t = frame.index.to_numpy()
    assert len(t) > 1000
    np.testing.assert_array_equal(t, np.arange(len(t)) * 10_000 / 1e9)  # no row twice, none missing
    np.testing.assert_allclose(frame["body.position"], 0.03 * t + 0.05 * t**2, rtol=1e-9)
    np.testing.assert_allclose(frame["body.velocity"], 0.03 + 0.1 * t, rtol=1e-9)
    assert frame.attrs["units"] == {
        "body.position": "m",
        "body.velocity": "m/s",
        "body.energy": "J",
    }
    pd.testing.assert_frame_equal(pd.read_parquet(folder), frame)
    # A run that ends puts whole files in its place.
    with run(coasting, tmp_path / "out", "--stop", "1 ms", "--format", "mat") as child:
        assert child.wait(60) == 0
    assert not folder.exists()
    assert (tmp_path / "out" / "coasting.mat").exists()


@pytest.mark.parametrize("size", [600_000, 30_000])
def test_a_full_disk_keeps_the_rows_of_a_run_that_came_to_its_end(tmp_path, capfd, size):
    """A CSV of 20,001 rows has 0.9 MB, and the same rows as Parquet 0.4 MB."""
    (tmp_path / "ripple.py").write_text(RIPPLE)
    system = System("ripple").add("r", block(f"{tmp_path}/ripple.py:Ripple"))
    write_ssd(system, tmp_path / "ripple.ssd")
    options = ("--stop", "200 ms", "--format", "csv", "--flush", "10 ms", "--no-linearise")
    with run(
        tmp_path / "ripple.ssd", tmp_path / "out", *options, program=SMALL_DISK.format(size=size)
    ) as child:
        assert child.wait(60) == 2
    said = " ".join(capfd.readouterr().err.split())
    assert "ripple.csv: cannot be written: File too large; " in said
    assert "the run itself ended normally, and its rows are kept" in said
    if size > 30_000:
        assert "ripple.partial.parquet, which softdock convert reads" in said
        assert len(read_result(tmp_path / "out" / "ripple.partial.parquet").time) == 20_001
        assert not (tmp_path / "out" / "ripple.partial").exists()
    elif (tmp_path / "out" / "ripple.partial").exists():
        assert "ripple.partial up to the last flush" in said
    else:
        assert "its rows are kept nowhere" in said


def test_a_journal_takes_the_place_of_an_earlier_one(tmp_path):
    clock = System("c").add("clock", block("source"))
    folder = tmp_path / "c.partial"
    folder.mkdir()
    (folder / "part-000099.parquet").write_bytes(b"earlier")
    kept = Journal(folder, 1e-9)  # due after every chunk of steps
    simulate(clock, step="1 us", stop="30 ms", every=7, journal=kept)
    frame = read_parquet(folder)
    assert len(list(folder.iterdir())) >= 3
    assert len(frame) == kept.rows
    np.testing.assert_array_equal(frame.index, np.arange(kept.rows) * 7000 / 1e9)
    assert frame.index[-1] >= 0.029
    kept.remove()
    kept.remove()
    assert not folder.exists()


def test_a_journal_without_arrow_is_of_npz(tmp_path, monkeypatch, wording):
    monkeypatch.setattr(journal, "default_format", lambda: "npz")
    clock = System("c").add("clock", block("source"))
    folder = tmp_path / "c.partial"
    kept = Journal(folder, 1e-9)
    result = simulate(clock, step="1 us", stop="30 ms", every=7, journal=kept)
    assert {file.suffix for file in folder.iterdir()} == {".npz"}
    read = read_result(folder)
    np.testing.assert_array_equal(read.time_ns, result.time_ns[: kept.rows])
    np.testing.assert_array_equal(read.to_frame(), result.to_frame().iloc[: kept.rows])
    (folder / "part-000001.npz").unlink()
    (folder / "part-000002.npz").write_bytes((folder / "part-000003.npz").read_bytes()[:-9])
    with wording.raises(LoadError):
        read_result(folder)


def test_a_journal_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    def fail(result, path):
        raise SoftdockError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr(journal, "writer", lambda _kind: fail)
    clock = System("c").add("clock", block("source"))
    kept = Journal(tmp_path / "c", 1e-9)
    result = simulate(clock, step="1 ms", stop="50 ms", journal=kept)
    assert len(result.time) == 51
    (note,) = result.notes
    assert note.startswith("the run went on without its journal from 0.001 s: ")
    assert note.endswith("No space left on device")


def test_a_folder_without_parts_is_refused(tmp_path, wording):
    with wording.raises(LoadError):
        read_parquet(tmp_path)


def test_a_disk_that_is_full_keeps_what_was_written(experiment, tmp_path, monkeypatch, wording):
    def full(result, path):
        raise SoftdockError(f"{path}: cannot be written: No space left on device")

    real = case_runs.writer
    monkeypatch.setattr(case_runs, "writer", lambda kind: full if kind == "csv" else real(kind))
    out = tmp_path / "out"
    with wording.raises(SoftdockError):
        run_experiment(experiment(TWO), tmp_path, out)
    assert {path.name for path in out.iterdir()} == {"a.partial.mat", "a.partial.parquet"}
    assert len(read_result(out / "a.partial.parquet").time) == 11
    assert loadmat(out / "a.partial.mat")["data_2"].shape == (4, 11)
    assert not list(tmp_path.glob(".out.*"))
