"""Components that share a process: the same numbers, fewer round trips, and who fails is named."""

import importlib
import os
import platform
import signal
import sys
import time

import numpy as np
import pytest

from orchestrator.author import read_system, write_toml
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu, resolve
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.study import read_experiment, run_experiment

pytestmark = pytest.mark.usefixtures("sample_blocks")
# small_fmu.h
STEP, SAVE = 4, 7
ABORT, KILL = 1, 4
ALGORITHMS = ("gauss-seidel", "jacobi", "fixed-point", "newton", "step-doubling")


def isolated(system, process, **options):
    """Every component in a process of its own, or in one of this name."""
    for name in system.components:
        system = system.with_options(name, isolation="process", process=process, **options)
    return system


def chain(count=4, **options):
    """Integrators in a row, the last of which drives the first one."""
    system = System("chain")
    for i in range(count):
        system = system.add(f"i{i}", block("integrator"))
    for i in range(count):
        system = system.connect(f"i{i - 1}.y" if i else f"i{count - 1}.y", f"i{i}.u", **options)
    return system


def ring(crash):
    """An FMU and a block that drive each other, and one beside them."""
    return (
        System("ring")
        .add("plant", fmu(crash))
        .add("control", block("integrator"))
        .add("beside", block("integrator"), u=0.3)
        .connect("plant.y", "control.u", factor=-1.0, offset=1.0)
        .connect("control.y", "plant.u")
    )


def run(system, algorithm, **options):
    with Execution(system, step="1 ms", algorithm=algorithm, **options) as execution:
        execution.advance("0.2 s")
        return execution.recording()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_bit_for_bit(crash, algorithm):
    here = run(ring(crash), algorithm)
    for process in (None, "all"):
        there = run(isolated(ring(crash), process), algorithm)
        np.testing.assert_array_equal(here.time_ns, there.time_ns)
        assert here.values.tobytes() == there.values.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_with_threads_and_rates(crash, algorithm):
    options = {"threads": 2, "rates": {"control": 2}}
    system = isolated(ring(crash), "one").with_options("beside", process="two")
    here, there = run(ring(crash), algorithm, **options), run(system, algorithm, **options)
    assert here.values.tobytes() == there.values.tobytes()


def round_trips(system, algorithm):
    with Execution(system, step="1 ms", algorithm=algorithm) as execution:
        native = execution.units[0]._process.native
        assert len({unit.pid for unit in execution.units}) == 1
        before = native.round_trips
        execution.step(100)
        return native.round_trips - before


def test_units_of_one_group_take_one_round_trip():
    assert round_trips(isolated(chain(), "all"), "jacobi") == 100


def test_units_with_something_between_take_one_each():
    assert round_trips(isolated(chain(delay="1 ms"), "all"), "gauss-seidel") == 400


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_go_back_and_on(crash, algorithm):
    found = []
    for system in (ring(crash), isolated(ring(crash), "all")):
        with Execution(system, step="1 ms", algorithm=algorithm) as execution:
            execution.advance("0.1 s")
            checkpoint = execution.save()
            execution.advance("0.1 s")
            execution.restore(checkpoint)
            execution.set("beside.u", 0.7)
            execution.advance("0.1 s")
            stored = execution.save().stored()
            found.append(execution.recording().values.tobytes())
        with Execution(system, step="1 ms", algorithm=algorithm) as execution:
            execution.restore(stored)
            execution.advance("0.1 s")
            found.append(execution.recording().values.tobytes())
    assert found[:2] == found[2:]


def three(path, options=None, phase=STEP, **values):
    """Units that drive nothing, the second of which may fail."""
    system = (
        System("s")
        .add("a", block("integrator"), u=1.0)
        .add("bad", fmu(path), u=1.0, phase=phase, **values)
        .add("c", block("integrator"), u=1.0)
    )
    return isolated(system, "plant", **(options or {}))


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_a_crash_names_who_was_stepped_and_who_went_with_it(crash, algorithm, wording):
    system = three(crash, how=ABORT, at=0.5)
    with Execution(system, step="0.125 s", algorithm=algorithm) as execution:
        with wording.raises(StepError):
            execution.advance("2 s")
        assert execution.recording().time_ns.tolist() == [k * 125_000_000 for k in range(5)]


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_all_that_went_down_are_held(crash, algorithm):
    system = three(crash, {"on_failure": "hold"}, how=ABORT, at=0.5)
    with Execution(system, step="0.125 s", algorithm=algorithm) as execution:
        execution.advance("1 s")
        recording, notes = execution.recording(), execution.notes
    at = {name: recording.values[:, recording.names.index(f"{name}.y")] for name in ("a", "bad")}
    np.testing.assert_array_equal(at["bad"], [0.0, 0.125, 0.25, 0.375] + [0.5] * 5)
    # It had done its step when the next one failed.
    np.testing.assert_array_equal(at["a"], [0.0, 0.125, 0.25, 0.375, 0.5] + [0.625] * 4)
    failed = {note.split("'")[1]: note for note in notes}
    assert set(failed) == {"a", "bad", "c"}
    assert "step from t = 0.5 s (its process was ended by the signal SIGABRT" in failed["bad"]
    for name in ("a", "c"):
        assert "component 'bad', with which it shares the process 'plant', failed" in failed[name]


def test_one_that_is_held_leaves_the_others_alone():
    system = (
        System("s")
        .add("a", block("integrator"), u=1.0)
        .add("bad", block("faulty"), u=1.0, how=1, at=0.003)
        .add("c", block("integrator"), u=1.0)
    )
    system = isolated(system, "plant", on_failure="hold")
    with Execution(system, step="1 ms", algorithm="jacobi") as execution:
        execution.step(10)
        (note,) = execution.notes
        told = "'bad' failed in the step from t = 0.003 s (ValueError: out of propellant ("
        assert told in note
        assert "sample_blocks.py, line " in note
        assert execution.get("a.y") == execution.get("c.y") == pytest.approx(0.01)


@pytest.mark.slow
def test_each_unit_has_its_own_time_out(hang, wording):
    system = three(hang, {"step_timeout": "100 s"}, at=0.005).with_options("bad", step_timeout=3.0)
    with Execution(system, step="1 ms", algorithm="jacobi") as execution:
        began = time.monotonic()
        with wording.raises(StepError):
            execution.advance("1 s")
        assert time.monotonic() - began < 90.0  # those of the others are 100 s


TRACES = """
import time
from pathlib import Path
from orchestrator.core.simunits import Block, Input, Output

class Traced(Block):
    y: float = Output(depends_on=())

    def step(self, t, h):
        with Path(__file__).with_suffix(".txt").open("a") as file:
            file.write(f"{t:g}\\n")

class Slow(Block):
    y: float = Output(depends_on=())

    def step(self, t, h):
        time.sleep(1.6)
        self.y += h
"""


@pytest.fixture
def traces(tmp_path, monkeypatch):
    (tmp_path / "traces.py").write_text(TRACES)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("traces")
    yield module
    del sys.modules["traces"]


def test_those_after_a_failed_one_are_not_stepped(traces, tmp_path, wording):
    system = (
        System("s")
        .add("bad", block("faulty"), u=1.0, how=1, at=0.002)
        .add("after", block(traces.Traced))
    )
    with Execution(isolated(system, "plant"), step="1 ms", algorithm="jacobi") as execution:
        with wording.raises(StepError):
            execution.step(5)
        assert (tmp_path / "traces.txt").read_text().split() == [
            "0",
            "0",
            "0.001",
        ]  # the first at the start


@pytest.mark.slow
def test_a_time_out_begins_with_the_step_of_its_unit(traces):
    """Three take 4.8 s together, and each of them less than its 3 s."""
    system = System("s")
    for name in ("a", "b", "c"):
        system = system.add(name, block(traces.Slow))
    system = isolated(system, "plant", step_timeout=3.0)
    with Execution(system, step="1 ms", algorithm="jacobi") as execution:
        execution.step()
        assert execution.get("c.y") == 0.001


@pytest.mark.slow
def test_killed_from_outside_between_steps(crash, wording):
    with Execution(three(crash), step="1 ms", algorithm="jacobi") as execution:
        execution.step(3)
        os.kill(execution.units[0].pid, signal.SIGKILL)
        with wording.raises(StepError):
            execution.step()


@pytest.mark.slow
def test_a_crash_while_saving(crash, wording):
    system = three(crash, phase=SAVE).with_options("c", process=None)
    with Execution(system, step="1 ms") as execution:
        execution.step()
        with wording.raises(StepError):
            execution.save()


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="rude.c sets MXCSR")
@pytest.mark.parametrize("how", range(4))
def test_neighbours_in_the_process_are_as_without_it(small_fmu, how):
    found = []
    for phase in (0, STEP):
        system = (
            System("s")
            .add("tiny", block("integrator"), u=1e-310)
            .add("rude", fmu(small_fmu("rude")), u=0.1, phase=phase, how=how, at=0.05)
            .add("unconnected", block("integrator"), u=0.1)
        )
        system = isolated(system, "plant")
        with Execution(system, step="1 ms", record=["tiny.y", "unconnected.y"]) as execution:
            execution.step(200)
            assert bool(execution.notes) == bool(phase)
            assert not phase or any("'rude" in note for note in execution.notes)
            found.append(execution.recording().values.tobytes())
    assert found[0] == found[1]


def test_restart_is_refused(crash, wording):
    system = three(crash).with_options("a", on_failure="restart")
    with wording.raises(DescriptionError):
        Execution(system, step="1 ms")


def test_a_process_needs_isolation(crash, wording):
    system = three(crash).with_options("a", isolation=None)
    with wording.raises(DescriptionError):
        Execution(system, step="1 ms")


@pytest.mark.slow
def test_files_and_experiments_say_it(crash, tmp_path):
    system = resolve(isolated(System("s").add("a", fmu(crash), u=1.0), "plant"))
    for name, write in (("s.ssd", write_ssd), ("s.toml", write_toml)):
        write(system, tmp_path / name)
        assert (
            read_system(tmp_path / name).components["a"].options == system.components["a"].options
        )
    write_ssd(system.with_options("a", isolation=None, process=None), tmp_path / "s.ssd")
    case = '[case.a]\nsystem = "s.ssd"\nstop = "5 ms"\nstep = "1 ms"\n[case.a.unit.a]\n'
    file = tmp_path / "experiment.toml"
    file.write_text(f'title = "t"\n{case}isolation = "process"\nprocess = "plant"\n')
    outcome = run_experiment(read_experiment(file), tmp_path, tmp_path / "out")
    assert outcome.cases["a"].system.components["a"].options.process == "plant"


@pytest.mark.slow
def test_once_per_process(small_fmu, wording):
    once = fmu(small_fmu("crash_on_demand", once=True))
    system = isolated(System("s").add("a", once).add("b", once), "plant")
    with wording.raises(CapabilityError):
        Execution(system, step="1 ms")
    with Execution(system.with_options("b", process="other"), step="1 ms") as execution:
        execution.step()
