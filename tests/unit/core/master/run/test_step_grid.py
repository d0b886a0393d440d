"""Steps of 1/60 s: point k is at k/60 s, to half a nanosecond."""

import numpy as np
import pytest

from orchestrator import Execution, simulate
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits import Block, Input, Output, State, block, fmu
from orchestrator.core.system import System
from orchestrator.export.system import export_system


class Count(Block):
    k: int = State(start=0)
    n: int = Output(depends_on=())
    t: float = Output(depends_on=())

    def initialise(self, t):
        self.t = t

    def step(self, t, h):
        self.k += 1
        self.n, self.t = self.k, t + h


class Sum(Block):
    u: float = Input()
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y += h


def counting(**line):
    return (
        System("counting").add("c", block(Count)).add("s", block(Sum)).connect("c.t", "s.u", **line)
    )


@pytest.mark.parametrize("step", [1 / 60, "1/60 s"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_points_are_where_they_should_be(step, algorithm):
    result = simulate(counting(), step=step, stop="60 s", algorithm=algorithm)
    k = np.arange(3601)
    assert np.abs(result.time_ns - k * 1e9 / 60).max() <= 0.5
    assert result["c.n"].tolist() == k.tolist()
    assert result["c.t"] == pytest.approx(result.time, abs=1e-12)
    assert result["s.y"][-1] == pytest.approx(60.0, abs=1e-10)
    assert not result.notes


def test_delays_and_rates_are_kept():
    options = {"step": 1 / 60, "stop": "2 s", "algorithm": "jacobi", "delay": "plain"}
    result = simulate(counting(delay="100 ms"), rates={"s": 3}, **options)
    assert result["s.y"][::3] == pytest.approx(result.time[::3], abs=1e-10)
    result = simulate(counting(delay="100 ms"), record=("s.u",), **options)
    assert result["s.u"][12:] == pytest.approx(result.time[11:-1] - 0.1, abs=2e-9)


def test_a_run_goes_on_where_it_was(wording):
    with Execution(counting(), step=1 / 60) as execution:
        execution.step(7)
        kept = execution.save()
        ends = []
        for _ in range(2):
            assert execution.time_ns == round(7e9 / 60)
            execution.advance("1 s")
            execution.advance(f"{round(61e9 / 60)} ns")
            ends.append(execution.get("s.y"))
            with wording.raises(CapabilityError):
                execution.advance("1.11 s")
            execution.restore(kept)
        assert ends[0] == ends[1]


def test_fmus_are_stepped_over_it(c_fmu):
    system = System("s").add("rig", fmu(c_fmu("early3")), u=0.0)
    assert simulate(system, step=1 / 60, stop="1 s").time_ns[-1] == 10**9


def test_what_counts_nanoseconds_says_so(c_fmu, tmp_path, wording):
    system = System("s").add("rig", fmu(c_fmu("early3")), u=0.0)
    with wording.raises(DescriptionError):
        export_system(system, tmp_path / "s.fmu", step=1 / 60)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "step-doubling"])
@pytest.mark.parametrize("step", ["1/60 s", "10 ms"])
def test_no_run_goes_beyond_the_stop_time_that_its_units_learned(step, algorithm):
    controlled = {"relative": 1e-3} if algorithm == "step-doubling" else {}
    settings = {"step": step, "algorithm": algorithm, "algorithm_options": controlled}
    with Execution(System("one").add("s", block(Sum), u=0.0), stop="1 s", **settings) as run:
        with pytest.raises(CapabilityError, match=r"to 1\.1 s at t = 0 s: .* 1 s as their"):
            run.advance("1.1 s")
        run.advance("0.5 s")
        if algorithm != "step-doubling":
            with pytest.raises(CapabilityError, match=r"cannot do 61 steps at t = 0\.5 s"):
                run.step(61)
        run.advance("1 s")
        before = run.save()
        for go in (run.step, lambda: run.advance("2 s")):
            with pytest.raises(CapabilityError, match="later stop, or without one"):
                go()
        run.restore(before)
        assert run.time == 1.0


def test_the_last_step_before_a_stop_time_off_the_grid():
    with Execution(System("one").add("s", block(Sum), u=0.0), step="2 ms", stop="5 ms") as run:
        run.step(2)
        with pytest.raises(CapabilityError, match=r"cannot do 1 step at t = 0\.004 s: .* 0\.005 s"):
            run.step()
        run.advance("4 ms")


def test_without_a_stop_time_a_run_goes_on():
    system = System("one").add("s", block(Sum), u=0.0).with_experiment(stop="3 ms")
    with Execution(system, step="2 ms") as run:
        run.step(5)
        assert run.time == 0.01
