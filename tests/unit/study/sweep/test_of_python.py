"""Sweeps of Python: a table of runs."""

import numpy as np
import pytest

from orchestrator import System, block, fmu, sweep
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError

HOW = {"step": "100 ms", "stop": "1 s", "algorithm": "gauss-seidel"}
END = {"end": {"kind": "final", "signal": "b.y"}}


@pytest.fixture
def system(crash):
    both = System("slope").add("a", fmu(crash), u=1.0).add("b", fmu(crash))
    return both.connect("a.y", "b.u", delay="0 ms")


def twice(result):
    return 2.0 * result["a.y"][-1]


def test_a_grid_is_a_table(system):
    over = {"a.u": np.array([3.0, 1.0]), "a.y -> b.u": ["0 ms", 0.2]}
    table = sweep(system, over, measures={**END, "twice": twice}, **HOW)
    assert list(table.columns) == [
        "a.u", "a.y -> b.u [ms]", "end", "end: time_s", "twice", "status", "reason",
        "wall time [s]",
    ]  # fmt: skip
    np.testing.assert_array_equal(table["a.u"], [3, 3, 1, 1])
    np.testing.assert_array_equal(table["a.y -> b.u [ms]"], [0, 200, 0, 200])
    np.testing.assert_allclose(table["twice"], [6, 6, 2, 2])
    assert table["end"][0] > table["end"][1] > 0.0
    assert set(table["status"]) == {"done"}


def test_without_measures_it_has_the_last_values(system):
    table = sweep(system, {"step": ["50 ms", "100 ms"]}, **HOW | {"step": "1 s"})
    assert list(table.columns)[:3] == ["step [ms]", "a.y", "b.y"]
    assert "a.y: time_s" not in table
    np.testing.assert_allclose(table["a.y"], 1.0)


def test_an_axis_is_what_an_experiment_says(system):
    axis = {"set": ["a.u"], "from": 1.0, "to": 100.0, "count": 3, "spacing": "log"}
    table = sweep(system, {"slope": axis}, measures={"twice": twice}, **HOW)
    np.testing.assert_allclose(table["slope"], [1, 10, 100])
    np.testing.assert_allclose(table["twice"], [2, 20, 200])


def test_a_run_or_a_measure_that_fails_is_a_row(system):
    table = sweep(system, {"a.u": [1.0]}, measures={"m": lambda result: result["x"][0]}, **HOW)
    assert table["status"][0] == "unmeasured"
    assert table["reason"][0].startswith("measure 'm': result 'slope' has no signal 'x'")


def test_what_is_expected_is_a_column_of_truth_values(system):
    said = ["twice < 3", "end > 0", "m > 0"]
    measures = {**END, "twice": twice, "m": lambda result: result["x"][0]}
    table = sweep(system, {"a.u": [1.0, 2.0]}, measures=measures, expect=said, **HOW)
    assert list(table.columns)[-6:] == [*said, "status", "reason", "wall time [s]"]
    assert table["twice < 3"].tolist() == [True, False]
    assert table["end > 0"].all()
    assert not table["m > 0"].any()  # it could not be read off
    last = sweep(system, {"a.u": [1.0, 2.0]}, expect="a.y within 0.1 of 1", **HOW)
    assert last["a.y within 0.1 of 1"].tolist() == [True, False]


@pytest.mark.slow
def test_several_processes_give_the_same(system):
    tables = [
        sweep(system, {"a.u": [1.0, 2.0]}, measures={**END, "m": twice}, jobs=jobs, **HOW)
        for jobs in (1, 2)
    ]
    one, two = (table.drop(columns="wall time [s]") for table in tables)
    assert one.equals(two)


@pytest.mark.parametrize(
    ("over", "more"),
    [
        ({}, {}),
        ({"a.x": [1.0]}, {}),
        ({"a.y -> b.x": [1.0]}, {}),
        ({"a.u": []}, {}),
        ({"a.u": {"form": 1}}, {}),
        ({"a.u": [1.0]}, {"stopp": 1}),
        ({"a.u": [1.0]}, {"measures": {"m": {"kind": "peak", "signal": "a.z"}}}),
        ({"a.u": [1.0]}, {"measures": {"m": lambda _: 1.0}, "jobs": 2}),
        ({"a.u": [1.0]}, {"measures": END, "expect": "ende < 1"}),
        ({"a.u": [1.0]}, {"measures": END, "expect": ["end < 1 N"]}),
        ({"a.u": [1.0]}, {"measures": END, "expect": ["end"]}),
    ],
)
def test_what_is_wrong_is_said_before_a_run(system, over, more, wording):
    with wording.raises((DescriptionError, UnknownNameError)):
        sweep(system, over, **HOW | more)


def test_a_sweep_over_the_step_alone(wording):
    system = System("s").add("a", block("saturation"), wanted=-0.0)
    for over in (
        {"step": ["10 ms", "20 ms"]},
        {"h": {"step": True, "values": ["10 ms", "20 ms"]}},
    ):
        table = sweep(system, over, stop="0.1 s")
        assert list(table["status"]) == ["done", "done"]
    with wording.raises(DescriptionError):
        sweep(system, {"a.wanted": [0.0, 1.0]}, stop="0.1 s")
