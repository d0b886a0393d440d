"""Events of Model Exchange units: state, time and step events, their iteration, and their end."""

import math
import time

import numpy as np
import pytest

SOLVERS = ("dopri5", "cvode")
MS = 1_000_000


def _outputs(unit):
    values = np.empty(2)
    unit.get(values)
    return values


def _run(unit, step_ms, count):
    for number in range(count):
        result = unit.do_step(number * step_ms * MS, step_ms * MS)
        assert not result.failed, result.reason


def _failure(unit, step_ms, count):
    """Step until the unit fails; returns the step's number and the reason."""
    for number in range(count):
        result = unit.do_step(number * step_ms * MS, step_ms * MS)
        if result.failed:
            return number, result.reason
    raise AssertionError("the unit did not fail")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("step_ms", [1, 100, 1000])
def test_crossings_are_located_in_either_direction_and_counted_once(open_unit, solver, step_ms):
    unit = open_unit("lines", solver=solver, tolerance=1e-8)
    _run(unit, step_ms, 1000 // step_ms)
    # At 0.25 two indicators change at once, which is one event; 0.5, 0.75 and 0.9 are one each.
    assert _outputs(unit)[1] == 4
    # Four locations, each to a few roundings behind the crossing.
    assert unit.value("p") == 1.0
    assert _sum_of_times(unit) == pytest.approx(0.25 + 0.5 + 0.75 + 0.9, abs=1e-13)


def _sum_of_times(unit):
    return unit._instance.native.get_real([1])[0]


@pytest.mark.parametrize("period", [0.1, 0.25, 1 / 3])
@pytest.mark.parametrize("step_ms", [1, 100, 1000])
def test_time_events_are_met_exactly(open_unit, period, step_ms):
    unit = open_unit("clock", values={"p": period})
    _run(unit, step_ms, 1000 // step_ms)
    y, count = _outputs(unit)
    # 10 * 0.1 and 3 * (1/3) are 1 in doubles: the event at the end of the last step has happened.
    assert count == round(1 / period)
    assert y == count * period


def test_a_model_without_states_finds_crossings_of_time_and_of_its_input(open_unit):
    unit = open_unit("wave", values={"p": 1.5})
    _run(unit, 100, 4)
    # sin(3 pi t) > 0 from the start, changes at 1/3.
    y, count = _outputs(unit)
    assert count == 2
    assert y == pytest.approx(1 / 3, abs=1e-15)
    unit.set(np.array([0.0]))
    assert unit.native.set_input_derivatives(np.array([10.0]), 1) == 0
    assert not unit.do_step(400 * MS, 100 * MS).failed
    y, count = _outputs(unit)
    assert count == 3
    assert y == pytest.approx(0.45, abs=1e-15)


def test_a_completed_step_may_ask_for_an_event_and_for_the_end(open_unit):
    unit = open_unit("stepper", values={"p": 1.0})
    _run(unit, 50, 5)
    assert _outputs(unit)[1] == 2
    number, reason = None, ""
    for number in range(5, 20):
        result = unit.do_step(number * 50 * MS, 50 * MS)
        if result.failed:
            reason = result.reason
            break
    assert number == 17
    assert "the model ended the simulation" in reason


def test_a_model_that_ends_the_simulation_says_when(open_unit):
    unit = open_unit("ending")
    result = unit.do_step(0, 1000 * MS)
    assert result.failed
    assert result.last_ns == 312_500_000
    assert "the model ended the simulation at t = 0.3125 s" in result.reason
    again = unit.do_step(0, 1000 * MS)
    assert (again.last_ns, again.reason) == (result.last_ns, result.reason)


def test_an_event_that_does_not_settle_is_an_error(open_unit):
    number, reason = _failure(open_unit("endless"), 100, 10)
    assert number == 4  # the event at 0.5 belongs to the step that ends there
    assert "the event at t = 0.5 s does not end: after 1000 iterations" in reason


@pytest.mark.parametrize("solver", SOLVERS)
def test_chattering_is_an_error_within_bounded_time(open_unit, solver):
    unit = open_unit("relay", solver=solver)
    begin = time.process_time()
    number, reason = _failure(unit, 100, 10)
    assert time.process_time() - begin < 5.0
    assert number == 3
    assert "chattering at t = 0.3" in reason
    assert "event indicator number 0" in reason


def test_a_bounce_too_low_to_be_seen_is_an_error(open_unit):
    """A ball that keeps 1e-12 of its speed is back after 1 ps, and would fall through the floor."""
    unit = open_unit("zeno", values={"p": 1e-12}, solver="dopri5", tolerance=1e-10)
    number, reason = _failure(unit, 100, 20)
    assert number == 4
    assert "events accumulate before t = " in reason
    # The ball falls for sqrt(2 / 9.81) s, and one internal step is looked through after it.
    seconds = float(reason.split("t = ")[1].split(" s")[0])
    assert seconds == pytest.approx(math.sqrt(2 / 9.81), abs=2e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_events_that_accumulate_are_an_error(open_unit, solver):
    # Bounces lower than the tolerance cannot be seen; BDF starts each with a step of first order.
    unit = open_unit("zeno", solver=solver, tolerance=1e-12 if solver == "cvode" else 1e-10)
    first = math.sqrt(2 / 9.81)
    limit = first + 2 * first * (0.5 / (1 - 0.5))
    _number, reason = _failure(unit, 100, 20)
    assert "accumulate before t = " in reason
    assert "event indicator number 0" in reason
    assert float(reason.split("t = ")[1].split(" s")[0]) == pytest.approx(limit, abs=1e-5)
