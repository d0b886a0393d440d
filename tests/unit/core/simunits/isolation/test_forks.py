"""Units in processes of their own that fork: nobody but the worker answers, nothing outlives it."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from processes import gone, script

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

INSTANTIATE, SET_UP, _, STEP = range(1, 5)  # small_fmu.h
COMES_BACK, COMES_BACK_RAW, HELPER, DAEMON = range(4)  # fork_on_demand.c


@pytest.fixture(scope="session")
def forks(small_fmu):
    return small_fmu("fork_on_demand")


def system(path, process=None, **values):
    """One that forks, alone or with another one in its process."""
    made = System("s").add("a", fmu(path), u=1.0, **values)
    if process:
        made = made.add("b", fmu(path), u=1.0)
    for name in made.components:
        made = made.with_options(name, isolation="process", process=process, step_timeout="20 s")
    return made


def descendants(worker):
    """Processes that run with the environment of a worker, but for itself."""
    try:
        content = Path(f"/proc/{worker}/environ").read_bytes()
    except OSError:
        return set()
    (mark,) = [text for text in content.split(b"\0") if text.startswith(b"TMPDIR=")]
    return marked(mark) - {worker}


def marked(mark):
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in environment:
            found.add(int(folder.name))
    return found


def helpers(worker, how):
    """The helpers that stay: the parent of a daemon leads its session, and ends."""
    found = set()
    for process in descendants(worker):
        try:
            session = os.getsid(process)
        except ProcessLookupError:
            continue
        if how == HELPER or session not in (process, os.getsid(worker)):
            found.add(process)
    return found


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.mark.parametrize("process", [None, "plant"])
@pytest.mark.parametrize(
    ("phase", "how"), [(SET_UP, COMES_BACK), (STEP, COMES_BACK), (STEP, COMES_BACK_RAW)]
)
def test_a_child_that_comes_back_answers_nothing(forks, phase, how, process):
    made = system(forks, process, phase=phase, how=how, at=0.5)
    with Execution(made, step="0.125 s", algorithm="jacobi") as run:
        run.advance("4 s")
        result = run.recording()
        assert until(lambda: not descendants(run.units[0].pid))
    column = result.values[:, result.names.index("a.y")]
    np.testing.assert_array_equal(column, 0.125 * np.arange(33))


def test_a_child_that_comes_back_from_instantiation(small_fmu):
    path = small_fmu("fork_on_demand", f"-DBEFORE_PARAMETERS={INSTANTIATE}")
    with Execution(system(path), step="0.125 s") as run:
        run.advance("1 s")
        assert run.get("a.y") == 1.0
        assert until(lambda: not descendants(run.units[0].pid))


@pytest.mark.parametrize("how", [HELPER, DAEMON])
@pytest.mark.parametrize("ends", ["closed", "crashed"])
def test_a_helper_lives_as_long_as_the_worker(small_fmu, how, ends, wording):
    path = small_fmu("fork_on_demand", f"-DBEFORE_PARAMETERS={INSTANTIATE}", f"-DHOW_BEFORE={how}")
    with Execution(system(path), step="0.125 s") as run:
        run.advance("1 s")
        worker = run.units[0].pid
        assert until(lambda: helpers(worker, how) == descendants(worker) != set())
        (helper,) = helpers(worker, how)
        run.advance("2 s")
        assert descendants(worker) == {helper}
        if ends == "crashed":
            os.kill(worker, signal.SIGKILL)
            with wording.raises(StepError):
                run.advance("3 s")
    assert gone(worker)
    assert gone(helper)


@pytest.mark.slow
@pytest.mark.parametrize("how", [HELPER, DAEMON])
def test_a_killed_parent_takes_the_helpers_of_its_worker_along(small_fmu, how):
    path = small_fmu("fork_on_demand", f"-DBEFORE_PARAMETERS={INSTANTIATE}", f"-DHOW_BEFORE={how}")
    with script(path, "run.step()\nprint('ready', flush=True)\ntime.sleep(60)") as process:
        worker = int(process.stdout.readline())
        assert process.stdout.readline() == "ready\n"
        assert until(lambda: helpers(worker, how) == descendants(worker) != set())
        (helper,) = helpers(worker, how)
        process.kill()
        process.communicate()
    assert gone(worker)
    assert gone(helper)


@pytest.mark.slow
def test_a_fork_of_the_master_cannot_step_its_worker(small_fmu):
    rest = """
run.step()
child = os.fork()
if child == 0:
    try:
        run.step()
    except Exception as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
run.step()
print(run.get("a.y"), flush=True)
run.close()
"""
    with script(small_fmu("crash_on_demand"), rest) as process:
        out, errors = process.communicate(timeout=120)
    assert errors == ""
    assert "this process is a fork of the one that runs" in out.splitlines()[1]
    assert out.splitlines()[2] == "0.002"
