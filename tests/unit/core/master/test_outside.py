"""Reading and setting of connectors between steps."""

import numpy as np
import pytest

from orchestrator import simulate, start
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    StepError,
    UnknownNameError,
)
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import DefaultExperiment, System

pytestmark = pytest.mark.usefixtures("sample_blocks")
ALGORITHMS = ["gauss-seidel", "jacobi"]


def loop(probe):
    """A plant in C whose force, and a gain in Python whose input, come from outside."""
    return (
        System("loop", experiment=DefaultExperiment(step_ns=250_000_000, stop_ns=10**9))
        .add("plant", fmu(probe), u=2.0, n=3, flag=True)
        .add("gain", block("gain"), k=4.0, u=1.0)
        .add("sum", block("sum"), u2=0.0)
        .add("array", block("matrix"), u=(1.0, 2.0))
        .connect("plant.y", "sum.u1")
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_controller_outside(probe, algorithm):
    """y' = u, u = 2 - 4 y by hand: the law in this script does what a block would do."""
    expected, y = [], 0.0
    with start(loop(probe), algorithm=algorithm) as execution:
        for _ in range(8):
            execution.set("plant.u", 2.0 - 4.0 * execution.get("plant.y"))
            execution.step()
            y += 0.25 * (2.0 - 4.0 * y)
            expected.append(y)
            assert execution.get("plant.y") == y
        assert execution.time == 2.0
    values = execution.recording()
    np.testing.assert_array_equal(values.values[1:, values.names.index("plant.y")], expected)


def test_values_of_all_kinds(probe):
    with start(loop(probe), record=[]) as execution:
        for name, value in {
            "plant.u": 5,
            "plant.n": np.int64(7),
            "plant.flag": np.bool_(False),
            "gain.u": np.float64(2.5),
            "array.u": [3.0, 4],
        }.items():
            execution.set(name, value)
        execution.step()
        found = {
            name: execution.get(name)
            for name in ("plant.y", "plant.m", "plant.not_flag", "plant.n", "plant.gain", "gain.y")
        }
        array = execution.get("array.u"), execution.get("array.y")
        assert execution.get("plant.label_out") == ""
    # Nothing but plant.y is connected or recorded: the rest was asked of the units.
    assert found == {
        "plant.y": 1.25,
        "plant.m": 8.0,
        "plant.not_flag": 1.0,
        "plant.n": 7.0,
        "plant.gain": 2.0,
        "gain.y": 10.0,
    }
    assert [a.tolist() for a in array] == [[3.0, 4.0], [11.0, 25.0]]


def test_an_array_that_was_read_is_a_copy(probe):
    execution = start(loop(probe), record=[])
    execution.get("array.u")[:] = 99.0
    execution.set("array.u", np.array([1, 0]))
    execution.step()
    assert execution.get("array.y").tolist() == [1.0, 3.0]


@pytest.mark.parametrize("access", ["get", "set"])
def test_unknown_names_list_what_there_is(probe, access, wording):
    execution = start(loop(probe))
    call = execution.get if access == "get" else lambda name: execution.set(name, 1.0)
    with wording.raises(UnknownNameError):
        call("plnt.u")
    with wording.raises(UnknownNameError):
        call("gain.v")
    with wording.raises(DescriptionError):
        call("gain")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plant.u", "fast"),
        ("plant.u", True),
        ("plant.u", 10**400),
        ("plant.u", np.nan),
        ("plant.u", [1.0]),
        ("plant.n", 1.5),
        ("plant.flag", 1),
        ("array.u", 1.0),
        ("array.u", [1.0, 2.0, 3.0]),
        ("array.u", [[1.0], [2.0]]),
        ("array.u", [[1.0], [2.0, 3.0]]),
        ("array.u", (1.0, np.inf)),
        ("array.u", [True, False]),
    ],
)
def test_wrong_values(probe, name, value, wording):
    execution = start(loop(probe))
    before = execution.get(name)
    with wording.raises(DescriptionError):
        execution.set(name, value)
    np.testing.assert_array_equal(execution.get(name), before)


def test_an_integer_that_fmi2_cannot_hold(probe, wording):
    with wording.raises(DescriptionError):
        start(loop(probe)).set("plant.n", 2**31)


@pytest.mark.parametrize(
    "name",
    [
        "plant.y",
        "gain.k",
        "sum.u1",
    ],
)
def test_what_cannot_be_set(probe, name, wording):
    with wording.raises(CapabilityError):
        start(loop(probe)).set(name, 1.0)


def test_after_close(probe, wording):
    execution = start(loop(probe))
    checkpoint = execution.save()
    execution.advance("0.5 s")
    execution.close()
    for call in (
        execution.step,
        execution.save,
        lambda: execution.advance("1 s"),
        lambda: execution.set("plant.u", 1.0),
        lambda: execution.get("plant.gain"),
        lambda: execution.restore(checkpoint),
    ):
        with wording.raises(StepError):
            call()
    assert execution.get("plant.y") == 1.0  # results are kept


def test_start_takes_what_the_system_says(probe, wording):
    stopping = loop(probe)
    execution = start(stopping)
    assert (execution.schedule.step_ns, execution.schedule.algorithm) == (
        250_000_000,
        "gauss-seidel",
    )
    execution.advance("5 s")  # the stop time of the default experiment is not announced
    assert start(stopping, step="1 ms", start="-1 s", algorithm="jacobi").time == -1.0
    with wording.raises(DescriptionError):
        start(System("bare").add("gain", block("gain"), u=1.0))


@pytest.mark.parametrize("count", [0, -1, 1.0, True, "2"])
def test_wrong_numbers_of_steps(probe, count, wording):
    with wording.raises(DescriptionError):
        start(loop(probe)).step(count)


def test_several_steps(probe):
    execution = start(loop(probe))
    execution.step(3)
    assert (execution.time_ns, len(execution.recording().time_ns)) == (750_000_000, 4)


def test_no_way_back_but_a_checkpoint(probe, wording):
    execution = start(loop(probe))
    execution.advance("1 s")
    with wording.raises(CapabilityError):
        execution.advance("0.5 s")
    assert execution.time == 1.0


def test_all_ways_to_run_a_system_take_what_it_says(probe):
    system = loop(probe).with_experiment(
        algorithm="jacobi", start="0.5 s", stop="2 s", rates={"sum": 2}, early_return=False
    )
    runs = [Execution(system), start(system)]
    for run in runs:
        run.advance("2 s")
    results = [run.recording() for run in runs]
    for result in (*results, simulate(system)):
        np.testing.assert_array_equal(result.values, results[0].values)
        np.testing.assert_array_equal(result.time_ns, 250_000_000 * np.arange(2, 9))
    assert {run.schedule.algorithm for run in runs} == {"jacobi"}
    execution = Execution(
        system, step="0.5 s", start=0.0, algorithm="gauss-seidel", rates={}, early_return=True
    )
    assert (execution.schedule.step_ns, execution.start_ns) == (500_000_000, 0)
    assert execution.schedule.algorithm == "gauss-seidel"
