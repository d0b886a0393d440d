"""What a run says and keeps that a full disk or a kill ends."""

import errno
import os

import pytest

from orchestrator.core.diagnostics import LoadError, SoftdockError
from orchestrator.core.recording import read_result, whole_folder
from orchestrator.core.simunits import block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.pictures import report_page
from orchestrator.study import read_experiment, run_experiment

TEXT = """
title = "two"
[defaults]
step = "1 ms"
stop = "5 ms"
linearise = false
[case.one]
system = "s.ssd"
[case.other]
system = "s.ssd"
"""


@pytest.fixture
def run(tmp_path, sample_blocks):
    write_ssd(System("s").add("source", block("source")), tmp_path / "s.ssd")
    (tmp_path / "e.toml").write_text(TEXT)

    def made(**options):
        experiment = read_experiment(tmp_path / "e.toml")
        return run_experiment(experiment, tmp_path, tmp_path / "out", **options)

    return made


def test_a_report_that_does_not_fit_names_its_place_and_the_recordings(run, tmp_path, monkeypatch):
    """It named the hidden folder that the run writes in, and said nothing of the recordings."""

    def full(*_arguments, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(report_page.Path, "write_text", full)
    with pytest.raises(SoftdockError) as raised:
        run()
    said = str(raised.value)
    out = tmp_path / "out"
    assert f"{out / 'report.html'}: cannot be written: No space left on device" in said
    assert said.endswith(
        f"{out} keeps the recordings: one.partial.parquet and other.partial.parquet"
    )
    assert len(read_result(out / "one.partial.parquet").time) == 6


def test_a_folder_that_a_killed_run_leaves_says_so(tmp_path, wording):
    """Its draft stays behind; the next run into the folder removes it."""
    (tmp_path / "out").mkdir()
    with wording.raises(LoadError):
        read_result(tmp_path / "out")
    (tmp_path / ".out.0123456789ab.part").mkdir()
    with wording.raises(LoadError):
        read_result(tmp_path / "out")
    (tmp_path / "out" / "one.partial").mkdir()
    with wording.raises(LoadError):
        read_result(tmp_path / "out")
    with whole_folder(tmp_path / "out", alone=True):
        pass
    assert not (tmp_path / ".out.0123456789ab.part").exists()
