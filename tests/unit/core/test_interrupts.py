"""Ctrl-C, SIGTERM and SIGHUP at any moment: no traceback, nothing lost, nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orchestrator.core.recording import read_parquet
from orchestrator.core.simunits import block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System


@pytest.fixture(autouse=True)
def heard_signals():
    """Let SIGHUP be heard by programs that are started, also where the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def system(tmp_path):
    held = {"velocity_a": 0.0, "velocity_b": 0.0, "position_b": 0.0, "position_a": 1.0}
    spring = System("s").add("spring", block("spring_dashpot"), **held)
    write_ssd(spring, tmp_path / "a.ssd")
    return tmp_path / "a.ssd"


def started(system, *options):
    command = [sys.executable, "-m", "orchestrator", "run", str(system), "--output"]
    command += [str(system.parent / "out"), "--step", "1 ms", "--stop", "100000 s", *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE)  # noqa: S603 - our own program


def said_by(running):
    """Return what a process wrote that was told to end; one that does not end is killed."""
    try:
        return running.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        running.kill()
        raise


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_keeps_what_it_had(system, ending):
    out = system.parent / "out"
    with started(system, "--flush", "50 ms", "--every", "100") as running:
        deadline = time.monotonic() + 60
        while not list(out.glob("a.partial/part-000001.parquet")) and time.monotonic() < deadline:
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(ending)
        said = said_by(running)[1].decode()
    assert running.returncode == 128 + ending
    assert "recorded until then: a.partial.*" in said
    assert "Traceback" not in said
    assert {path.name for path in out.iterdir()} == {"a.partial.parquet"}
    assert len(read_parquet(out / "a.partial.parquet")) > 1
    assert {path.name for path in system.parent.iterdir()} == {"a.ssd", "out"}


@pytest.mark.slow
def test_a_script_in_whose_background_it_runs_can_end_it(system):
    held = "import signal, runpy; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    held += "runpy.run_module('orchestrator', run_name='__main__')"
    command = [sys.executable, "-c", held, "run", str(system), "--step", "1 ms"]
    command += ["--stop", "100000 s", "--flush", "50 ms", "--output", str(system.parent / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:  # noqa: S603
        deadline = time.monotonic() + 60
        while not (system.parent / "out" / "a.partial").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        time.sleep(0.1)
        assert running.poll() is None
        running.send_signal(signal.SIGTERM)
        said_by(running)
    assert running.returncode == 128 + signal.SIGTERM


BEGUN = """
import sys, orchestrator.__main__

class Tell:
    def find_spec(self, name, *_):
        if name == "orchestrator.cli":
            print("it loads", flush=True)

sys.meta_path.insert(0, Tell())
orchestrator.__main__.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.0, 0.05, 0.2, 0.6])
def test_an_interrupt_while_it_starts_is_quiet(system, wait):
    command = [sys.executable, "-c", BEGUN, "run", str(system), "--stop", "100000 s"]
    command += ["--step", "1 ms", "--output", str(system.parent / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603
        running.stdout.readline()
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        said = said_by(running)[1].decode()
    assert running.returncode == 130
    assert "Traceback" not in said


SWALLOWS = """
try:
    print("it loads", flush=True)
    import time
    time.sleep(0.3)
except BaseException:
    pass
print("it was not disturbed", flush=True)
"""
IMPORTS = """
from orchestrator.core.operating_system.interrupts import interruptible
with interruptible():
    import swallows
    print("and what came after was", flush=True)
    import time
    time.sleep(60)
"""


def test_an_import_that_would_swallow_an_interrupt_comes_to_its_end_first(tmp_path):
    (tmp_path / "swallows.py").write_text(SWALLOWS)
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", IMPORTS], stdout=subprocess.PIPE, cwd=tmp_path
    ) as running:
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        said = said_by(running)[0].decode()
    assert said.startswith("it was not disturbed")
    assert running.returncode == 128 + signal.SIGINT


SWALLOWED = """
import ctypes
from orchestrator.core.operating_system.interrupts import interruptible
@ctypes.CFUNCTYPE(None)
def callback():  # what is raised here nobody gets
    print("it is called", flush=True)
    import time
    time.sleep(60)
with interruptible():
    callback()
    print("and went on", flush=True)
    import time
    time.sleep(60)
"""


def test_an_interrupt_that_compiled_code_swallows_comes_again():
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", SWALLOWED], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, said = said_by(running)
    assert running.returncode == 128 + signal.SIGINT
    assert said == b""


COMPILER = """#!/bin/sh
case "$*" in
    *-shared*) sleep 100 & echo $! > "$HERE/part"; mv "$HERE/part" "$HERE/child.pid"; wait;;
    *) exec gcc "$@";;
esac
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_build_that_is_ended_takes_its_compilers_along(tmp_path, ending):
    (tmp_path / "cc").write_text(COMPILER)
    (tmp_path / "cc").chmod(0o755)
    (tmp_path / "M.mo").write_text("model M output Real x; equation x = time; end M;")
    command = [sys.executable, "-m", "orchestrator", "build", "M.mo", "--model", "M"]
    variables = {**os.environ, "CC": str(tmp_path / "cc"), "HERE": str(tmp_path)}
    with subprocess.Popen(  # noqa: S603
        [*command, "--output", "out"], cwd=tmp_path, env=variables, stderr=subprocess.PIPE
    ) as running:
        deadline = time.monotonic() + 60
        while not (tmp_path / "child.pid").exists() and time.monotonic() < deadline:
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(ending)
        said = said_by(running)[1].decode()
    assert running.returncode == 128 + ending, said
    assert "Traceback" not in said
    child = int((tmp_path / "child.pid").read_text())
    deadline = time.monotonic() + 10
    while lives(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not lives(child)
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def lives(process):
    """Tell whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
