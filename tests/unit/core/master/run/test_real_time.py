"""Runs in real time, on a clock on which only what is scripted takes time."""

import gc
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scripted_clock import ScriptedClock

from orchestrator.core.diagnostics import (
    CapabilityError,
    DeadlineError,
    DescriptionError,
    StepError,
    UnknownNameError,
)
from orchestrator.core.master import Execution
from orchestrator.core.master.run.pacing import Grants, privileges
from orchestrator.core.realtime import RealTime
from orchestrator.core.simunits import block
from orchestrator.core.system import System
from orchestrator.engine import PythonClock

from .conftest import CLOCKS, COSTS, PLAIN

MS = 1_000_000


def plain_values(steps):
    COSTS.update(a=iter(()), b=iter(()))
    CLOCKS[:] = [ScriptedClock()]
    system = (
        System("pair")
        .add("a", block("slow_a"))
        .add("b", block("slow_b"))
        .connect("a.y", "b.u")
        .connect("b.y", "a.u", delay="3 ms")
    )
    with Execution(system, step="1 ms", algorithm="jacobi") as execution:
        execution.step(steps)
        return execution.recording()


@pytest.mark.parametrize("policy", ["catch_up", "slip"])
def test_values_are_those_of_a_run_that_is_not_paced(run, policy):
    execution = run([300, 2500, 10], [1, 2, 3], policy=policy, factor=3.0)
    execution.step(40)
    found, expected = execution.recording(), plain_values(40)
    np.testing.assert_array_equal(found.time_ns, expected.time_ns)
    assert found.values.tobytes() == expected.values.tobytes()


def test_what_is_counted_without_overruns(run):
    execution = run([200, 300], [50, 60], clock=ScriptedClock([7000]))
    execution.step(3)
    timing = execution.timing
    assert [d.count for _, d in timing.rows] == [3, 3, 3, 0, 3, 3]
    assert (timing.wake.minimum_ns, timing.wake.maximum_ns) == (0, 7000)
    assert timing.computing.total_ns == 610_000
    assert (timing.units["a"].total_ns, timing.units["b"].total_ns) == (500_000, 110_000)
    assert (timing.slack.minimum_ns, timing.slack.maximum_ns) == (MS - 367_000, MS)
    assert (timing.overruns, timing.listed, timing.longest_row) == (0, (), 0)
    assert "in real time: 0 overruns in 3 steps" in execution.notes


def test_catching_up(run):
    """2.5 ms in the second step: it, and the next, which begins late, miss their deadlines."""
    execution = run([0, 2500, 0, 700], [0, 100])
    execution.step(6)
    timing = execution.timing
    late = [(o.step, o.time_ns, o.late_ns, o.woken_ns, o.unit, o.unit_ns) for o in timing.listed]
    assert late == [
        (2, 1 * MS, 1_600_000, 0, "a", 2_500_000),
        (3, 2 * MS, 600_000, 1_600_000, "a", 0),
        (4, 3 * MS, 300_000, 600_000, "a", 700_000),
    ]
    assert all(o.late and not o.over_budget and not o.unit_over_budget for o in timing.listed)
    assert (timing.overruns, timing.longest_row, timing.slipped_ns) == (3, 3, 0)
    assert (timing.lateness.count, timing.lateness.total_ns) == (3, 2_500_000)
    assert (timing.slack.count, timing.wake.maximum_ns) == (3, 1_600_000)
    assert CLOCKS[0].now - CLOCKS[0].begin == 5 * MS  # the sixth step begins at its moment again
    assert str(timing.listed[0]) == (
        "step 2 at 0.001 s ended 1600 us after its deadline (began 0 us late, computed 2600 us,"
        " of it 'a' 2500 us)"
    )


def test_slipping(run):
    execution = run([0, 2500], [0, 100], policy="slip")
    execution.step(6)
    timing = execution.timing
    assert [(o.step, o.late_ns) for o in timing.listed] == [(2, 1_600_000)]
    assert timing.slipped_ns == 1_600_000
    assert "deadlines slipped by 0.0016 s" in execution.notes


def test_so_many_in_a_row_end_the_run(run):
    execution = run([0, 1500, 0, 0, 2100, 0], policy="stop", overruns=2)
    with pytest.raises(DeadlineError, match=r"2 overruns in a row ended .* 0\.006 s.*step 6 at 0"):
        execution.step(10)
    assert execution.timing.overruns == 3
    assert execution.recording().time_ns.tolist() == [k * MS for k in range(7)]
    execution.step(2)  # what was done is whole, so it may go on
    assert execution.time_ns == 8 * MS


def test_budgets(run):
    execution = run(
        [100, 300, 100, 100], [100, 100, 250, 450], budget="500 us", budgets={"b": "200 us"}
    )
    execution.step(5)
    listed = execution.timing.listed
    found = [(o.step, o.late, o.over_budget, o.unit_over_budget, o.unit) for o in listed]
    assert found == [(3, False, False, True, "b"), (4, False, True, True, "b")]
    assert "took more than the budget of 'b'" in str(listed[0])


def test_only_the_latest_overruns_are_kept(run):
    execution = run([1100] * 1200)
    execution.step(1200)
    timing = execution.timing
    assert (timing.overruns, len(timing.listed)) == (1200, 1000)
    assert [timing.listed[0].step, timing.listed[-1].step] == [201, 1200]


def test_a_component_that_takes_several_steps_at_once(run):
    execution = run([10] * 10, [30] * 10, rates={"b": 5})
    execution.step(10)
    timing = execution.timing
    assert (timing.units["a"].count, timing.units["b"].count) == (10, 2)
    assert timing.units["b"].total_ns == 60_000


def test_the_factor(run):
    execution = run(factor=0.25)
    execution.step(11)
    assert CLOCKS[0].now - CLOCKS[0].begin == 40 * MS


def test_a_run_that_waits_before_its_first_step_is_not_late(run):
    clock = ScriptedClock()
    execution = run(clock=clock)

    def wait():
        assert execution.time == 0.0
        clock.spend(60_000 * MS)

    execution.advance(0.01, begin=wait)
    assert (execution.time, execution.timing.overruns, execution.timing.slipped_ns) == (0.01, 0, 0)
    assert execution.timing.lateness.maximum_ns == 0
    assert clock.now == clock.begin + 9 * MS


def test_each_advance_begins_now(run):
    execution = run([100])
    execution.step(2)
    CLOCKS[0].spend(500 * MS)  # whoever called it took long
    execution.advance("5 ms")
    assert execution.timing.overruns == 0


def test_a_silent_clock(run):
    execution = run(clock=ScriptedClock(silent_at=4))
    with pytest.raises(DeadlineError, match=r"fell silent at 0\.004 s"):
        execution.step(10)
    assert len(execution.recording().time_ns) == 5


def test_a_clock_that_fails_ends_the_run_with_its_error(run):
    clock = ScriptedClock()
    clock.wait_until = lambda _offset: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run(clock=clock).step(2)


def test_a_unit_that_fails(run, wording):
    class Broken:
        def __next__(self):
            raise ValueError("no more")

    execution = run()
    COSTS["b"] = Broken()
    with wording.raises(StepError):
        execution.step(3)
    assert execution.timing.computing.count == 0


def test_ctrl_c(sample_blocks):
    """It ends the wait for a step; what was done stays, and the run may go on."""
    system = System("x").add("x", block("integrator"), u=1.0)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    slow = RealTime(**PLAIN, factor=1e-6)  # a step in 1000 s
    with Execution(system, step="1 ms", realtime=slow) as execution:
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            execution.step(10)
        assert time.monotonic() - began < 100.0
        timer.join()
        assert execution.recording().time_ns.tolist() == [0, MS]
        execution.step()
        assert execution.time_ns == 2 * MS


def test_a_signal_that_raises_nothing_does_not_end_the_run(run):
    before = signal.signal(signal.SIGTERM, lambda *_: None)

    def costs():
        yield 0
        os.kill(os.getpid(), signal.SIGTERM)
        yield 0

    execution = run()
    COSTS["a"] = costs()
    try:
        execution.step(5)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert execution.timing.computing.count == 5


def test_steps_of_varying_length_wait_for_their_own_times_but_for_no_device(sample_blocks, wording):
    system = System("x").add("x", block("integrator"), u=1.0)
    chosen = {"step": "1 ms", "algorithm": "step-doubling", "realtime": RealTime(**PLAIN)}
    with Execution(system, **chosen) as execution:
        execution.advance("5 ms")
        assert execution.timing.computing.count == execution.timing.wake.count > 0
    with wording.raises(CapabilityError):
        Execution(system, **chosen, step_clock=PythonClock(ScriptedClock()))


def test_privileges_are_given_back(run, monkeypatch):
    seen = {}
    execution = run(priority=0, collect_garbage=False, cpus=sorted(os.sched_getaffinity(0))[:1])
    before = os.sched_getaffinity(0), gc.isenabled()

    def costs():
        seen["cpus"], seen["gc"] = os.sched_getaffinity(0), gc.isenabled()
        yield 0

    COSTS["a"] = costs()
    execution.step(2)
    assert seen == {"cpus": {min(before[0])}, "gc": False}
    assert (os.sched_getaffinity(0), gc.isenabled()) == before
    assert execution.timing.granted == ("cpus", "no garbage")


def test_what_is_not_granted_is_said_once(run, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setattr("orchestrator.core.master.run.pacing.lock_memory", lambda: 12)
    execution = run(priority=50, lock_memory=True)
    execution.step()
    execution.step()
    refused = execution.timing.refused
    assert len(refused) == 2
    assert "SCHED_FIFO, priority 50 (Operation not permitted)" in refused[0]
    assert "memory that is not paged out (Cannot allocate memory)" in refused[1]
    assert execution.timing.granted == ("no garbage",)
    assert [note for note in execution.notes if note.startswith("not granted")] == [*refused]


def test_wrong_names_and_processors(run):
    with pytest.raises(UnknownNameError, match=r"budgets: no component 'c'.*a and b"):
        run(budgets={"c": "1 ms"})
    with pytest.raises(DescriptionError, match=r"cpus: expected processors .* found \[4711\]"):
        run(cpus=[4711])
    with pytest.raises(DescriptionError, match="threads: expected at most one for each of the 1"):
        Execution(
            System("x").add("a", block("slow_a"), u=0.0),
            step="1 ms",
            threads=2,
            realtime=RealTime(cpus=[min(os.sched_getaffinity(0))]),
        )


@pytest.mark.parametrize(("had", "expected"), [(0, 81), (79, 81), (84, 84)])
def test_processes_of_devices_come_before_a_run_that_may_hang(monkeypatch, had, expected):
    """All threads of such a process; the one that its supervisor gave it is not lowered."""
    own, given = os.getpid(), {}
    threads = {int(task.name) for task in Path(f"/proc/{own}/task").iterdir()}
    policy = os.SCHED_FIFO if had else os.SCHED_OTHER

    def take(thread, _policy, param):
        given[thread] = param.sched_priority

    monkeypatch.setattr(os, "sched_getscheduler", lambda _: policy)
    monkeypatch.setattr(os, "sched_getparam", lambda _: os.sched_param(had))
    monkeypatch.setattr(os, "sched_setscheduler", take)
    grants = Grants()
    quiet = RealTime(priority=80, lock_memory=False, collect_garbage=True)
    with privileges(quiet, grants, [own]):
        found = {thread: given.get(thread, had) for thread in threads}
        assert given.pop(0) == 80  # the run itself
    assert found == dict.fromkeys(threads, expected)
