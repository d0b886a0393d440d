"""Components that take several communication steps at once, against the sums that this means."""

import numpy as np
import pytest
from benchmark_problems import oscillator
from benchmark_problems.exact import Exact
from benchmark_problems.problem import error, run, slope

from orchestrator.core.master import Execution
from orchestrator.core.simunits import Input, Output, Parameter, block
from orchestrator.core.system import System

MS = 1_000_000
H, STEPS = 10 * MS, 100
DECAY = -3.0  # 1/s


class Decay(Exact):
    """x' = a x: nothing comes in, so its outputs are exact at whatever steps."""

    y: float = Output(depends_on=())
    a: float = Parameter(unit="1/s", start=DECAY)

    def begin(self):
        self.y = 1.0

    def move(self, h):
        self.y *= float(np.exp(self.a * h))


class Integral(Exact):
    """x' = u."""

    u: float = Input()
    y: float = Output(depends_on=())

    def begin(self):
        self.y = 0.0

    def move(self, h):
        self.y += h * self.u


def pair(target_first=False):
    parts = [("source", block(Decay)), ("target", block(Integral))]
    system = System("pair")
    for name, component in reversed(parts) if target_first else parts:
        system = system.add(name, component)
    return system.connect("source.y", "target.u")


def recorded(algorithm, rates):
    with Execution(pair(), step=f"{H} ns", algorithm=algorithm, rates=rates) as execution:
        execution.step(STEPS)
        recording = execution.recording()
    assert list(recording.time_ns) == [i * H for i in range(STEPS + 1)]
    return {name: recording.values[:, i] for i, name in enumerate(recording.names)}


def sampled(algorithm, source, target):
    """The two columns from the definition: who has reached what when somebody looks."""
    reached, whole, rows = 0, 0.0, [(1.0, 0.0)]
    h = H / 1e9
    latched = 0.0
    for step in range(STEPS):
        first = step % target == 0
        last = step % target == target - 1
        if algorithm == "jacobi" and first:
            latched = np.exp(DECAY * reached * h)
        if step % source == source - 1:
            reached = step + 1
        if algorithm == "gauss-seidel" and last:
            latched = np.exp(DECAY * reached * h)
        if last:
            whole += target * h * latched
        rows.append((np.exp(DECAY * reached * h), whole))
    return np.array(rows).T


@pytest.mark.parametrize("ratio", [2, 5, 10])
@pytest.mark.parametrize("slow", ["source", "target"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_sampled_system(algorithm, slow, ratio):
    found = recorded(algorithm, {slow: ratio})
    ticks = {"source": 1, "target": 1, slow: ratio}
    source, target = sampled(algorithm, ticks["source"], ticks["target"])
    np.testing.assert_allclose(found["source.y"], source, rtol=1e-13)  # 100 products of exp
    np.testing.assert_allclose(found["target.y"], target, rtol=1e-13)


@pytest.mark.parametrize("ratio", [2, 5, 10])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_values_belong_to_the_time_at_which_they_are_recorded(algorithm, ratio):
    """A slow output is that of its own last step, and stands until the next."""
    found = recorded(algorithm, {"source": ratio})["source.y"]
    own = np.arange(STEPS + 1) // ratio * ratio
    np.testing.assert_allclose(found, np.exp(DECAY * own * H / 1e9), rtol=1e-13)


@pytest.mark.parametrize("ratio", [2, 5, 10])
@pytest.mark.parametrize("slow", ["one", "two"])
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_rates_keep_the_first_order(algorithm, slow, ratio):
    steps = [2 * MS, MS, MS // 2, MS // 4]
    problem = oscillator.BY_MOTION
    errors = [error_at_own_times(problem, algorithm, step, slow, ratio) for step in steps]
    # The one before steps over two steps of the other, with the value that this has in the middle,
    # and is itself seen at both ends: staggered steps, of second order.
    staggered = (algorithm, slow, ratio) == ("gauss-seidel", "one", 2)
    # The slow one's step is up to 20 ms: the next term is a tenth of the first.
    assert slope(steps, errors) == pytest.approx(2 if staggered else 1, abs=0.15)


def error_at_own_times(problem, algorithm, step, slow, ratio):
    found = run(problem, algorithm, step, rates={slow: ratio})
    own = slice(None, None, ratio)  # elsewhere the slow one's recorded value is its last
    known = problem.solution(found.times[own])
    return (np.abs(found.rows[own] - known).max(axis=0) / np.abs(known).max(axis=0)).max()


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_rates_of_one_change_nothing(algorithm):
    plain = run(oscillator.BY_FORCE, algorithm, 10 * MS)
    rated = run(oscillator.BY_FORCE, algorithm, 10 * MS, rates={"one": 1, "two": 1})
    np.testing.assert_array_equal(plain.rows, rated.rows)
    assert error(oscillator.BY_FORCE, plain) > 0
