import os
import signal
import time

import numpy as np
import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
# small_fmu.h
INSTANTIATE, SET_UP, EXIT_INITIALISATION, STEP, TERMINATE, FREE, SAVE = range(1, 8)
SEGMENTATION_FAULT, ABORT, EXIT_0, EXIT_3, KILL = range(5)
ENDS = {
    SEGMENTATION_FAULT: r"was ended by the signal SIGSEGV \(Segmentation fault\)",
    ABORT: r"was ended by the signal SIGABRT \(Aborted\)",
    EXIT_0: "ended with exit code 0",
    EXIT_3: "ended with exit code 3",
    KILL: r"was ended by the signal SIGKILL \(Killed\)",
}


def system(path, options=None, **values):
    """An integrator in a process of its own and one in this; each drives nothing."""
    return (
        System("s")
        .add("bad", fmu(path), u=1.0, **values)
        .add("good", block("integrator"), u=1.0)
        .with_options("bad", isolation="process", **(options or {}))
    )


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("how", ENDS)
def test_a_crash_in_a_step_keeps_what_was_recorded(crash, how, algorithm, wording):
    made = system(crash, phase=STEP, how=how, at=0.5)
    with Execution(made, step="0.125 s", algorithm=algorithm) as run:
        with wording.raises(StepError):
            run.advance("2 s")
        kept = run.recording()
        with wording.raises(StepError):
            run.step()
    assert kept.time_ns.tolist() == [k * 125_000_000 for k in range(5)]
    column = kept.values[:, kept.names.index("bad.y")]
    np.testing.assert_array_equal(column, [0.0, 0.125, 0.25, 0.375, 0.5])


@pytest.mark.parametrize(
    "phase",
    [SET_UP, EXIT_INITIALISATION],
)
def test_a_crash_before_the_first_step(crash, phase, wording):
    with wording.raises(StepError):
        Execution(system(crash, phase=phase), step="1 ms")


def test_a_crash_when_instantiated(small_fmu, wording):
    path = small_fmu("crash_on_demand", f"-DBEFORE_PARAMETERS={INSTANTIATE}")
    with wording.raises(StepError):
        Execution(system(path), step="1 ms")


def test_a_crash_while_saving(crash, wording):
    with Execution(system(crash, phase=SAVE), step="1 ms") as run:
        run.step()
        with wording.raises(StepError):
            run.save()
        with wording.raises(StepError):
            run.step()
        assert len(run.recording().time_ns) == 2


@pytest.mark.parametrize("phase", [TERMINATE, FREE])
def test_a_crash_at_the_end_is_only_told(crash, phase, caplog):
    with Execution(system(crash, phase=phase, how=ABORT), step="1 ms") as run:
        run.advance("0.1 s")
        result = run.recording()
    assert len(result.time_ns) == 101
    messages = [r.message for r in caplog.records if r.levelname == "ERROR"]
    told = (
        "component 'bad' failed while terminating: its process was ended by the signal SIGABRT"
        " (Aborted); the results are whole"
    )
    assert messages == ([told] if phase == TERMINATE else [])


@pytest.mark.slow
@pytest.mark.parametrize("phase", [SET_UP, EXIT_INITIALISATION])
def test_a_hang_before_the_first_step(hang, phase, wording):
    began = time.monotonic()
    with wording.raises(StepError):
        Execution(system(hang, {"step_timeout": "1000 ms"}, phase=phase), step="1 ms")
    assert time.monotonic() - began < 60.0  # 1 s, and the start on a busy machine


@pytest.mark.slow
def test_a_hang_in_a_step_ends_in_time(hang, wording):
    made = system(hang, {"step_timeout": 3.0}, phase=STEP, at=0.005)
    with Execution(made, step="1 ms") as run:
        began = time.monotonic()
        with wording.raises(StepError):
            run.advance("1 s")
        taken = time.monotonic() - began
        assert len(run.recording().time_ns) == 6
    assert 3.0 <= taken < 60.0  # the time-out, and what a busy machine adds


@pytest.mark.slow
def test_a_hang_at_the_end_is_bounded(hang, caplog):
    with Execution(system(hang, {"step_timeout": 3.0}, phase=TERMINATE), step="1 ms") as run:
        run.step()
        began = time.monotonic()
    assert time.monotonic() - began < 60.0  # 3 s, on a busy machine
    assert "failed while terminating: no answer within 3 s" in caplog.text


def test_killed_from_outside_between_steps(crash, wording):
    with Execution(system(crash, {"step_timeout": "600 s"}), step="1 ms") as run:
        run.step(3)
        unit = next(unit for unit in run.units if unit.name == "bad")
        os.kill(unit.pid, signal.SIGKILL)
        began = time.monotonic()
        with wording.raises(StepError):
            run.step()
        assert time.monotonic() - began < 60.0  # not the time-out
        assert len(run.recording().time_ns) == 4


@pytest.mark.slow
def test_a_stopped_process_counts_as_hung(crash, wording):
    with Execution(system(crash, {"step_timeout": 3.0}), step="1 ms") as run:
        run.step()
        unit = next(unit for unit in run.units if unit.name == "bad")
        os.kill(unit.pid, signal.SIGSTOP)
        with wording.raises(StepError):
            run.step()


def test_an_exception_of_a_block_comes_with_its_traceback(wording):
    made = System("s").add("bad", block("faulty"), u=1.0, how=1, at=0.002)
    made = made.with_options("bad", isolation="process")
    with Execution(made, step="1 ms") as run:
        with wording.raises(StepError) as e:
            run.advance("1 s")
        assert 'raise ValueError("out of propellant")' in str(e.value.__cause__)
        assert len(run.recording().time_ns) == 3


def test_an_exception_while_initialising(wording):
    made = System("s").add("bad", block("faulty"), u=1.0, how=8)
    made = made.with_options("bad", isolation="process")
    with wording.raises(StepError):
        Execution(made, step="1 ms")


def test_an_output_that_is_not_finite_has_its_name(wording):
    made = System("s").add("bad", block("faulty"), u=1.0, how=2, at=0.002)
    made = made.with_options("bad", isolation="process")
    with (
        Execution(made, step="1 ms") as run,
        wording.raises(StepError),
    ):
        run.advance("1 s")
