import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.study import read_experiment
from orchestrator.study.sweep import executors, local, plans_of, run_plans
from orchestrator.study.sweep.executors import Dispatcher, local_executors
from orchestrator.study.sweep.jobs import JobRecord
from orchestrator.study.sweep.summary import lost_runs

PROGRAM = Path(sys.executable).with_name("softdock")
SLOPES = """
[sweep.c]
cases = ["slope"]
measures = ["way"]
seeds = 4
[sweep.c.over.slope]
set = ["a.u"]
from = 1
to = 12
count = 12
"""
FINE = """
[sweep.c.over.step]
step = true
values = ["50 us"]
"""
# Phase 4 of the FMU is a step, in which it crashes: at the first one, or after half a second.
DEADLY = """
[sweep.c]
cases = ["slope"]
measures = ["end"]
[sweep.c.over.phase]
set = ["b.phase"]
values = [0, 4]
[sweep.c.over.at]
set = ["b.at"]
values = [0.0, 0.5, 1e9]
[sweep.c.over.slope]
set = ["a.u"]
values = [1.0, 2.0, 3.0, 4.0]
"""


@pytest.mark.slow
def test_workers_give_what_one_process_gives(swept):
    alone = swept(SLOPES, output="alone")["c"].files[1]
    together = swept(SLOPES, output="together", workers=2)["c"].files[1]
    one, two = (pd.read_csv(path).drop(columns="wall time [s]") for path in (alone, together))
    pd.testing.assert_frame_equal(one, two, check_exact=True)


@pytest.mark.slow
def test_a_worker_that_dies_is_a_row_and_the_rest_goes_on(swept):
    outcome = swept(DEADLY, workers=2)["c"]
    table = pd.read_csv(outcome.files[1])
    deadly = (table["phase"] == 4) & (table["at"] < 1)
    assert deadly.sum() == 8
    assert set(table["status"][deadly]) == {"died"}
    assert set(table["status"][~deadly]) == {"done"}
    assert table["reason"][deadly].str.contains("process died").all()
    lost = outcome.as_json()["lost"]
    assert {run["status"] for run in lost} == {"died"}
    assert sorted(run["point"]["at"] for run in lost) == sorted(table["at"][deadly])
    ((status, points, _),) = lost_runs(outcome)
    assert (status, points.count(" at phase = 4, ")) == ("died", 8)
    assert list(table["end"][~deadly]) == pytest.approx(list(table["slope"][~deadly]), rel=1e-14)


@pytest.mark.slow
def test_a_run_that_hangs_is_ended(swept, folder, small_fmu):
    """The FMU sleeps for ever in the phase of a step, in the first of two runs."""
    ssd = folder / "slope.ssd"
    hang = small_fmu("hang_on_demand")
    first = ssd.read_text().index('source="') + len('source="')
    crash = ssd.read_text()[first:].partition('"')[0]
    ssd.write_text(ssd.read_text().replace(crash, str(hang)))
    text = DEADLY.replace("[0, 4]", "[4, 0]").replace("[0.0, 0.5, 1e9]", "[0.5]")
    text = text.replace("[1.0, 2.0, 3.0, 4.0]", "[1.0]")
    outcome = swept(text, apart=True, timeout=8.0)["c"]
    table = pd.read_csv(outcome.files[1])
    assert list(table["status"]) == ["died", "done"]
    assert list(table["phase"]) == [4, 0]
    assert table["reason"][0] == "it took longer than 8 s and was ended"


@pytest.mark.slow
def test_an_executor_that_died_between_two_chunks_goes_on(write, folder):
    plan = plans_of(read_experiment(write(SLOPES)), folder)["c"]
    with local_executors(1, always_processes=True) as (executor,):
        executor.submit(plan.context, plan.jobs[:1]).result()
        os.kill(executor._process.pid, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while not executor._pool._broken and time.monotonic() < deadline:
            time.sleep(0.01)
        (record,) = executor.submit(plan.context, plan.jobs[1:2]).result()
    assert record.status == "done"


def test_a_process_that_others_start_meanwhile_is_none_of_a_lane(monkeypatch):
    process = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    held = operating_system.signals_held

    @contextmanager
    def held_with_another():
        with held():
            process.start()
            yield

    monkeypatch.setattr(operating_system, "signals_held", held_with_another)
    try:
        with local_executors(1, always_processes=True) as (executor,):
            assert executor._process.pid != process.pid
            executor.kill()
        assert process.is_alive()
    finally:
        process.kill()
        process.join()


def test_processes_are_refused_where_their_pipes_hang(monkeypatch, wording):
    """Wine that reports Windows 7 to CPython; one worker is this process."""
    monkeypatch.setattr(operating_system, "has_process_pools", lambda: False)
    with local_executors(1) as (executor,):
        assert isinstance(executor, executors.InlineExecutor)
    with wording.raises(CapabilityError), local_executors(2):
        pass


@pytest.mark.slow
def test_a_chunk_that_is_done_while_it_is_being_ended_counts(write, folder, monkeypatch):
    plan = plans_of(read_experiment(write(SLOPES)), folder)["c"]
    records = []
    with local_executors(1, always_processes=True) as executors:
        dispatcher = Dispatcher(executors, plan.context, records.append, timeout=100.0)

        def end_late(_timeout):
            """Find a chunk too long that is done by now."""
            for future, busy in dispatcher._busy.items():
                wait([future])
                busy.too_long = True
                busy.executor.kill()

        monkeypatch.setattr(
            Dispatcher, "_end_long_ones", lambda _dispatcher, timeout: end_late(timeout)
        )
        dispatcher.run(plan.jobs[:3])
    assert [record.status for record in records] == ["done"] * 3


@pytest.mark.slow
def test_the_environment_of_this_process_is_as_before(swept, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    swept(SLOPES, workers=2)
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def children_of(process):
    """Processes whose parent is this one."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == process:
            found.append(int(stat.parent.name))
    return found


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# A terminal sends Ctrl-C, and what ends jobs SIGTERM, to all processes of a group.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "send"),
    [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.killpg), (signal.SIGKILL, os.kill)],
)
def test_what_is_done_is_kept_when_it_is_stopped(write, folder, ending, send):
    # 400 runs of 20 000 steps take half a minute.
    path = write(SLOPES.replace("count = 12", "count = 100") + FINE)
    records = folder / "out" / "c.jsonl"
    command = [str(PROGRAM), "sweep", str(path), "--workers", "2", "--output", str(folder / "out")]
    running = subprocess.Popen(  # noqa: S603 - our own program
        command, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 100
    while not (records.is_file() and records.stat().st_size) and time.monotonic() < deadline:
        assert running.poll() is None, running.stderr.read().decode()
        time.sleep(0.02)
    workers = children_of(running.pid)
    assert len(workers) >= 2
    send(running.pid, ending)
    said = running.communicate(timeout=100)[1].decode()
    if ending != signal.SIGKILL:
        assert running.returncode == 128 + ending
        assert "finished runs are kept" in said
        assert "Traceback" not in said
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)  # those whose parent was killed notice it by themselves
    assert not any(map(alive, workers))
    plan = plans_of(read_experiment(path), folder)["c"]
    assert '"died"' not in records.read_text()
    done = records.read_text().count('"status": "done"')
    assert 0 < done < len(plan.distinct)
    # Fewer points, of which some are done: only the others are run.
    first = SLOPES.replace("from = 1\nto = 12\ncount = 12", "values = [1.0, 2.0]")
    few = write(first + FINE)
    outcome = run_plans(plans_of(read_experiment(few), folder), folder / "out", local(1))["c"]
    assert outcome.stored_count >= 1
    assert outcome.ran + outcome.stored_count == 8


class _Slow:
    """An executor whose runs take half a second, all of it compiling or none."""

    crashes = (RuntimeError,)
    is_ready = True

    def __init__(self, compiles):
        self._compiles = compiles
        self._future, self._timer = None, None
        self.killed = False

    @property
    def compile_seconds(self):
        began = getattr(self, "began", None)
        return time.monotonic() - began if self._compiles and began else 0.0

    def submit(self, context, jobs):
        self.began = time.monotonic()
        self._future = Future()
        done = [JobRecord.of(job, "done") for job in jobs]
        self._timer = threading.Timer(0.7, self._end, [done])
        self._timer.start()
        return self._future

    def _end(self, done):
        if not self.killed:
            self._future.set_result(done)

    def kill(self):
        self.killed = True
        self._timer.cancel()
        self._future.set_exception(RuntimeError("killed"))

    def restart(self):
        self.killed = False


@pytest.mark.slow
@pytest.mark.parametrize(("compiles", "status"), [(True, "done"), (False, "died")])
def test_the_time_of_compiling_is_no_time_of_a_run(write, folder, compiles, status):
    plan = plans_of(read_experiment(write(SLOPES)), folder)["c"]
    records = []
    Dispatcher([_Slow(compiles)], plan.context, records.append, timeout=0.1).run(plan.jobs[:1])
    assert [record.status for record in records] == [status]


def test_a_clock_of_compiling_counts_what_is_over_and_what_goes_on(monkeypatch):
    now = [10.0]
    monkeypatch.setattr(executors.time, "monotonic", lambda: now[0])
    clock = executors.CompileClock([0.0, 0.0])
    clock.note(True)
    now[0] = 12.5
    assert clock.seconds == 2.5
    clock.note(False)
    now[0] = 20.0
    assert clock.seconds == 2.5
    clock.note(True)
    now[0] = 21.0
    assert clock.seconds == 3.5
