"""Every process that this package starts: found, heard, ended and reaped, whoever ends first."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import gone

from orchestrator.core.own_process import OwnProcess

MODULE = """
import os, sys, time
what = sys.argv[1]
if what == "much":
    sys.stderr.write("x" * (1 << 20) + "\\nthe last line\\n")
print(os.environ.get("TMPDIR", ""), flush=True)
if what == "wait":
    sys.stdin.read()
if what == "hang":
    time.sleep(60)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "some_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "some_module"


def reaped(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_much_on_standard_error_stops_nothing_and_is_kept(module):
    process = OwnProcess(module, "much", stdout=subprocess.PIPE, keeps_stderr=True)
    assert process.first_line(10.0)
    said = process.finish(10.0)
    assert said.endswith("the last line")
    assert len(said) > 1 << 20
    assert (process.returncode, reaped(process.pid)) == (0, True)


def test_what_nobody_refers_to_any_more_ends_with_its_folder(module):
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = OwnProcess(module, "wait", folder="softdock-test-", **streams)
    pid, folder = process.pid, Path(process.first_line(10.0).decode().strip())
    assert folder.is_dir()
    del process
    gc.collect()
    assert reaped(pid)
    assert not folder.exists()


def test_what_is_told_after_the_end_is_lost_and_no_error(module):
    process = OwnProcess(module, "wait", stdin=subprocess.PIPE)
    process.send_signal(signal.SIGKILL)
    assert process.wait(10.0)
    process.stdin.write(b"too late")
    assert process.finish() == ""
    assert process.returncode == -signal.SIGKILL


def test_what_outlives_its_starter_is_reaped_when_it_ends(module):
    process = OwnProcess(module, "wait", stdin=subprocess.PIPE, outlives=True)
    assert os.getsid(process.pid) == process.pid
    process.end()  # closes its standard input, and waits for nothing
    end = time.monotonic() + 20.0
    while not reaped(process.pid) and time.monotonic() < end:
        time.sleep(0.001)
    assert reaped(process.pid)


def test_what_cannot_be_started_leaves_nothing(module, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        OwnProcess(module, connected=True, folder="softdock-test-", keeps_stderr=True)
    assert not list(tmp_path.glob("softdock-test-*"))


def test_what_is_tied_ends_with_a_parent_that_is_killed(module):
    script = (
        "from orchestrator.core.own_process import OwnProcess\n"
        f"p = OwnProcess('{module}', 'hang', stdout=-1, tied=True)\n"
        "assert p.first_line(10); print(p.pid, flush=True); p.wait(60)\n"
    )
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | paths) as run:  # noqa: S603
        tied = int(run.stdout.readline())
        run.kill()
    assert gone(tied)
