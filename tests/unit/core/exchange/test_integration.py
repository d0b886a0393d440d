"""States of Model Exchange units between events: closed forms, SciPy, steps, inputs."""

import math
import re

import numpy as np
import pytest
from scipy.integrate import RK45, solve_ivp

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits.fmi import model_exchange_unit

SOLVERS = ("dopri5", "cvode")
MS = 1_000_000


def _outputs(unit):
    values = np.empty(2)
    unit.get(values)
    return values


def _run(unit, step_ns, stop_ns, start_ns=0):
    """Step to the stop time; returns the outputs y after each step."""
    found = []
    for time_ns in range(start_ns, stop_ns, step_ns):
        result = unit.do_step(time_ns, step_ns)
        assert not result.failed, result.reason
        found.append(_outputs(unit)[0])
    return np.array(found)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("step_ms", [1, 7, 100])
def test_a_decay_follows_the_exponential_for_every_communication_step(open_unit, solver, step_ms):
    unit = open_unit("decay", values={"p": 3.0}, solver=solver, tolerance=1e-9)
    count = 700 // step_ms
    found = _run(unit, step_ms * MS, count * step_ms * MS)
    times = step_ms * 1e-3 * np.arange(1, count + 1)
    # BDF adds up about a hundred local errors of the tolerance; dopri5 stays far below it.
    assert found == pytest.approx(np.exp(-3.0 * times), abs=2e-7 if solver == "cvode" else 5e-9)


def _reference(mu, times):
    def slopes(t, x):
        return [x[1], mu * (1 - x[0] ** 2) * x[1] - x[0]]

    def jacobian(t, x):
        return [[0.0, 1.0], [-2 * mu * x[0] * x[1] - 1.0, mu * (1 - x[0] ** 2)]]

    solved = solve_ivp(
        slopes, (0, times[-1]), [2.0, 0.0], "Radau", times, rtol=1e-11, atol=1e-13, jac=jacobian
    )
    return solved.y[0]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "bound"), [("dopri5", 2e-7), ("cvode", 2e-5)])
def test_van_der_pol_agrees_with_scipy(open_unit, solver, bound):
    # The phase error of a limit cycle grows with time; the bounds are about 3 times what is seen.
    unit = open_unit("oscillator", values={"p": 1.0}, solver=solver, tolerance=1e-9)
    found = _run(unit, 100 * MS, 10_000 * MS)
    assert found == pytest.approx(_reference(1.0, 0.1 * np.arange(1, 101)), abs=bound)


def _by_hairer(slopes, x, stop, tolerance):
    """Integrate as Hairer, Norsett and Wanner do (I, 2nd ed., II.4); also counts the derivatives.

    The size of the first step by two derivatives; then a PI controller, which lets no step after a
    rejected one grow.
    """
    a, b, e = RK45.A, RK45.B, RK45.E
    rms = lambda values: math.sqrt(np.mean(values**2))  # noqa: E731
    scale = lambda *states: tolerance * (0.01 + np.maximum.reduce(np.abs(states)))  # noqa: E731
    k = np.zeros((7, len(x)))
    k[0] = slopes(x)
    size, slope = rms(x / scale(x)), rms(k[0] / scale(x))
    first = 0.01 * size / slope
    bend = rms((slopes(x + first * k[0]) - k[0]) / scale(x)) / first
    h = min(100.0 * first, (0.01 / max(slope, bend)) ** 0.2)
    time, last_error, rejected, calls = 0.0, 1e-4, False, 2
    while time < stop:
        is_last = 1.01 * h >= stop - time
        h = stop - time if is_last else h
        for s in range(1, 6):
            k[s] = slopes(x + h * (a[s, :s] @ k[:s]))
        end = x + h * (b @ k[:6])
        k[6] = slopes(end)
        calls += 6
        error = rms(h * (e @ k) / scale(x, end))
        if error > 1.0:
            h *= max(0.2, 0.9 * error**-0.2)
            rejected = True
            continue
        time, x, k[0] = (stop if is_last else time + h), end, k[6]
        factor = 0.9 * max(error, 1e-10) ** -0.17 * last_error**0.04
        h *= min(max(factor, 0.1), 1.0 if rejected else 5.0)
        last_error, rejected = max(error, 1e-4), False
    return x, calls


def test_dopri5_takes_the_steps_of_its_book(open_unit):
    """Steps of other lengths give other errors, of the tolerance: 1e-6, and 1e-10 at the end."""
    stop, mu, tolerance = 20, 5.0, 1e-6
    unit = open_unit("oscillator", values={"p": mu}, solver="dopri5", tolerance=tolerance)
    assert not unit.do_step(0, stop * 1000 * MS).failed

    def slopes(x):
        return np.array([x[1], mu * (1 - x[0] ** 2) * x[1] - x[0]])

    expected, calls = _by_hairer(slopes, np.array([2.0, 0.0]), float(stop), tolerance)
    assert unit.native.derivative_calls == calls
    assert _outputs(unit)[0] == pytest.approx(expected[0], abs=1e-12)


def test_a_stiff_model_needs_few_derivatives_with_cvode(open_unit):
    calls = {}
    for solver in SOLVERS:
        unit = open_unit("oscillator", values={"p": 1000.0}, solver=solver, tolerance=1e-7)
        found = _run(unit, 500 * MS, 10_000 * MS)
        # On its slow branch the solution forgets errors: they stay at the tolerance.
        assert found == pytest.approx(_reference(1000.0, 0.5 * np.arange(1, 21)), abs=1e-6)
        calls[solver] = unit.native.derivative_calls
    assert calls["cvode"] < 200 < 10_000 < calls["dopri5"]


def test_a_short_communication_step_does_not_shorten_the_next(open_unit):
    """A step of dopri5 takes six derivatives, and one more where a communication step begins."""
    unit, calls, time_ns = open_unit("oscillator", values={"p": 0.0}, tolerance=1e-8), [], 0
    for step_ns in (10_000 * MS, MS // 1000, 10_000 * MS):
        before = unit.native.derivative_calls
        assert not unit.do_step(time_ns, step_ns).failed
        calls.append(unit.native.derivative_calls - before)
        time_ns += step_ns
    long, short, again = calls
    assert short == 7
    assert 100 * 6 < again <= long + 6  # growing from 1 us to 70 ms takes seven steps


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_input_that_jumps_at_a_communication_point_costs_no_accuracy(open_unit, solver):
    unit = open_unit("decay", values={"p": 5.0}, solver=solver, tolerance=1e-10)
    x = 1.0
    for number in range(40):
        u = float((-1) ** number)
        unit.set(np.array([u]))
        assert not unit.do_step(100 * MS * number, 100 * MS).failed
        x = u + (x - u) * math.exp(-0.5)
        assert _outputs(unit)[0] == pytest.approx(x, abs=2e-8 if solver == "cvode" else 1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_input_with_slopes_is_a_straight_line_within_the_step(open_unit, solver):
    unit = open_unit("decay", values={"p": 2.0}, solver=solver, tolerance=1e-10)
    native = unit.native
    assert native.input_order == 3
    for number in range(10):
        unit.set(np.array([3.0 * 0.1 * number]))
        assert native.set_input_derivatives(np.array([3.0]), 1) == 0
        assert not unit.do_step(100 * MS * number, 100 * MS).failed
    # dx/dt = 2 (3 t - x), x(0) = 1
    exact = 3.0 * (1.0 - 0.5) + (1.0 + 1.5) * math.exp(-2.0)
    assert _outputs(unit)[0] == pytest.approx(exact, abs=2e-8 if solver == "cvode" else 1e-9)
    # The input goes on where its slope has led, without an event: the first was that of u = 0.
    assert _outputs(unit)[1] == 2


def test_an_input_that_does_not_change_is_no_event(open_unit):
    unit = open_unit("decay")
    for number in range(5):
        unit.set(np.array([2.0]))
        assert not unit.do_step(number * MS, MS).failed
    assert _outputs(unit)[1] == 2  # the initial one, and that of u = 2


def test_time_is_met_to_the_nanosecond_far_from_zero(open_unit):
    start = 10**9 * 86_400
    unit = open_unit("decay", start, values={"p": 1.0}, tolerance=1e-9)
    found = _run(unit, 333_333_333, start + 3 * 333_333_333, start)
    # Seconds near 1e5 are spaced by 1.5e-11.
    assert found[-1] == pytest.approx(math.exp(-0.999999999), abs=1e-9)


def test_a_step_from_another_time_is_refused(open_unit):
    unit = open_unit("decay")
    result = unit.do_step(5 * MS, MS)
    assert result.failed
    assert "the step begins at t = 0.005 s, but the unit is at t = 0 s" in result.reason


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_derivative_that_is_no_number_ends_in_a_clear_error(open_unit, solver):
    unit = open_unit("root", solver=solver)
    ends = 2 - 2 * math.log(2)
    results = [unit.do_step(number * 100 * MS, 100 * MS) for number in range(7)]
    assert [result.failed for result in results] == [
        number == int(10 * ends) for number in range(7)
    ]
    reason = results[6].reason
    assert re.search(r"derivatives: that of state 'x0' is -?nan at t = 0\.6137", reason), reason


def test_cvode_without_its_libraries_says_what_to_do(open_unit, monkeypatch, tmp_path, wording):
    monkeypatch.setattr(model_exchange_unit, "sundials_folder", lambda: tmp_path)
    with wording.raises(CapabilityError):
        open_unit("decay", solver="cvode")


@pytest.mark.parametrize("solver", SOLVERS)
def test_directional_derivatives_pass_through(open_unit, solver):
    unit = open_unit("decay", solver=solver)
    changes = np.empty(2)
    assert unit.native.has_derivatives
    assert unit.native.derivative(np.array([1.0]), changes) == 0
    assert changes.tolist() == [0.0, 0.0]
